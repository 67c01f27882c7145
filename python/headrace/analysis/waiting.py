"""How long ranks waited for others in blocking collective calls: an interval that holds the truth.

Within a node the record has when ranks entered. Elsewhere it has sums and least times only, of
waiting and transfer together. So the wait is bracketed (docs/report.md#waiting), by what is known
of transfers: see UNEQUAL. Of a rank's threads the mean counts.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headrace.analysis.calls import NO_SHAPE, RankTime, Shape, Totals
from headrace.analysis.generated.verdict_texts import OUTSIDE_RUN
from headrace.analysis.procedures import SYNCHRONISING, WAITING
from headrace.analysis.run import Run
from headrace.record.tables import Record

INTRACOMMUNICATOR = 0
UNEQUAL = 2
"""Once all have come, no rank is taken to be in a call for longer than so many times what another
one is."""
PerRank = dict[str, dict[int, int]]  # ns, by procedure and rank


@dataclass(frozen=True)
class Wait:
    """ns, of all ranks together: at least, at most."""

    least: int = 0
    most: int = 0

    def __add__(self, other: "Wait") -> "Wait":
        return Wait(self.least + other.least, self.most + other.most)


KINDS = ("collective call", "send", "receive")
COLLECTIVE_CALL = KINDS[0]


@dataclass(frozen=True)
class Awaited:
    """For a rank others waited so long, in ns of all of them, in so many of their calls, since it
    came late to one of KINDS."""

    rank: int
    kind: str
    calls: int
    time: int


@dataclass(frozen=True)
class Messages:
    """Waiting in point-to-point calls. matched: messages of which it is known when they were sent,
    early: of these, that were sent before their receive was posted."""

    total: Wait
    matched: int
    early: int


@dataclass
class Waits:
    """Of `total`, collective calls alone. known: of what part of the time in these the record has
    the wait. messages: None if it was not recorded."""

    total: Wait = field(default_factory=Wait)
    procedures: dict[str, Wait] = field(default_factory=dict)
    known: float = 0.0
    awaited: tuple[Awaited, ...] = ()
    messages: Messages | None = None


def waiting(record: Record, totals: Totals, run: Run) -> Waits:
    found = Waits(awaited=_awaited(record, run))
    fastest = _fastest(totals)
    least = _least_waits(totals, run)
    sums: dict[str, Wait] = defaultdict(Wait)
    known: dict[str, bool] = defaultdict(lambda: True)
    time = known_time = 0
    for (procedure, shape, _), by_rank in totals.matched.items():
        floor = fastest(procedure, shape)
        sums[procedure] += Wait(
            _sum(run, {rank: one.known_least for rank, one in by_rank.items()}),
            _sum(run, {rank: _most(one, floor) for rank, one in by_rank.items()}),
        )
        for one in by_rank.values():
            known[procedure] &= one.known_calls == one.calls
            time += one.time
            known_time += one.known_time
    for procedure, one in sums.items():
        lower = one.least if known[procedure] else max(one.least, least[procedure])
        whole = Wait(min(lower, one.most), one.most)
        found.procedures[procedure] = whole
        found.total += whole
    found.known = known_time / time if time else 0.0
    found.messages = _messages(record, totals, run, found.procedures)
    return found


def _sum(run: Run, by_rank: Mapping[int, int]) -> int:
    """Of all ranks, of each the mean of its threads."""
    return sum(run.means(by_rank).values())


def _messages(
    record: Record, totals: Totals, run: Run, procedures: dict[str, Wait]
) -> Messages | None:
    """Adds the waits of the procedures."""
    if not totals.messages:
        return None
    total = Wait()
    for name in WAITING & set(totals.procedures):
        by_rank = totals.messages.get(name, {})
        time = _sum(run, totals.procedures[name].by_rank)
        rest = max(0, time - _sum(run, {rank: one.time for rank, one in by_rank.items()}))
        least = _sum(run, {rank: one.least for rank, one in by_rank.items()})
        most = _sum(run, {rank: one.most for rank, one in by_rank.items()})
        procedures[name] = Wait(min(least, time), min(most + rest, time))
        total += procedures[name]
    ranks = [node["ranks"] for node in record.nodes]
    return Messages(
        total, sum(sum(one["matched"]) for one in ranks), sum(sum(one["early"]) for one in ranks)
    )


def _most(one: RankTime, floor: int) -> int:
    """floor: the least transfer of any call that may have been the same one."""
    rest = one.time - one.known_time - (one.calls - one.known_calls) * floor
    return min(one.time, one.known_most + max(0, rest))


def _awaited(record: Record, run: Run) -> tuple[Awaited, ...]:
    """Those for whom others waited longest first."""
    calls: dict[tuple[int, int], int] = defaultdict(int)
    by_rank: dict[tuple[int, int], dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for node in record.nodes:
        rows = node["awaited"].rows("rank", "peer", "kind", "calls", "time")
        for rank, peer, kind, count, time in rows:
            calls[peer, kind] += count
            by_rank[peer, kind][rank] += time
    times = {late: _sum(run, waited) for late, waited in by_rank.items()}
    ordered = sorted(times.items(), key=lambda item: (-item[1], item[0]))
    return tuple(
        Awaited(rank, KINDS[kind], calls[rank, kind], time) for (rank, kind), time in ordered
    )


def _fastest(totals: Totals):
    """The least transfer of any call that may have been the same call, by procedure and shape: in
    each call some rank came last, so all of its time was transfer."""
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
        return min(least, unknown.get(procedure, least)) // UNEQUAL

    return fastest


def _least_waits(totals: Totals, run: Run) -> dict[str, int]:
    """By procedure. Only calls of all ranks of the job are surely matched: in smaller communicators
    of one shape the record does not tell who met whom."""
    ranks = run.count
    found: dict[str, int] = defaultdict(int)
    rest: dict[str, dict[int, RankTime]] = defaultdict(lambda: defaultdict(RankTime))
    for (procedure, shape, _), by_rank in totals.matched.items():
        if procedure not in SYNCHRONISING or shape.kind != INTRACOMMUNICATOR or shape.size != ranks:
            continue
        if _is_matched(by_rank.values(), ranks):
            found[procedure] += _sum(run, _surely_waited(by_rank))
            continue
        for rank, one in by_rank.items():  # ranks that call it at different places
            rest[procedure][rank].calls += one.calls
            rest[procedure][rank].time += one.time
    for procedure, by_rank in rest.items():
        if _is_matched(by_rank.values(), ranks):
            found[procedure] += _sum(run, _surely_waited(by_rank))
    return found


def most_by_rank(totals: Totals, run: Run) -> PerRank:
    """What each rank waited at most: in matched calls what they took longer than the least transfer
    of any that may have been the same one, in all others of the run the whole time."""
    fastest = _fastest(totals)
    found: PerRank = {
        name: dict(sums.by_rank)
        for name, sums in totals.procedures.items()
        if name not in OUTSIDE_RUN
    }
    for (procedure, shape, _), by_rank in totals.matched.items():
        floor = fastest(procedure, shape)
        for rank, one in by_rank.items():
            found[procedure][rank] -= one.time - _most(one, floor)
    for procedure, known in totals.messages.items():
        for rank, one in known.items() if procedure in found else ():
            spent = found[procedure].get(rank, 0)
            found[procedure][rank] = max(0, spent - max(0, one.time - one.most))
    return {name: run.means(by_rank) for name, by_rank in found.items()}


def least_by_rank(totals: Totals, run: Run) -> PerRank:
    """What each rank waited at least: as the record has it, or in calls of all ranks what it took
    longer than any transfer."""
    ranks = run.count
    found: PerRank = defaultdict(lambda: defaultdict(int))
    for procedure, known in totals.messages.items():
        for rank, one in known.items():
            found[procedure][rank] += one.least
    for (procedure, shape, _), by_rank in totals.matched.items():
        if all(one.known_calls == one.calls for one in by_rank.values()):
            for rank, one in by_rank.items():
                found[procedure][rank] += one.known_least
            continue
        if procedure not in SYNCHRONISING or shape.kind != INTRACOMMUNICATOR or shape.size != ranks:
            continue
        if _is_matched(by_rank.values(), ranks):
            for rank, waited in _surely_waited(by_rank).items():
                found[procedure][rank] += waited
    return {name: run.means(by_rank) for name, by_rank in found.items()}


def _is_matched(parts: Iterable[RankTime], ranks: int) -> bool:
    counts = [one.calls for one in parts]
    return ranks > 1 and len(counts) == ranks and len(set(counts)) == 1


def _surely_waited(by_rank: Mapping[int, RankTime]) -> dict[int, int]:
    """In matched calls. In each, no transfer is longer than UNEQUAL times the fastest rank's time,
    and the fastest ones together took no longer than any one rank."""
    longest = UNEQUAL * min(one.time for one in by_rank.values())
    return {rank: max(0, one.time - longest) for rank, one in by_rank.items()}
