"""Records of jobs that could not write their own: from what their ranks have left on this node."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

from headrace.errors import HeadraceError
from headrace.launch.image import is_numbered, runs
from headrace.launch.preload import find_library
from headrace.settings.resolver import Resolution

PROGRAM = "headrace_gather"


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


def job_directories(settings: Resolution, environ: Mapping[str, str]) -> list[Path]:
    """What jobs of this user, with these settings, keep or have left on this node, those that go on
    included."""
    own = f"headrace-record-{os.geteuid()}"
    places = [
        str(settings.value("HEADRACE_RECORD_DIRECTORY")),
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


def find_job(name: str, settings: Resolution, environ: Mapping[str, str]) -> Path:
    """A job's directory on this node, by its own name or the batch system's number. Without a name:
    the only job of this user that runs. Of several with one number it is the one that runs: each
    may be a step of the batch job."""
    jobs = job_directories(settings, environ)
    found = [job for job in jobs if not name or job.name == name or is_numbered(job, name)]
    if not name or len(found) > 1:
        running = [job for job in found if goes_on(job)]
        found = running if running or not name else found
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
    return any(runs(image) for image in job.glob("rank-*"))
