"""Whether an operation is slower than others that do the same: what was measured, and its form on
disk.

Traeff, Gropp and Thakur, "Self-consistent MPI performance guidelines", IEEE TPDS 21(5), 2010;
Hunold and Carpen-Amarie, "Autotuning MPI collectives using performance guidelines", HPC Asia 2018.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace.bench.collectives.findings import (
    GUIDELINES_FORMAT,
    LEAST_SHARE,
    Setup,
    is_by_layer,
    read_document,
    require_times,
    to_text,
)
from headrace.statistics import Interval, median_interval, paired_ratio


@dataclass(frozen=True)
class Contest:
    """An operation against its emulation. Seconds of a call, by batches that were made in turns."""

    operation: list[float]
    emulation: list[float]

    @property
    def ratio(self) -> Interval:
        """How many times as long the operation takes."""
        return paired_ratio(self.operation, self.emulation)

    @property
    def is_violation(self) -> bool:
        return self.ratio.is_confident and self.ratio.low > 1 / LEAST_SHARE

    def microseconds(self) -> tuple[float, float]:
        return (
            median_interval(self.operation).median * 1e6,
            median_interval(self.emulation).median * 1e6,
        )


@dataclass(frozen=True)
class GuidelineCell:
    """One operation, one emulation, one size. bytes, calls, wrong, taken: as in Cell."""

    operation: str
    emulation: str
    bytes: int
    calls: int
    wrong: int
    plain: list[float]
    plain_emulated: list[float]
    headrace: list[float]
    headrace_emulated: list[float]
    taken: str = ""

    def __post_init__(self) -> None:
        ways = (self.plain, self.plain_emulated, self.headrace, self.headrace_emulated)
        require_times(self.operation, *ways)

    @property
    def by_layer(self) -> bool:
        """Whether Headrace carried the operation out; not known of its emulation."""
        return is_by_layer(self.taken)

    @property
    def by_library(self) -> Contest:
        """All by the MPI library."""
        return Contest(self.plain, self.plain_emulated)

    @property
    def by_headrace(self) -> Contest:
        """As a program has it with Headrace, the operation and its emulation."""
        return Contest(self.headrace, self.headrace_emulated)


@dataclass(frozen=True)
class GuidelineJob(Setup):
    cells: list[GuidelineCell]


def violations_first(jobs: Iterable[GuidelineJob]) -> list[tuple[GuidelineJob, GuidelineCell]]:
    """All cells: first what is violated with Headrace, then what is by the library alone."""

    def order(one: tuple[GuidelineJob, GuidelineCell]) -> tuple[bool, bool, float]:
        contests = one[1].by_headrace, one[1].by_library
        ours, plain = (contest.is_violation for contest in contests)
        return not ours, not plain, -max(contest.ratio.median for contest in contests)

    return sorted(((job, cell) for job in jobs for cell in job.cells), key=order)


def to_document(jobs: Iterable[GuidelineJob]) -> str:
    return to_text(jobs, GUIDELINES_FORMAT)


def read_guidelines(path: Path) -> list[GuidelineJob]:
    """What an earlier run wrote with --guidelines --json."""
    return read_document(path, GUIDELINES_FORMAT, _job)


def _job(entry: dict[str, Any]) -> GuidelineJob:
    return GuidelineJob(**{**entry, "cells": [GuidelineCell(**cell) for cell in entry["cells"]]})
