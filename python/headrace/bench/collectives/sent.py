"""Cells by what nodes send in them: pure."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from headrace.bench.collectives.findings import Cell, Job

# A loss: nodes surely send more than this many times as much.
MOST_SENT = 1.03
# What ranks send aside is subtracted, and varies a little.
LEAST_SEEN = 0.98


@dataclass(frozen=True)
class SentCell:
    """A cell in which it was counted what nodes send."""

    job: Job
    cell: Cell

    @property
    def least(self) -> int | None:
        return self.job.least_sent(self.cell.operation, self.cell.bytes)

    @property
    def is_seen(self) -> bool:
        """Whether as much was counted as nodes must have sent. Else data went by interfaces that
        have no counters, or these are brought up to date seldom, and nothing can be concluded."""
        return min(self.cell.sent()) >= LEAST_SEEN * (self.least or 0)

    @property
    def is_greater(self) -> bool:
        """Whether nodes surely send more with Headrace."""
        ratio = self.cell.sent_ratio
        return self.is_seen and bool(ratio and ratio.is_confident and ratio.low > MOST_SENT)

    @property
    def is_less(self) -> bool:
        ratio = self.cell.sent_ratio
        return self.is_seen and bool(ratio and ratio.is_confident and ratio.high < 1)

    @property
    def place(self) -> tuple[bool, bool, float]:
        """Where Headrace surely sends more comes first, then by the ratio; not seen ones last."""
        ratio = self.cell.sent_ratio
        return not self.is_seen, not self.is_greater, -ratio.median if ratio else math.inf


def most_sent_first(jobs: Iterable[Job]) -> list[SentCell]:
    """All cells in which it was counted."""
    cells = [SentCell(job, cell) for job in jobs for cell in job.cells if cell.is_counted]
    return sorted(cells, key=lambda one: one.place)
