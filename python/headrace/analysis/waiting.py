"""How long ranks waited for others in blocking collective calls: an interval that holds the truth.

A rank's wait in a call is what it took longer there than the fastest rank of the same call. The
record has sums and least times only, so wait is bracketed (docs/report.md#waiting).
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from headrace.analysis.calls import NO_SHAPE, RankTime, Shape, Totals
from headrace.analysis.generated.verdict_texts import OUTSIDE_RUN
from headrace.analysis.procedures import SYNCHRONISING

INTRACOMMUNICATOR = 0
PerRank = dict[str, dict[int, int]]  # ns, by procedure and rank


@dataclass(frozen=True)
class Wait:
    """ns, of all ranks together: at least, at most."""

    least: int = 0
    most: int = 0

    def __add__(self, other: "Wait") -> "Wait":
        return Wait(self.least + other.least, self.most + other.most)


@dataclass
class Waits:
    total: Wait = field(default_factory=Wait)
    procedures: dict[str, Wait] = field(default_factory=dict)


def waiting(totals: Totals, ranks: int) -> Waits:
    found = Waits()
    fastest = _fastest(totals)
    least = _least_waits(totals, ranks)
    sums: dict[str, Wait] = defaultdict(Wait)
    for (procedure, shape, _), by_rank in totals.matched.items():
        floor = fastest(procedure, shape)
        most = sum(max(0, one.time - one.calls * floor) for one in by_rank.values())
        sums[procedure] += Wait(0, most)
    for procedure, one in sums.items():
        whole = Wait(min(least[procedure], one.most), one.most)
        found.procedures[procedure] = whole
        found.total += whole
    return found


def _fastest(totals: Totals):
    """The least time of any call that may have been the same call, by procedure and shape."""
    by_size: dict[tuple[str, int], int] = {}
    unknown: dict[str, int] = {}
    for (procedure, shape, _), by_rank in totals.matched.items():
        least = min(one.least for one in by_rank.values())
        if shape == NO_SHAPE:
            unknown[procedure] = min(unknown.get(procedure, least), least)
        elif shape.kind == INTRACOMMUNICATOR:
            key = (procedure, shape.size)
            by_size[key] = min(by_size.get(key, least), least)

    def fastest(procedure: str, shape: Shape) -> int:
        if shape.kind != INTRACOMMUNICATOR:
            return 0  # who took part is not known
        least = by_size[procedure, shape.size]
        return min(least, unknown.get(procedure, least))

    return fastest


def _least_waits(totals: Totals, ranks: int) -> dict[str, int]:
    """By procedure. Only calls of all ranks of the job are surely matched: in smaller communicators
    of one shape the record does not tell who met whom."""
    found: dict[str, int] = defaultdict(int)
    rest: dict[str, dict[int, RankTime]] = defaultdict(lambda: defaultdict(RankTime))
    for (procedure, shape, _), by_rank in totals.matched.items():
        if procedure not in SYNCHRONISING or shape.kind != INTRACOMMUNICATOR or shape.size != ranks:
            continue
        if _is_matched(by_rank.values(), ranks):
            found[procedure] += _above_fastest(by_rank.values())
            continue
        for rank, one in by_rank.items():  # ranks that call it at different places
            rest[procedure][rank].calls += one.calls
            rest[procedure][rank].time += one.time
    for procedure, by_rank in rest.items():
        if _is_matched(by_rank.values(), ranks):
            found[procedure] += _above_fastest(by_rank.values())
    return found


def most_by_rank(totals: Totals) -> PerRank:
    """What each rank waited at most: in matched calls what they took longer than the fastest call
    that may have been the same one, in all others of the run the whole time."""
    fastest = _fastest(totals)
    found: PerRank = {
        name: dict(sums.by_rank)
        for name, sums in totals.procedures.items()
        if name not in OUTSIDE_RUN
    }
    for (procedure, shape, _), by_rank in totals.matched.items():
        floor = fastest(procedure, shape)
        for rank, one in by_rank.items():
            found[procedure][rank] -= min(one.time, one.calls * floor)
    return found


def least_by_rank(totals: Totals, ranks: int) -> PerRank:
    """What each rank waited at least: in calls of all ranks what it took longer than the rank that
    took least."""
    found: PerRank = defaultdict(lambda: defaultdict(int))
    for (procedure, shape, _), by_rank in totals.matched.items():
        if procedure not in SYNCHRONISING or shape.kind != INTRACOMMUNICATOR or shape.size != ranks:
            continue
        if _is_matched(by_rank.values(), ranks):
            least = min(one.time for one in by_rank.values())
            for rank, one in by_rank.items():
                found[procedure][rank] += one.time - least
    return found


def _is_matched(parts: Iterable[RankTime], ranks: int) -> bool:
    counts = [one.calls for one in parts]
    return ranks > 1 and len(counts) == ranks and len(set(counts)) == 1


def _above_fastest(parts: Iterable[RankTime]) -> int:
    times = [one.time for one in parts]
    return sum(times) - len(times) * min(times)
