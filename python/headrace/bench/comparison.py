"""Alternating runs of the ways of a job under one MPI, and what they show."""

import filecmp
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from headrace.bench.jobs import HEADRACE, PLAIN, Job, Measurement, Way
from headrace.bench.runner import Host, RunFailed, measure
from headrace.bench.turns import turns
from headrace.errors import HeadraceError
from headrace.statistics import Interval, median_interval, paired_ratio

# What must stay free beside the files of a comparison.
SPARE_BYTES = 64 << 20

# How often the limit is tried with each size of requests before the best one is kept.
LIMIT_TRIALS = ("-i", "3")

# How failures for want of space are told, in lower case.
SPACE_ERRORS = ("no space left", "not enough space", "quota exceeded")

Progress = Callable[[str], None]


class NoSpace(HeadraceError):
    """The files do not fit."""


@dataclass
class Cell:
    """Headrace against one other way in one access: medians in MiB/s and the paired ratio."""

    job: Job
    host: Host
    access: str
    other: Way
    ours_median: float
    other_median: float
    ratio: Interval

    @property
    def is_loss(self) -> bool:
        return self.ratio.median < 1

    @property
    def is_certain_loss(self) -> bool:
        return self.ratio.high < 1


@dataclass
class Comparison:
    """The runs of one job under one MPI, by way in the order of rounds.

    identical: by way other than Headrace's, whether its file equals Headrace's to the byte.
    failed: by way other than Headrace's, why it could not do the job; it is left out then.
    """

    job: Job
    host: Host
    runs: dict[str, list[Measurement]] = field(default_factory=dict)
    identical: dict[str, bool] = field(default_factory=dict)
    first: dict[str, Measurement] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def ways(self) -> list[Way]:
        """The ways that can do the job."""
        return [way for way in self.job.ways if way.key not in self.failed]

    @property
    def rounds(self) -> int:
        return min(len(self.runs[way.key]) for way in self.ways)

    def bandwidths(self, way: str, access: str) -> list[float]:
        return [run.bandwidth[access] for run in self.runs[way]]

    def spread(self, way: str, access: str) -> Interval:
        return median_interval(self.bandwidths(way, access))

    def cells(self) -> list[Cell]:
        """Headrace against each other way, by access."""
        result = []
        for access in self.job.accesses:
            ours = self.bandwidths(HEADRACE, access)
            for way in self.ways:
                if way.key == HEADRACE:
                    continue
                other = self.bandwidths(way.key, access)
                result.append(
                    Cell(
                        self.job,
                        self.host,
                        access,
                        way,
                        self.spread(HEADRACE, access).median,
                        self.spread(way.key, access).median,
                        paired_ratio(ours, other),
                    )
                )
        return result

    def call_times(self, way: str, access: str) -> tuple[float, float] | None:
        """Medians over the runs, in seconds: the first of several calls, the median later one."""
        calls = [run.calls[access] for run in self.runs[way] if access in run.calls]
        if not calls:
            return None
        return median(first for first, _ in calls), median(later for _, later in calls)

    def all_runs(self, way: str) -> list[Measurement]:
        first = [self.first[way]] if way in self.first else []
        return [*first, *self.runs.get(way, [])]

    def path(self, access: str) -> tuple[str, str]:
        """Path that Headrace took and why, as the file's hints told; empty where it told none."""
        runs = self.all_runs(HEADRACE)
        hints = runs[-1].hints.get(access, {}) if runs else {}
        return (
            hints.get(f"headrace_{access}_taken", ""),
            hints.get(f"headrace_{access}_reason", ""),
        )

    def took_part(self) -> bool:
        """Whether the hints of Headrace's runs show that it carried the file."""
        hints = [hint for run in self.all_runs(HEADRACE) for hint in run.hints.values()]
        return any(key.startswith("headrace_") for hint in hints for key in hint)


def check_space(job: Job, folder: Path, made: int = 0) -> None:
    """Raises NoSpace unless the first round's files fit, of which `made` are there: that of
    Headrace, and one other at a time."""
    needed = (min(2, len(job.ways)) - made) * job.largest_file + SPARE_BYTES
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise NoSpace(
            f"not enough space in '{folder}'",
            f"{job.title} needs {needed >> 20} MiB and {free >> 20} MiB are free",
            "name another directory with --dir",
        )


def require_space(job: Job, folder: Path, why: object) -> None:
    """Raises NoSpace where a failure is one of space: it says nothing about the way that met it."""
    free = shutil.disk_usage(folder).free
    if free < job.largest_file or any(text in str(why).lower() for text in SPACE_ERRORS):
        raise NoSpace(
            f"the file system of '{folder.parent}' filled up",
            str(why),
            f"free some space ({free >> 20} MiB are free) and start again",
            1,
        )


def start(
    job: Job, host: Host, folder: Path, environ: Mapping[str, str], progress: Progress
) -> Comparison:
    """The first round, which is not measured: keeps Headrace's file and compares each other way's
    with it, to the byte. The limit's file is left out: it holds as much, but not at the same
    places. The limit tries several sizes of requests; the fastest are those of all later rounds.
    What was computed beside plain MPI's transfers is that of all ways then. Raises NoSpace where
    the files do not fit."""
    job = job.under(host.mpi.kind)
    check_space(job, folder)
    result = Comparison(job, host, {way.key: [] for way in job.ways})
    files = {way.key: folder / f"{job.key}-{host.name}-{way.key}" for way in job.ways}
    try:
        for way in sorted(job.ways, key=lambda way: way.key != HEADRACE):
            progress(f"{way.label}, keeping the file")
            try:
                first = measure(job, _trial(way), host, files[way.key], environ, keep=True)
            except HeadraceError as error:
                _remove(job, files[way.key])
                require_space(result.job, folder, error)
                if way.key == HEADRACE:
                    raise
                result.failed[way.key] = str(error)
                continue
            result.first[way.key] = first
            if way.key == HEADRACE:
                result.job = _with_accesses(job, first)
                _check_size(result, folder, files[way.key])
            elif way.is_limit:
                result.job = result.job.with_requests(first.requests)
            else:
                if way.key == PLAIN and first.computing:
                    result.job = result.job.with_computing(first.computing)
                result.identical[way.key] = _is_same(job, files[way.key], files[HEADRACE])
            if way.key != HEADRACE:
                _remove(job, files[way.key])
        _require_others(result)
    finally:
        for name in files.values():
            _remove(job, name)
    return result


def _with_accesses(job: Job, run: Measurement) -> Job:
    """The job with those of its accesses that a run made: a flag may switch one off."""
    made = tuple(access for access in job.accesses if access in run.bandwidth)
    if not made:
        raise HeadraceError(
            f"{job.title} is not measured",
            f"by its flags it makes no {' and no '.join(job.accesses)}",
            "leave out what switches them off",
        )
    return replace(job, accesses=made)


def _check_size(result: Comparison, folder: Path, ours: Path) -> None:
    """Where the flags did not tell it, the size is that of Headrace's file: another must fit."""
    if not result.job.largest_file:
        result.job = replace(result.job, largest_file=_size(result.job, ours))
        check_space(result.job, folder, made=1)


def _is_same(job: Job, theirs: Path, ours: Path) -> bool:
    pairs = zip(job.files(theirs), job.files(ours), strict=True)
    return all(filecmp.cmp(one, other, shallow=False) for one, other in pairs)


def _remove(job: Job, name: Path) -> None:
    for file in job.files(name):
        file.unlink(missing_ok=True)


def _size(job: Job, name: Path) -> int:
    """Bytes of the files that a way has made under this name."""
    try:
        return sum(file.stat().st_size for file in job.files(name))
    except FileNotFoundError as error:
        raise HeadraceError(
            f"{job.title} has not made the file '{name.name}'",
            "its flags give it another name, so that there is nothing to compare",
            "drop what renames files, as -F or -m of ior",
        ) from error


def _trial(way: Way) -> Way:
    return replace(way, flags=(*way.flags, *LIMIT_TRIALS)) if way.is_limit else way


def _require_others(result: Comparison) -> None:
    """Raises RunFailed where Headrace's way alone works."""
    if any(way.key != HEADRACE for way in result.ways):
        return
    reasons = "; ".join(result.failed.values())
    remedy = "correct the flags or the directory"
    raise RunFailed(PLAIN, f"{result.job.title}: no other way works", reasons, remedy)


def add_round(
    result: Comparison, folder: Path, environ: Mapping[str, str], progress: Progress
) -> str:
    """One round: each way once, in an order that changes (see turns). It counts as a whole, or not
    at all where a way fails: that is left out from here on, and of the rounds so far. Returns its
    key, "" where none failed. Raises RunFailed where Headrace's fails, and NoSpace where the files
    do not fit."""
    ways = sorted(result.ways, key=lambda way: way.key != HEADRACE)
    number = result.rounds
    file = folder / f"{result.job.key}-{result.host.name}"
    measured = {}
    for turn in turns(len(ways), number):
        way = ways[turn]
        progress(f"round {number + 1}, {way.label}")
        try:
            measured[way.key] = measure(result.job, way, result.host, file, environ)
        except RunFailed as error:
            _remove(result.job, file)
            require_space(result.job, folder, error)
            if way.key == HEADRACE:
                raise
            result.failed[way.key] = str(error)
            return way.key
    for key, run in measured.items():
        result.runs[key].append(run)
    return ""


def run_rounds(
    result: Comparison,
    folder: Path,
    environ: Mapping[str, str],
    progress: Progress,
    at_least: int,
    at_most: int,
    until: float,
) -> None:
    """Rounds until the monotonic time `until`, at least and at most so many."""
    while result.rounds < at_most:
        begin = time.monotonic()
        if add_round(result, folder, environ, progress):
            _require_others(result)
            continue
        duration = time.monotonic() - begin
        if result.rounds >= at_least and time.monotonic() + duration > until:
            return


def losing_first(comparisons: list[Comparison]) -> list[Cell]:
    """All cells but those of the limit, certain losses first, then by ratio."""
    cells = [
        cell for comparison in comparisons for cell in comparison.cells() if not cell.other.is_limit
    ]
    return sorted(cells, key=lambda cell: (not cell.is_certain_loss, cell.ratio.median))


def damaged(comparison: Comparison) -> dict[str, int | None]:
    """By way, the most bytes or values of one run that were not as they must be; None where no run
    was checked."""
    found: dict[str, int | None] = {}
    for way in comparison.ways:
        runs = comparison.all_runs(way.key)
        counts = [run.wrong + run.overwritten for run in runs if run.is_checked]
        if runs:
            found[way.label] = max(counts, default=None)
    return found
