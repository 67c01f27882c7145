"""Costs: what each rank spent on one kind of calls, and what the run would gain without it.

With c_i the time of rank i in it, W_i its waiting elsewhere and run_i its run, of the longest of
which the run's time T is: no rank ends earlier than its own other work lets it, so the gain is at
most the least over ranks of T - run_i + c_i + W_i, as long as that other work stays as it is.
W_i is known as an interval, and so is the bound (docs/advice.md#the-bound).
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from headrace.analysis.calls import Sums, Totals
from headrace.analysis.generated.collective_uses import Use
from headrace.analysis.generated.verdict_texts import OUTSIDE_RUN
from headrace.analysis.procedures import COLLECTIVE, MATCHED, SYNCS
from headrace.analysis.run import Rank, Run
from headrace.analysis.shipped_collectives import is_carried_out
from headrace.analysis.waiting import PerRank, least_by_rank, most_by_rank

SMALL_COLLECTIVE = 64  # bytes of a call
SMALL_MESSAGE = 256
SMALL_TRANSFER = 64 << 10

_BLOCKING = {
    *("MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend", "MPI_Recv", "MPI_Mrecv"),
    *("MPI_Sendrecv", "MPI_Sendrecv_replace"),
}
_SENDS = {"MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend", "MPI_Isend", "MPI_Issend"}
_AWAITS = {
    *("MPI_Recv", "MPI_Mrecv", "MPI_Probe", "MPI_Mprobe", "MPI_Sendrecv", "MPI_Sendrecv_replace"),
    *("MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome"),
}
_STANDARD = {"MPI_Send", "MPI_Sendrecv", "MPI_Sendrecv_replace"}  # blocking ones
_POLLS = {"MPI_Iprobe", "MPI_Improbe", "MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome"}
_COMMUNICATORS = {
    *("MPI_Comm_dup", "MPI_Comm_split", "MPI_Comm_split_type", "MPI_Comm_create"),
    *("MPI_Comm_create_group", "MPI_Comm_dup_with_info", "MPI_Comm_free", "MPI_Cart_create"),
    *("MPI_Cart_sub", "MPI_Dist_graph_create_adjacent", "MPI_Dist_graph_create"),
}
_FENCES = {"MPI_Win_fence", "MPI_Win_wait", "MPI_Win_unlock", "MPI_Win_unlock_all", "MPI_Win_flush"}
_OPENS = {"MPI_File_open", "MPI_File_close"}

# By name: which procedures. Those at single call sites also say how small a call's bytes are.
_PROCEDURES: dict[str, Callable[[str], bool]] = {
    "barrier": lambda name: name == "MPI_Barrier",
    "blocking_messages": lambda name: name in _BLOCKING,
    "awaited_messages": lambda name: name in _AWAITS,
    "synchronous_sends": lambda name: name == "MPI_Ssend",
    "polling": lambda name: name in _POLLS,
    "communicator_making": lambda name: name in _COMMUNICATORS,
    "type_making": lambda name: name.startswith("MPI_Type_"),
    "fences": lambda name: name in _FENCES,
    "collectives": lambda name: name in MATCHED,
    "io": lambda name: name.startswith("MPI_File_"),
    "io_open": lambda name: name in _OPENS,
    "io_sync": lambda name: name == "MPI_File_sync",
    "io_write": lambda name: name.startswith(("MPI_File_write", "MPI_File_iwrite")),
    "io_read": lambda name: name.startswith(("MPI_File_read", "MPI_File_iread")),
    "io_shared_pointer": lambda name: name.endswith(("_shared", "_ordered")),
}


def _is_independent(name: str) -> bool:
    moves = name.startswith(("MPI_File_write", "MPI_File_read"))
    return moves and not any(part in name for part in ("_all", "_ordered"))


_SITES: dict[str, tuple[Callable[[str], bool], int]] = {
    "small_collectives": (lambda name: name in MATCHED - SYNCS - {"MPI_Barrier"}, SMALL_COLLECTIVE),
    "small_messages": (lambda name: name in _SENDS, SMALL_MESSAGE),
    "small_io": (_is_independent, SMALL_TRANSFER),
}


NAMES = (*_PROCEDURES, *_SITES, "shipped_collectives", "balance", "off_cpu", "system")
NAMES += ("io_exchange",)


@dataclass(frozen=True)
class Bound:
    """ns: what the run would gain at most; the truth of that lies between the two."""

    lower: int
    upper: int


@dataclass(frozen=True)
class Cost:
    """`by_rank`: ns. calls, bytes: of all ranks. procedures: whose calls it is made of."""

    by_rank: Mapping[int, int]
    calls: int
    bytes: int
    procedures: frozenset[str]
    bound: Bound


class Costing:
    """Makes costs of one run, of means of each rank's threads."""

    def __init__(self, run: Run, totals: Totals):
        self._run = run
        self._calls = sum(sums.calls for sums in totals.procedures.values())
        self._least = least_by_rank(totals, run)
        self._most = most_by_rank(totals, run)

    def bound(
        self, by_rank: Mapping[int, int], replaced: Mapping[str, Mapping[int, int]], calls: int = 0
    ) -> Bound:
        """by_rank: the cost. replaced: what of it is in MPI, by procedure, which is then not
        counted as waiting, too. calls: how many would go; what the recorder took for them lies
        outside their times and goes, too."""
        lower = upper = self._run.elapsed
        for one in self._run.ranks:
            early = self._run.elapsed - one.run + by_rank.get(one.rank, 0)
            recorder = one.recorder * calls // max(1, self._calls)
            lower = min(lower, early + _elsewhere(self._least, one.rank, replaced))
            upper = min(upper, early + recorder + _elsewhere(self._most, one.rank, replaced))
        return Bound(max(0, min(lower, upper)), max(0, upper))

    def balanced(self) -> Bound:
        """If work were divided anew: a run is no shorter than the average rank's work."""
        count = max(1, len(self._run.ranks))
        ends = []
        for waits in (self._least, self._most):
            gains = [
                self._run.elapsed - one.run + _elsewhere(waits, one.rank, {})
                for one in self._run.ranks
            ]
            ends.append(min(self._run.elapsed, sum(gains) // count))
        return Bound(min(ends), ends[1])

    def of(self, parts: list[tuple[str, Sums]]) -> Cost:
        by_rank: dict[int, int] = defaultdict(int)
        replaced: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for name, sums in parts:
            for rank, time in self._run.means(sums.by_rank).items():
                by_rank[rank] += time
                replaced[name][rank] += time
        calls = sum(sums.calls for _, sums in parts)
        return Cost(
            by_rank,
            calls,
            sum(sums.bytes for _, sums in parts),
            frozenset(name for name, sums in parts if sums.time),
            self.bound(by_rank, replaced, calls),
        )

    def of_process(self, by_rank: Mapping[int, int], surely: Mapping[int, int]) -> Cost:
        """by_rank: measured whether recording was on or off. surely: what of it went by while
        recording was on, at least; that is the cost. by_rank is for the upper end of the bound."""
        runs = {one.rank: one.run for one in self._run.ranks}
        least = {rank: min(time, runs.get(rank, time)) for rank, time in surely.items()}
        bound = Bound(self.bound(least, {}).lower, self.bound(by_rank, {}).upper)
        return Cost(least, 0, 0, frozenset(), bound)

    def of_clock(self, by_rank: Mapping[int, int]) -> Cost:
        """of_process, of wall-clock times: no more of them than `off` went by while recording was
        off."""
        off = {one.rank: one.off for one in self._run.ranks}
        surely = {rank: max(0, time - off.get(rank, 0)) for rank, time in by_rank.items()}
        return self.of_process(by_rank, surely)


def _elsewhere(waits: PerRank, rank: int, replaced: Mapping[str, Mapping[int, int]]) -> int:
    """A rank's waiting in calls that are not part of the cost."""
    return sum(
        max(0, by_rank.get(rank, 0) - replaced.get(name, {}).get(rank, 0))
        for name, by_rank in waits.items()
    )


def costs(
    run: Run,
    totals: Totals,
    exchange: Mapping[int, int],
    eager_limit: int | None = None,
    uses: Sequence[Use] = (),
) -> dict[str, Cost]:
    """By name, all that this version knows. exchange: ns of each rank's threads in collective
    transfers. eager_limit: bytes above which sends wait for their receivers, if known. uses: rows
    of the table of collective operations that would count."""
    costing = Costing(run, totals)
    inside = [(name, sums) for name, sums in totals.procedures.items() if name not in OUTSIDE_RUN]
    sites = [(name, sums) for (name, _), sums in totals.sites.items() if name not in OUTSIDE_RUN]
    made = {
        kind: costing.of([(name, sums) for name, sums in inside if takes(name)])
        for kind, takes in _PROCEDURES.items()
    }
    for kind, (takes, most) in _SITES.items():
        small = [(n, s) for n, s in sites if takes(n) and s.calls and s.bytes <= most * s.calls]
        made[kind] = costing.of(small)
    made["shipped_collectives"] = costing.of(
        [(name, sums) for name, sums in sites if is_carried_out(uses, run, name, sums)]
    )
    if eager_limit is not None:
        above = [(n, s) for n, s in sites if n in _STANDARD and _is_just_above(eager_limit, s)]
        made["sends_above_eager"] = costing.of(above)
    made["balance"] = Cost({}, 0, 0, frozenset(), costing.balanced())
    made["off_cpu"] = costing.of_clock({one.rank: _without_core(one) for one in run.ranks})
    made["system"] = costing.of_process(
        {one.rank: one.cpu_system for one in run.ranks},
        {one.rank: one.surely_recorded(one.cpu_system) for one in run.ranks},
    )
    made["io_exchange"] = costing.of_clock(run.means(exchange))
    return made


def _without_core(one: Rank) -> int:
    return max(0, one.run + one.off + one.init - one.cpu_user - one.cpu_system)


def _is_just_above(limit: int, sums: Sums) -> bool:
    """Whether a limit that the library may well have would let the calls' messages go at once."""
    return limit * sums.calls < sums.bytes <= 4 * limit * sums.calls


def collective_time(run: Run, totals: Totals) -> int:
    return sum(run.means(totals.classes.get(COLLECTIVE, {})).values())
