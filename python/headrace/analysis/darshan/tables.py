"""A log's files and operations, as the record's analysis has them."""

from collections.abc import Callable, Iterable

from headrace.analysis.accesses import known_sum
from headrace.analysis.analyse import Procedure
from headrace.analysis.calls import Sums
from headrace.analysis.darshan.outer import (
    KINDS,
    META,
    READ,
    WRITE,
    OneFile,
    extremes,
    only_rank,
    part,
    ranks_of,
    time,
)  # fmt: skip
from headrace.analysis.darshan.spread import Spread, parts_of
from headrace.analysis.files import File
from headrace.analysis.numbers import Balance
from headrace.analysis.targets import Placed
from headrace.darshan.counters import BINS, EVERYBODY, INTERFACES
from headrace.darshan.log import Log, Use

_WORDS = {READ: "reads", WRITE: "writes", META: "opens, closes, other"}
_LONGEST = {READ: "F_MAX_READ_TIME", WRITE: "F_MAX_WRITE_TIME"}


def files(log: Log, every: Iterable[OneFile]) -> tuple[File, ...]:
    """Those that took most time first."""
    made = [_file(log, one) for one in every]
    return tuple(sorted(made, key=lambda one: (-(one.time or 0), one.name)))


def _file(log: Log, one: OneFile) -> File:
    uses, below = one.uses, one.below
    interface = uses[0].interface
    spent = known_sum(map(time, uses))
    store = known_sum(map(time, below or ())) if interface == "MPI-IO" else spent
    return File(
        one.name,
        ranks=ranks_of(log, uses),
        opens=_count(uses, lambda use: part(use, META).calls),
        read=_count(uses, lambda use: use.counters.get("BYTES_READ")),
        written=_count(uses, lambda use: use.counters.get("BYTES_WRITTEN")),
        store_read=known_sum(use.counters.get("BYTES_READ") for use in below or ()),
        store_written=known_sum(use.counters.get("BYTES_WRITTEN") for use in below or ()),
        reads=_count(uses, lambda use: part(use, READ).calls),
        writes=_count(uses, lambda use: part(use, WRITE).calls),
        collective_reads=_count(uses, lambda use: part(use, READ).together),
        collective_writes=_count(uses, lambda use: part(use, WRITE).together),
        time=spent,
        exchange=None,
        wait=None,
        copy=None,
        store=store,
        interface=interface,
        only_rank=only_rank(uses),
    )


def _count(uses: Iterable[Use], value: Callable[[Use], int | None]) -> int:
    return known_sum(map(value, uses)) or 0


def placed(log: Log, every: Iterable[OneFile]) -> list[Placed]:
    """Files whose storage targets the log tells, by the layer that talks to these. Time is that of
    reads and writes: opening and closing is not the targets' work."""
    found = []
    for one in every:
        uses = one.below or one.uses
        if one.name in log.stripes and uses[0].interface != "STDIO":
            size = sum(
                use.counters.get(name, 0)
                for use in uses
                for name in ("BYTES_READ", "BYTES_WRITTEN")
            )
            found.append(
                Placed(
                    log.stripes[one.name],
                    size,
                    known_sum(part(use, kind).time for use in uses for kind in (READ, WRITE)) or 0,
                )
            )
    return found


def procedures(log: Log) -> tuple[Procedure, ...]:
    """Each interface's reads, writes and the rest; the costliest first. What POSIX does for MPI-IO
    is in both."""
    made = []
    for interface in INTERFACES:
        uses = [use for use in log.uses if use.interface == interface]
        for kind in KINDS:
            one = _procedure(log, f"{interface} {_WORDS[kind]}", uses, kind)
            if one.sums.calls or one.sums.time:
                made.append(one)
    return tuple(sorted(made, key=lambda one: (-one.sums.time, one.name)))


def _procedure(log: Log, name: str, uses: Iterable[Use], kind: str) -> Procedure:
    spread = Spread(log.ranks)
    made = Sums(failed=None, greatest=None, bins=[])
    for use in uses:
        one = part(use, kind)
        made.calls += one.calls or 0
        made.bytes += one.bytes
        made.time += one.time or 0
        longest = use.times.get(_LONGEST.get(kind, ""))
        if longest is not None and one.calls:
            made.greatest = max(made.greatest or 0, longest)
        if kind != META and (bins := use.bins(kind.upper())):
            made.bins = [a + b for a, b in zip(made.bins or [0] * len(BINS), bins, strict=True)]
        if use.rank != EVERYBODY:
            spread.add(use.rank, one.time or 0)
        elif one.time:
            whole = sum(part(use, each).time or 0 for each in KINDS)
            spread.share(one.time, parts_of(extremes(use), one.time / whole))
    balance = Balance(log.ranks, round(spread.total), round(spread.greatest))
    return Procedure(name, True, made, balance, None)
