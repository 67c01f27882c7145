"""Records of jobs that could not write their own: from what their ranks have left on this node."""

from __future__ import annotations

import os
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path

from headrace.errors import HeadraceError
from headrace.launch.preload import find_library

PROGRAM = "headrace_gather"
MAGIC = b"HRIMAGE1"
PROCESS = struct.Struct("<24xi4xq")  # of src/record/image.h: the process, and when it started


def gather(job: Path, records: Path, environ: Mapping[str, str], remove: bool = False) -> Path:
    """Makes the record of a job's images, in the directory `records`, and returns its path."""
    program = find_library(environ).with_name(PROGRAM)
    if not program.exists():
        raise HeadraceError(
            f"'{program}' is missing", "it makes the record", "reinstall headrace", 1
        )
    line = [str(program), str(job), str(records), *(["--remove"] if remove else [])]
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise HeadraceError(
            f"no record was made of '{job}'", "see the line above", "name a job's directory", 1
        )
    return Path(done.stdout.strip())


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
    return sorted(job for root in roots if root.is_dir() for job in root.iterdir() if job.is_dir())


def goes_on(job: Path) -> bool:
    """Whether a process of the job still runs."""
    return any(_runs(image) for image in job.glob("rank-*"))


def _runs(image: Path) -> bool:
    try:
        with image.open("rb") as file:
            head = file.read(PROCESS.size)
        if len(head) < PROCESS.size or not head.startswith(MAGIC):
            return False
        process, start = PROCESS.unpack(head)
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return int(text.rpartition(")")[2].split()[19]) == start
