"""The limits of a job, as its launcher line or its number of ranks tells its size."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headrace import machine
from headrace.errors import message
from headrace.launch import limits
from headrace.launch.line_facts import assigning_words, kind_of_line, size_of_line
from headrace.launchers.detection import version_text
from headrace.launchers.families import HYDRA, OPENMPI, Family
from headrace.settings.resolver import Resolution

SETTING = "HEADRACE_LIMITS"
SHARED = Path("/dev/shm")
MIB = 1 << 20
# Open MPI's segments, of each rank, by major version, and which variable moves them elsewhere.
SEGMENTS = {
    4: (4 * MIB, "OMPI_MCA_btl_vader_backing_directory"),
    5: (16 * MIB, "OMPI_MCA_btl_sm_backing_directory"),
}
LATEST = max(SEGMENTS)


@dataclass(frozen=True)
class Limited:
    """variables: for the ranks. notes: what was decided, for who asks. warnings: for everybody."""

    variables: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def limited_line(
    line: Sequence[str],
    launcher: Path,
    family: Family,
    settings: Resolution,
    environ: Mapping[str, str],
) -> Limited:
    """The limits of the job that a launcher line starts."""
    if settings.value(SETTING) is not True:
        return Limited(notes=("limits are not set, as you asked",))
    version = version_text(launcher, environ) if family in (HYDRA, OPENMPI) else ""
    size = size_of_line(line, family, environ, version)
    mpi = kind_of_line(line, family, version, environ)
    is_local = not size.hosts and family in (HYDRA, OPENMPI) and not machine.in_batch_job(environ)
    per_node = size.ranks if is_local else size.most_per_node
    found = limited(limits.Job(mpi, size.ranks, per_node), environ, assigning_words(line, family))
    if mpi != "openmpi" or not is_local:
        return found
    return _with_room(found, per_node, 4 if "(Open MPI) 4" in version else LATEST, environ, line)


def limited_program(
    mpi: str, ranks: int, settings: Resolution, environ: Mapping[str, str]
) -> Limited:
    """The limits of ranks that start on this node, or wherever a scheduler puts them."""
    if settings.value(SETTING) is not True:
        return Limited(notes=("limits are not set, as you asked",))
    is_local = not machine.in_batch_job(environ)
    found = limited(limits.Job(mpi, ranks, ranks if is_local else 0), environ, ())
    if mpi != "openmpi" or not is_local:
        return found
    return _with_room(found, ranks, LATEST, environ, ())


def limited(job: limits.Job, environ: Mapping[str, str], line: Sequence[str]) -> Limited:
    if not job.ranks:
        return Limited(notes=("limits are not set: the number of ranks is not known",))
    decisions = limits.decide(job, environ, line, limits.networks())
    return Limited(limits.variables(decisions), tuple(map(str, decisions)))


def _with_room(
    found: Limited, ranks: int, version: int, environ: Mapping[str, str], line: Sequence[str]
) -> Limited:
    segment, variable = SEGMENTS[version]
    if variable in environ or any(token.endswith("_backing_directory") for token in line):
        return found
    moved = moved_segments(ranks * segment, _free, environ)
    if moved is None:
        return found
    place, warning = moved
    more = {} if place is None else {variable: str(place)}
    return Limited({**found.variables, **more}, found.notes, (*found.warnings, warning))


def _free(place: Path) -> int:
    """Bytes that this user can write there."""
    return shutil.disk_usage(place).free if os.access(place, os.W_OK) else 0


def moved_segments(
    needed: int, free: Callable[[Path], int], environ: Mapping[str, str]
) -> tuple[Path | None, str] | None:
    """Where Open MPI's segments of shared memory should be if /dev/shm is too small for them, and
    what to tell. A rank that touches a page for which no room is left dies of SIGBUS."""
    room = free(SHARED)
    if room >= needed:
        return None
    problem = f"{SHARED} has {room // MIB} MiB free"
    why = f"Open MPI may need {needed // MIB} MiB there, and ranks that run out of it die"
    for place in (environ.get("TMPDIR", ""), "/tmp", "/var/tmp"):
        if place.startswith("/") and Path(place).is_dir() and free(Path(place)) >= needed:
            return Path(place), message(problem, why, f"so its shared memory goes to {place}")
    return None, message(problem, why, "make it larger, or start fewer ranks on a node")
