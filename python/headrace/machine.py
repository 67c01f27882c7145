"""What launching needs to know of this machine."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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
    """The model, as the library has it (src/topo/processor.cc), but "" on ARM."""
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return ""
    found = re.search(r"^model name\s*:\s*(.*)$", text, re.MULTILINE)
    return found[1].strip() if found else ""


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
    """The mount that holds `directory`."""
    path = os.path.realpath(directory)
    best, found = "", Mount()
    try:
        mounts = Path("/proc/self/mounts").read_text().splitlines()
    except OSError:
        return found
    for line in mounts:
        _, point, kind, options, *_ = line.split()
        point = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), point)
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, found = point, Mount(kind, options, point)
    return found
