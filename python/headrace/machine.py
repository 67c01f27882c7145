"""What launching needs to know of this machine."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
CPUINFO_BYTES = 4096  # the first processor's lines
BATCH_VARIABLES = ("SLURM_JOB_ID", "PBS_NODEFILE", "LSB_JOBID", "PE_HOSTFILE", "COBALT_JOBID")


def available_cores() -> int:
    """Physical cores this process may use: what Open MPI counts as slots outside of a job."""
    cores = set()
    for cpu in os.sched_getaffinity(0):
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        try:
            cores.add(siblings.read_text())
        except OSError:
            cores.add(str(cpu))
    return len(cores)


def processor_name() -> str:
    """The model, as the library has it (src/topo/processor.cc); "" if it is unknown."""
    try:
        with open("/proc/cpuinfo", errors="replace") as stream:
            return processor_in(stream.read(CPUINFO_BYTES))
    except OSError:
        return ""


def processor_in(cpuinfo: str) -> str:
    """Of a text in the format of /proc/cpuinfo."""
    lines = cpuinfo.splitlines()

    def value_of(name: str) -> str:
        line = next((one for one in lines if one.startswith(name) and ":" in one), "")
        return line.partition(":")[2].lstrip(" \t")

    # 64-bit ARM has numbers only.
    arm = f"ARM {value_of('CPU implementer')} {value_of('CPU part')}"
    return value_of("model name") or (arm if value_of("CPU implementer") else "")


def in_batch_job(environ: Mapping[str, str]) -> bool:
    """Whether a batch system has already said how many ranks fit."""
    return any(environ.get(name) for name in BATCH_VARIABLES)


@dataclass(frozen=True)
class Mount:
    """kind: the type of the file system, as the kernel calls it; options: those of the mount;
    point: where it is mounted."""

    kind: str = "unknown"
    options: str = ""
    point: str = ""


def mount_of(directory: str | Path) -> Mount:
    """The mount that holds `directory`, by its name."""
    path = os.path.realpath(directory)
    best, found = "", Mount()
    try:
        mounts = os.fsdecode(Path("/proc/self/mounts").read_bytes()).split("\n")
    except OSError:
        return found
    for line in mounts:
        _, point, kind, options, *_ = [*line.split(" "), "", "", "", ""]
        point = _unescaped(point)
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if point and inside and len(point) >= len(best):
            best, found = point, Mount(kind, options, point)
    return found


def mount_point(directory: str | Path, table: Path = MOUNTS) -> str:
    """Where the file system of a directory is mounted, by its device number, as the library finds
    it: of several such places the first. "" if it is unknown. Errors: OSError."""
    device = os.stat(directory).st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    try:
        lines = os.fsdecode(table.read_bytes()).split("\n")
    except OSError:
        return ""
    words = (line.split(" ") for line in lines)
    return next((_unescaped(one[4]) for one in words if len(one) > 4 and one[2] == wanted), "")


def _unescaped(name: str) -> str:
    """A name of the kernel's tables of mounts."""
    data = os.fsencode(name)
    return os.fsdecode(
        re.sub(rb"\\([0-7]{3})", lambda match: bytes([int(match[1], 8) & 255]), data)
    )
