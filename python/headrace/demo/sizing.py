"""Fits the demo's jobs into its time: a small pilot run tells how fast this machine is now."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from headrace.bench.comparison import Progress
from headrace.bench.jobs import (
    HEADRACE,
    SEED_SEGMENTS,
    Job,
    Way,
    ior_job,
    lattice_job,
    strided_job,
)
from headrace.bench.runner import Host, RunFailed, measure
from headrace.statistics import rounds_needed

# Wall time of starting and ending a program, in seconds, as the time left for moving data needs it.
LAUNCH_SECONDS = 0.4

# A round is written, read and read again to check it; the first one also compares files.
PASSES = {"write": 1, "read": 2}
UNMEASURED_ROUNDS = 1.5


@dataclass(frozen=True)
class Part:
    """A job of the demo: `make` builds it at a size, `sizes` are tried from the largest down.
    share: of the demo's time; fewest: rounds made whatever they take."""

    make: Callable[[int], Job]
    sizes: tuple[int, ...]
    share: float
    fewest: int


def _ior(segments: int) -> Job:
    return ior_job(2, segments=segments)


def _lattice(extent_t: int) -> Job:
    return lattice_job(2, dims=(32, 16, 16, extent_t))


def _strided(_size: int) -> Job:
    return strided_job(4)


PARTS = (
    Part(_ior, (SEED_SEGMENTS, 1610, 805, 400, 200, 100, 50, 20), 0.45, 2),
    Part(_lattice, (32, 16, 8, 4), 0.3, 2),
    # Open MPI's fault shows beyond 64 MiB only: never smaller.
    Part(_strided, (1,), 0.25, 2),
)


def sized_job(
    part: Part,
    seconds: float,
    host: Host,
    folder: Path,
    environ: Mapping[str, str],
    progress: Progress,
) -> Job:
    """The largest size at which `rounds_needed()` rounds are expected to fit into `seconds`."""
    smallest = part.sizes[-1]
    if len(part.sizes) == 1:
        return part.make(smallest)
    job = part.make(smallest)
    progress("finding a size that fits the time")
    runs = (_pilot(job, way, host, folder / "pilot", environ) for way in job.ways)
    moving = sum(
        PASSES[access] * job.largest_file / 2**20 / bandwidth
        for run in runs
        for access, bandwidth in run.items()
    )
    rounds = rounds_needed() + UNMEASURED_ROUNDS
    budget = seconds / rounds - LAUNCH_SECONDS * len(job.ways)
    fitting = (size for size in part.sizes if moving * size / smallest <= budget)
    return part.make(next(fitting, smallest))


def _pilot(
    job: Job, way: Way, host: Host, file: Path, environ: Mapping[str, str]
) -> dict[str, float]:
    """By access MiB/s; nothing of another way that fails, which the comparison leaves out."""
    try:
        return measure(job, way, host, file, environ).bandwidth
    except RunFailed:
        if way.key == HEADRACE:
            raise
        return {}
