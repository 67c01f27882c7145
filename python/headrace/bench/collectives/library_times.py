"""What was measured of a library's algorithms: times by job and cell, and their form on disk."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace.bench.collectives.findings import (
    LEAST_SHARE,
    LIBRARIES,
    LIBRARY_FORMAT,
    Cell,
    Setup,
    read_document,
    require_times,
    to_text,
)
from headrace.statistics import Interval, median_interval, paired_ratio


@dataclass(frozen=True)
class AlgorithmCell:
    """One operation with one size. bytes: as in Cell. algorithm: "" where both ways are the
    library's own choice. own, chosen: seconds of a call, of launches that were made in turns.
    wrong: elements."""

    operation: str
    bytes: int
    algorithm: str
    wrong: int
    own: list[float]
    chosen: list[float]

    def __post_init__(self) -> None:
        require_times(self.operation, self.own, self.chosen)

    @property
    def gain(self) -> Interval:
        """How many times as fast the algorithm is: the paired ratios of launches."""
        return paired_ratio(self.own, self.chosen)

    @property
    def is_lost(self) -> bool:
        return self.gain.is_confident and self.gain.high < LEAST_SHARE

    def microseconds(self) -> tuple[float, float]:
        """Medians of a call, by the library's own choice and by the algorithm."""
        return median_interval(self.own).median * 1e6, median_interval(self.chosen).median * 1e6


@dataclass(frozen=True)
class LibraryJob(Setup):
    """version: of the library. screened: all algorithms in a few launches. confirmed: what was
    chosen from these against the library's own choice, in launches of their own. headrace: Headrace
    against what was taken, within one job."""

    version: str
    screened: list[AlgorithmCell]
    confirmed: list[AlgorithmCell]
    headrace: list[Cell]

    @property
    def library(self) -> str:
        return LIBRARIES[self.kind]


def losing_first(jobs: Iterable[LibraryJob]) -> list[tuple[LibraryJob, AlgorithmCell]]:
    """The confirmed cells in which an algorithm was chosen, the greatest loss first."""
    cells = [(job, cell) for job in jobs for cell in job.confirmed if cell.algorithm]
    return sorted(cells, key=lambda one: one[1].gain.median)


def to_document(jobs: Iterable[LibraryJob]) -> str:
    return to_text(jobs, LIBRARY_FORMAT)


def read_library_jobs(path: Path) -> list[LibraryJob]:
    """What an earlier run wrote with --json."""
    return read_document(path, LIBRARY_FORMAT, _job)


def is_of_library(path: Path) -> bool:
    """Whether a file is of this kind, as far as it can be read."""
    try:
        return json.loads(path.read_text()).get("format") == LIBRARY_FORMAT
    except (OSError, ValueError, AttributeError, RecursionError):
        return False  # whoever reads it next says why


def _job(entry: dict[str, Any]) -> LibraryJob:
    cells = {
        name: [AlgorithmCell(**cell) for cell in entry[name]] for name in ("screened", "confirmed")
    }
    return LibraryJob(**{**entry, **cells, "headrace": [Cell(**one) for one in entry["headrace"]]})
