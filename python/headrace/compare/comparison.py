"""Two groups of runs -> how much faster the second one is, and where the difference lies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from headrace.analysis.procedures import CLASSES
from headrace.analysis.waiting import Wait
from headrace.compare.changes import Change, changes, obstacles
from headrace.compare.names import Key
from headrace.compare.profile import IN_MPI, OFF, OUTSIDE, Part, Profile
from headrace.statistics import Interval, difference, ratio

FASTER, SLOWER, WITHIN = "faster", "slower", "slower, within the tolerance"
UNCERTAIN, TOO_FEW, REFUSED = "not told apart", "too few runs", "not comparable"
# Exit statuses.
FINE, IS_SLOWER, WRONG_ANSWERS, NOT_COMPARABLE = range(4)

Name = TypeVar("Name")
NO_PART = Part()


@dataclass(frozen=True)
class Row:
    """A part of the time of the average rank: medians of the groups in ns, and the difference.
    calls: medians, of all ranks. is_certain: whether the interval of the difference excludes 0."""

    before: float
    after: float
    calls_before: float
    calls_after: float
    change: Interval

    @property
    def is_certain(self) -> bool:
        return self.change.is_confident and (self.change.low > 0 or self.change.high < 0)


@dataclass(frozen=True)
class Comparison:
    """speed_up: time before / time after; None if the runs are not comparable and it was not
    forced. Then there are no rows either. wait: medians of both ends, of the average rank, before
    and after; None where a group measured none. Rows of procedures, regions and sites: greatest
    difference first. Of regions the time without those in them, and entries as calls."""

    before: tuple[Profile, ...]
    after: tuple[Profile, ...]
    tolerance: float
    changes: tuple[Change, ...]
    obstacles: tuple[str, ...]
    speed_up: Interval | None = None
    classes: Mapping[str, Row] | None = None
    procedures: Mapping[str, Row] | None = None
    regions: Mapping[str, Row] | None = None
    sites: Mapping[Key, Row] | None = None
    waits: tuple[Wait | None, Wait | None] = (None, None)

    @property
    def outcome(self) -> str:
        one = self.speed_up
        if one is None:
            return REFUSED
        if not one.is_confident:
            return TOO_FEW
        if one.low > 1:
            return FASTER
        if one.high >= 1:
            return UNCERTAIN
        return SLOWER if one.median < 1 / (1 + self.tolerance / 100) else WITHIN


@dataclass(frozen=True)
class Check:
    """A command that compared the answers, and its exit status."""

    command: str
    code: int

    @property
    def is_same(self) -> bool:
        return self.code == 0


def status(found: Comparison, check: Check | None) -> int:
    """The command's exit status."""
    if found.outcome == REFUSED:
        return NOT_COMPARABLE
    if check is not None and not check.is_same:
        return WRONG_ANSWERS
    return IS_SLOWER if found.outcome == SLOWER else FINE


def compare(
    before: Sequence[Profile], after: Sequence[Profile], tolerance: float, force: bool = False
) -> Comparison:
    """tolerance: percent by which it may take longer. force: compare whatever speaks against it,
    but for runs without time. There is a run in each group at least."""
    runs = (tuple(before), tuple(after))
    against = obstacles(*runs)
    altered = changes(*runs)
    timeless = any(one.elapsed <= 0 for one in (*before, *after))
    if timeless or (against and not force):
        return Comparison(*runs, tolerance, altered, against)
    return Comparison(
        *runs,
        tolerance,
        altered,
        against,
        speed_up=ratio([one.elapsed for one in after], [one.elapsed for one in before]),
        classes=_in_order(_rows(*runs, lambda one: one.classes)),
        procedures=_greatest_first(_rows(*runs, lambda one: one.procedures)),
        regions=_greatest_first(_rows(*runs, lambda one: one.regions)),
        sites=_greatest_first(_rows(*runs, lambda one: one.sites)),
        waits=(_wait(before), _wait(after)),
    )


def _rows(
    before: Sequence[Profile],
    after: Sequence[Profile],
    parts: Callable[[Profile], Mapping[Name, Part]],
) -> dict[Name, Row]:
    """A run that has no such part spent no time there."""
    names = dict.fromkeys(name for one in (*before, *after) for name in parts(one))
    groups = [[parts(one) for one in runs] for runs in (before, after)]
    return {
        name: _row(*([of.get(name, NO_PART) for of in group] for group in groups)) for name in names
    }


def _row(before: Sequence[Part], after: Sequence[Part]) -> Row:
    times = [[one.time for one in parts] for parts in (before, after)]
    calls = [median(one.calls for one in parts) for parts in (before, after)]
    return Row(median(times[0]), median(times[1]), *calls, difference(*times))


def _in_order(rows: Mapping[str, Row]) -> dict[str, Row]:
    """Classes that took no time in any run are left out, as is OFF."""
    names = [name for name in (OUTSIDE, OFF, IN_MPI, *CLASSES) if name in rows]
    return {
        name: rows[name]
        for name in names
        if name in (OUTSIDE, IN_MPI) or rows[name].before or rows[name].after
    }


def _greatest_first(rows: Mapping[Name, Row]) -> dict[Name, Row]:
    return dict(sorted(rows.items(), key=lambda item: (-abs(item[1].change.median), str(item[0]))))


def _wait(runs: Sequence[Profile]) -> Wait | None:
    """Both ends' medians, if all runs have them."""
    waits = [one.wait for one in runs if one.wait is not None]
    if len(waits) < len(runs):
        return None
    return Wait(int(median(one.least for one in waits)), int(median(one.most for one in waits)))
