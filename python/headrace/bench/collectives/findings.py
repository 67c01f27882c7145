"""What was measured of collective operations: times by job and cell, and their form on disk."""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headrace.errors import HeadraceError
from headrace.statistics import Interval, median_interval, paired_ratio

FORMAT = "headrace bench collectives 1"
# A loss: Headrace is surely slower than this share of the library's speed.
LEAST_SHARE = 0.97
# Told without a size: no rank knows those of the others, and so all sizes go one way.
WITHOUT_SIZE = ("barrier", "gatherv", "scatterv", "alltoallv", "alltoallw")


@dataclass(frozen=True)
class Cell:
    """One operation with one size. bytes: of a rank's block (bcast, allreduce: of all the data).
    plain, headrace: seconds of a call, by batches that were made in turns. wrong: elements. taken:
    what carried it out with Headrace, "" if that is not known."""

    operation: str
    bytes: int
    calls: int
    wrong: int
    plain: list[float]
    headrace: list[float]
    taken: str = ""

    def __post_init__(self) -> None:
        times = [*self.plain, *self.headrace]
        sound = all(isinstance(one, float | int) and 0 < one < math.inf for one in times)
        if not sound or not self.plain or len(self.plain) != len(self.headrace):
            raise ValueError(f"the times of {self.operation} are not pairs of positive numbers")

    @property
    def speedup(self) -> Interval:
        """How many times as fast Headrace is: the paired ratios of batches."""
        return paired_ratio(self.plain, self.headrace)

    @property
    def is_lost(self) -> bool:
        return self.speedup.is_confident and self.speedup.high < LEAST_SHARE

    @property
    def by_layer(self) -> bool:
        return bool(self.taken) and self.taken != "the MPI library"

    def microseconds(self) -> tuple[float, float]:
        """Medians of a call, plain and with Headrace."""
        return median_interval(self.plain).median * 1e6, median_interval(self.headrace).median * 1e6


@dataclass(frozen=True)
class Job:
    """The cells of one MPI. settings: those that make the comparison fair, for people."""

    mpi: str
    kind: str
    ranks: int
    nodes: int
    settings: str
    date: str
    cells: list[Cell]

    @property
    def title(self) -> str:
        return f"{self.mpi}, {self.ranks} ranks"


def losing_first(jobs: Iterable[Job]) -> list[tuple[Job, Cell]]:
    """All cells, the greatest loss first."""
    cells = [(job, cell) for job in jobs for cell in job.cells]
    return sorted(cells, key=lambda one: one[1].speedup.median)


def to_text(jobs: Iterable[Job]) -> str:
    return json.dumps({"format": FORMAT, "jobs": [asdict(job) for job in jobs]}, indent=1) + "\n"


def read_jobs(path: Path) -> list[Job]:
    """What an earlier run wrote with --json."""
    try:
        document = json.loads(path.read_text())
        if document["format"] != FORMAT:
            raise ValueError(f"its format is {document['format']!r}")
        return [_job(entry) for entry in document["jobs"]]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise HeadraceError(
            f"'{path}' cannot be read",
            str(error) or type(error).__name__,
            "give a file that 'headrace bench collectives --json' wrote",
        ) from error


def _job(entry: dict[str, Any]) -> Job:
    return Job(**{**entry, "cells": [Cell(**cell) for cell in entry["cells"]]})
