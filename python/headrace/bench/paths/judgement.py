"""What the results say: the path taken, the better one, what the model loses, and crossings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log

from headrace.bench.jobs import HEADRACE
from headrace.bench.paths.grid import BY_NAME, DIRECT, FORCED, STAGED, forced_way
from headrace.bench.peers.grid import Case, Point
from headrace.bench.peers.judgement import measured_accesses
from headrace.bench.peers.results import Attempt, Measured, Results
from headrace.statistics import Interval, median_interval, paired_ratio

# The model is to reach this share of the better path's speed in every cell.
LEAST_SHARE = 0.9

# As Headrace explains an estimated choice, after the number of pieces and their size.
_ESTIMATES = re.compile(r"estimated (\d+) us directly, (\d+) us staged")


@dataclass(frozen=True)
class Choice:
    """One access at one point. rates: by path, and the model's, MiB/s. best: the path that is
    faster by force; ratio: the model to it, in paired rounds; staged_to_direct: the paths to each
    other. taken: by the model, and its reason; estimates: microseconds of a call by path, empty
    where none was made."""

    point: Point
    access: str
    title: str
    file_system: str
    rates: dict[str, Interval]
    best: str
    ratio: Interval
    staged_to_direct: Interval
    taken: str
    reason: str
    estimates: dict[str, float]
    others: float
    is_noisy: bool

    @property
    def case(self) -> Case:
        return BY_NAME[self.point.case]

    @property
    def is_lost(self) -> bool:
        return self.ratio.median < LEAST_SHARE

    @property
    def winner(self) -> str:
        """The path that surely wins, empty where they are not told apart."""
        ratio = self.staged_to_direct
        if ratio.is_confident and ratio.low > 1:
            return STAGED
        return DIRECT if ratio.is_confident and ratio.high < 1 else ""


def judge(results: Results) -> list[Choice]:
    """All accesses of all points that have rounds in which both paths worked."""
    return [
        _choice(measured, attempt, access, kind)
        for measured, attempt, access, kind in measured_accesses(results, BY_NAME)
        if not attempt.failed
    ]


def _choice(measured: Measured, attempt: Attempt, access: str, kind: str) -> Choice:
    runs = {path: attempt.rates(forced_way(access, path), access) for path in FORCED}
    runs[HEADRACE] = attempt.rates(HEADRACE, access)
    rates = {path: median_interval(values) for path, values in runs.items()}
    best = max(FORCED, key=lambda path: rates[path].median)
    taken, reason = attempt.paths.get(access, ["", ""])
    return Choice(
        measured.point,
        access,
        measured.title,
        kind,
        rates,
        best,
        paired_ratio(runs[HEADRACE], runs[best]),
        paired_ratio(runs[STAGED], runs[DIRECT]),
        taken,
        reason,
        estimates_of(reason),
        attempt.others,
        attempt.is_noisy,
    )


def estimates_of(reason: str) -> dict[str, float]:
    """Microseconds by path, of a choice by estimates."""
    match = _ESTIMATES.search(reason)
    return dict(zip(FORCED, map(float, match.groups()), strict=True)) if match else {}


def losing_first(choices: Sequence[Choice]) -> list[Choice]:
    """Cells that lose more than they may, the worst first, then the others in their order."""
    lost = [one for one in choices if one.is_lost]
    return sorted(lost, key=lambda one: one.ratio.median) + [
        one for one in choices if not one.is_lost
    ]


@dataclass(frozen=True)
class Curve:
    """tile in one access, from small pieces to large."""

    file_system: str
    access: str
    title: str
    ranks: int
    choices: list[Choice]

    def measured(self, path: str) -> list[tuple[int, float]]:
        """(bytes of a piece, nanoseconds for a byte)."""
        return [(one.case.piece, 1e9 / one.rates[path].median / 2**20) for one in self.choices]

    def estimated(self, path: str, size: int) -> list[tuple[int, float]]:
        """The same as the model has it, where it made an estimate. size: that of the grid."""
        found = []
        for one in self.choices:
            moved = one.case.make(one.point.ranks, size).largest_file
            if one.estimates:
                found.append((one.case.piece, one.estimates[path] * 1000 / moved))
        return found

    def measured_crossings(self) -> list[int]:
        ratios = [(one.case.piece, one.staged_to_direct.median) for one in self.choices]
        return crossings(ratios)

    def estimated_crossings(self) -> list[int]:
        ratios = [
            (one.case.piece, max(one.estimates[DIRECT], 1) / max(one.estimates[STAGED], 1))
            for one in self.choices
            if one.estimates
        ]
        return crossings(ratios)

    def without_estimate(self) -> int:
        """The smallest piece that goes directly without an estimate, 0 where none does."""
        pieces = [
            one.case.piece for one in self.choices if not one.estimates and one.taken == DIRECT
        ]
        return min(pieces, default=0)


def curves(choices: Sequence[Choice]) -> list[Curve]:
    groups: dict[tuple[str, str, str, int], list[Choice]] = {}
    for one in choices:
        if one.case.group == "tile":
            key = (one.file_system, one.access, one.title, one.point.ranks)
            groups.setdefault(key, []).append(one)
    return [
        Curve(*key, sorted(group, key=lambda one: one.case.piece)) for key, group in groups.items()
    ]


def crossings(ratios: Sequence[tuple[int, float]]) -> list[int]:
    """Sizes at which a ratio by size passes 1, between two of them on straight lines through their
    logarithms."""
    found = []
    for (left, before), (right, after) in pairwise(ratios):
        if (before > 1) != (after > 1):
            part = log(before) / (log(before) - log(after))
            found.append(round(exp(log(left) + part * (log(right) - log(left)))))
    return found
