"""What those who support Headrace ask for when something is wrong, as text that can be sent."""

import hashlib
import os
import platform
import re
import resource
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from headrace import machine

# Variables of MPIs, networks and launchers; nothing that begins otherwise is shown.
SHOWN = ("HEADRACE_", "MPICH_", "MPIR_CVAR_", "ROMIO_", "I_MPI_", "OMPI_MCA_", "PRTE_MCA_")
SHOWN += ("FI_", "UCX_", "SLURM_JOB_NUM", "SLURM_NTASKS", "OMP_NUM", "LD_PRELOAD")
SECRET = re.compile(r"TOKEN|KEY|PASS|SECRET|CRED", re.IGNORECASE)
LIMITS = {
    "descriptors": resource.RLIMIT_NOFILE,
    "locked memory": resource.RLIMIT_MEMLOCK,
    "file size": resource.RLIMIT_FSIZE,
    "stack": resource.RLIMIT_STACK,
    "processes": resource.RLIMIT_NPROC,
}
MIB = 1 << 20


def lines(
    library: Path | None,
    directory: Path,
    environ: Mapping[str, str],
    hide: Callable[[str], str] = str,
) -> Iterator[str]:
    """One line a fact. directory: where the job's files are. hide: what it leaves of a text is what
    is escaped; lines are to be given to it, too. None of it asks the network."""
    yield f"system    {_system_name()}, Linux {platform.release()}, {platform.machine()}"
    yield f"libc      {os.confstr('CS_GNU_LIBC_VERSION') or 'not glibc'}"
    yield f"processor {_processor()}, {machine.available_cores()} cores for this process"
    yield f"memory    {_memory()}"
    if library is not None:
        data = library.read_bytes()
        yield f"library   {len(data)} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}"
    for name in dict.fromkeys((str(directory), "/dev/shm", environ.get("TMPDIR", "/tmp"))):
        yield f"files     {_mount(name)}"
    for what, number in LIMITS.items():
        yield f"limit     {what}: {_limit(resource.getrlimit(number)[0])}"
    for name, value in sorted(environ.items()):
        if name.startswith(SHOWN):
            shown = "(left out)" if SECRET.search(name) else ascii(hide(value))[1:-1]
            yield f"variable  {name}={shown}"


def _system_name() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "unknown system")
    except OSError:
        return "unknown system"


def _first_field(path: str, name: str) -> str:
    """The value of the first line `name : value`, "" if there is none."""
    try:
        text = Path(path).read_text(errors="replace")
    except OSError:
        return ""
    found = re.search(rf"^{re.escape(name)}\s*:\s*(.*)$", text, re.MULTILINE)
    return found[1].strip() if found else ""


def _processor() -> str:
    return machine.processor_name() or platform.machine()


def _memory() -> str:
    total = _first_field("/proc/meminfo", "MemTotal") or "unknown"
    free = _first_field("/proc/meminfo", "MemAvailable") or "unknown"
    return f"{total}, of which available {free}"


def _mount(name: str) -> str:
    """The mount that a directory lies on: its type, options and room."""
    try:
        room, mount = os.statvfs(name), machine.mount_of(name)
    except OSError as error:
        return f"{name}: {error.strerror}"
    free = room.f_bavail * room.f_frsize // MIB
    total = room.f_blocks * room.f_frsize // MIB
    return f"{name}: {mount.kind} ({mount.options}), {free} of {total} MiB are free"


def _limit(value: int) -> str:
    return "none" if value == resource.RLIM_INFINITY else str(value)
