"""Records of jobs that could not write their own: from what their ranks have left on this node."""

from __future__ import annotations

import os
import re
import stat
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path

from headrace.errors import HeadraceError
from headrace.launch.preload import find_library

PROGRAM = "headrace_gather"
MAGIC = b"HRIMAGE1"
# Of src/record/image.h: the process, when it started, and the inode of its PID namespace.
PROCESS = struct.Struct("<24xi4xq112xQ")


def gather(job: Path, records: Path, environ: Mapping[str, str], remove: bool = False) -> Path:
    """Makes the record of a job's images, in the directory `records`, and returns its path."""
    program = find_library(environ).with_name(PROGRAM)
    if not program.exists():
        raise HeadraceError(
            f"'{program}' is missing", "it makes the record", "reinstall headrace", 1
        )
    line = [str(program), str(job), str(records), *(["--remove"] if remove else [])]
    done = subprocess.run(line, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise HeadraceError(
            f"no record was made of '{job}'", "see the line above", "name a job's directory", 1
        )
    return Path(os.fsdecode(done.stdout.removesuffix(b"\n")))


def job_directories(environ: Mapping[str, str]) -> list[Path]:
    """What jobs of this user keep or have left on this node, those that go on included."""
    own = f"headrace-record-{os.geteuid()}"
    places = [
        environ.get("HEADRACE_RECORD_DIRECTORY", ""),
        "/dev/shm",
        environ.get("TMPDIR", ""),
        "/tmp",
    ]
    roots = {Path(place) / own for place in places if place.startswith("/")}
    return sorted(job for root in roots if _is_own(root) for job in root.iterdir() if _is_own(job))


def _is_own(directory: Path) -> bool:
    """Whether a name is a directory of this user's: others may plant theirs, or links, in /tmp."""
    try:
        status = directory.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def find_job(name: str, environ: Mapping[str, str]) -> Path:
    """A job's directory on this node, by its name or a part of that between `-`, `.` and `@`, such
    as the batch system's number. Without a name: the only job of this user that runs."""
    jobs = job_directories(environ)
    if name:
        found = [job for job in jobs if job.name == name or name in re.split("[-.@]", job.name)]
    else:
        found = [job for job in jobs if goes_on(job)]
    if len(found) == 1:
        return found[0]
    known = ", ".join(job.name for job in found or jobs) or "none"
    what = f"job '{name}'" if name else "the job that runs"
    raise HeadraceError(
        f"{what} was not found",
        f"{len(found)} fit on this node",
        f"go to a node of the job, and give a name or directory (jobs here: {known})",
        1,
    )


def goes_on(job: Path) -> bool:
    """Whether a process of the job still runs, or may run in another container."""
    return any(_runs(image) for image in job.glob("rank-*"))


def _runs(image: Path) -> bool:
    try:
        with image.open("rb") as file:
            head = file.read(PROCESS.size)
        if len(head) < PROCESS.size or not head.startswith(MAGIC):
            return False
        process, start, space = PROCESS.unpack(head)
        if os.stat("/proc/self/ns/pid").st_ino != space:
            return True  # in another container, where it cannot be seen
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    # As proc(5) numbers them, from the third on.
    fields = dict(enumerate(text.rpartition(")")[2].split(), 3))
    # One that nobody has waited for has ended, unless only its first thread has.
    is_zombie = fields[3] in "ZX" and int(fields[20]) <= 1
    return int(fields[22]) == start and not is_zombie
