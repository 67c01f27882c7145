"""Regions: parts that the program marks itself, by what it calls them.

A rank's time in a region is the mean of the threads that were in it, as its time in MPI is. Calls
count for the innermost region of their thread.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from headrace.analysis.calls import RegionKey, Sums, Totals
from headrace.analysis.generated.verdict_texts import OUTSIDE_RUN
from headrace.analysis.numbers import Balance, balance
from headrace.record.tables import Record


@dataclass(frozen=True)
class RegionCalls:
    """One procedure in a region, of all ranks."""

    procedure: str
    calls: int
    bytes: int
    time: int


@dataclass(frozen=True)
class Region:
    """`time`: regions in it included; `own`: without. `in_mpi`: of `own`. calls: costliest first.
    id: -1 for further regions, for which there was no room."""

    id: int
    label: str
    ranks: int
    entries: int
    time: Balance
    own: Balance
    in_mpi: Balance
    calls: tuple[RegionCalls, ...]

    @property
    def name(self) -> str:
        return self.label or f"region {self.id}"

    @property
    def mpi_share(self) -> float | None:
        """Of its own time; None where it has none."""
        return min(1.0, self.in_mpi.total / self.own.total) if self.own.total else None


@dataclass
class _Parts:
    """One region's, by rank."""

    entries: int = 0
    threads: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    time: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    own: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def mean(self, sums: Mapping[int, int]) -> list[int]:
        return [time // max(1, self.threads.get(rank, 1)) for rank, time in sums.items()]


def regions(record: Record, totals: Totals, ranks: int) -> tuple[Region, ...]:
    """Those with most time first."""
    parts: dict[RegionKey, _Parts] = defaultdict(_Parts)
    for node in record.nodes:
        labels = node.texts_of("regions", "label")
        table = node["regions"].rows("rank", "id", "entries", "time", "own")
        for label, (rank, number, entries, time, own) in zip(labels, table, strict=True):
            one = parts[number, label]
            one.entries += entries
            one.threads[rank] += 1
            one.time[rank] += time
            one.own[rank] += own
    made = [_region(key, one, totals.regions.get(key, {}), ranks) for key, one in parts.items()]
    return tuple(sorted(made, key=lambda one: (-one.time.total, one.id, one.label)))


def _region(
    key: RegionKey, parts: _Parts, procedures: Mapping[str, Sums], ranks: int
) -> Region:  # fmt: skip
    in_mpi: dict[int, int] = defaultdict(int)
    for name, sums in procedures.items():
        if name not in OUTSIDE_RUN:
            for rank, time in sums.by_rank.items():
                in_mpi[rank] += time
    costly = sorted(procedures.items(), key=lambda item: (-item[1].time, item[0]))
    return Region(
        *key,
        ranks=len(parts.threads),
        entries=parts.entries,
        time=balance(parts.mean(parts.time), ranks),
        own=balance(parts.mean(parts.own), ranks),
        in_mpi=balance(parts.mean(in_mpi), ranks),
        calls=tuple(RegionCalls(name, s.calls, s.bytes, s.time) for name, s in costly),
    )
