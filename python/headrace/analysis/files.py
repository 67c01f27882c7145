"""Tables `files`, `matrix` and `decisions`, added up over ranks."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from headrace.record.tables import Record

_COLUMNS = (
    *("rank", "store_read", "store_written"),
    *("opens", "read", "written", "reads", "writes", "collective_reads", "collective_writes"),
    *("time", "exchange", "wait", "copy", "store"),
)
_SUMS = _COLUMNS[3:]

# By direction, as columns of the table have them.
REQUESTS = ("requests", "collective", "unit", "small", "unaligned", "repeated")
_READS = (
    *("read_requests", "collective_read_requests", "unit_read_requests"),
    *("small_read_requests", "unaligned_read_requests", "repeated_reads"),
)
_WRITES = (
    *("write_requests", "collective_write_requests", "unit_write_requests"),
    *("small_write_requests", "unaligned_write_requests", "repeated_writes"),
)
_STORAGE = (
    *("write_gaps", "write_gap_bytes"),
    *("open_time", "close_time", "meet", "send", "store_read_time"),
)


@dataclass
class Storage:
    """What Headrace asked of the file system for one file, over all ranks. unit: bytes by which
    requests are judged; 0: not known. reads, writes: numbers as REQUESTS names them. aggregators:
    how many ranks made requests in collective calls. Times: ns."""

    unit: int
    reads: Counter[str]
    writes: Counter[str]
    read_aggregators: int = 0
    write_aggregators: int = 0
    write_gaps: int = 0
    write_gap_bytes: int = 0
    open_time: int = 0
    close_time: int = 0
    meet: int = 0
    send: int = 0
    store_read_time: int = 0


@dataclass
class File:
    """One file, over all ranks that opened it. store_*: None if the library moved the bytes. Times:
    None if not measured. only_rank: the one that opened it; None if there are several, or it is not
    known. storage: None if the library moved the bytes, or if it was not counted."""

    name: str
    ranks: int = 0
    opens: int = 0
    read: int = 0
    written: int = 0
    store_read: int | None = None
    store_written: int | None = None
    reads: int = 0
    writes: int = 0
    collective_reads: int = 0
    collective_writes: int = 0
    time: int | None = 0
    exchange: int | None = 0
    wait: int | None = 0
    copy: int | None = 0
    store: int | None = 0
    interface: str = "MPI-IO"
    only_rank: int | None = None
    storage: Storage | None = None


def files(record: Record) -> list[File]:
    """Those that took most time first."""
    found: dict[str, File] = {}
    seen: set[tuple[str, int]] = set()
    for node in record.nodes:
        names = node.texts_of("files", "file")
        for name, row in zip(names, node["files"].rows(*_COLUMNS), strict=True):
            rank, store_read, store_written, *sums = row
            file = found.setdefault(name, File(name))
            file.ranks += (name, rank) not in seen
            seen.add((name, rank))
            file.only_rank = rank if file.ranks == 1 else None
            file.store_read = _plus(file.store_read, store_read)
            file.store_written = _plus(file.store_written, store_written)
            for column, value in zip(_SUMS, sums, strict=True):
                setattr(file, column, getattr(file, column) + value)
    if "files.read_requests" not in record.missing:
        _add_storage(record, found)
    return sorted(found.values(), key=lambda one: (-one.time, one.name))


def _add_storage(record: Record, files: dict[str, File]) -> None:
    for node in record.nodes:
        table = node["files"]
        units = (unit for (unit,) in table.rows("unit"))
        parts = (table.rows(*names) for names in (_READS, _WRITES, _STORAGE))
        names = node.texts_of("files", "file")
        for name, unit, reads, writes, rest in zip(names, units, *parts, strict=True):
            file = files[name]
            if file.store_read is None:
                continue
            one = file.storage = file.storage or Storage(unit, Counter(), Counter())
            one.unit = max(one.unit, unit)
            own = [dict(zip(REQUESTS, row, strict=True)) for row in (reads, writes)]
            one.reads.update(own[0])
            one.writes.update(own[1])
            one.read_aggregators += own[0]["collective"] > 0
            one.write_aggregators += own[1]["collective"] > 0
            for column, value in zip(_STORAGE, rest, strict=True):
                setattr(one, column, getattr(one, column) + value)


def exchange(record: Record) -> dict[int, int]:
    """ns that each rank spent exchanging data with others, of all files."""
    by_rank: Counter[int] = Counter()
    for node in record.nodes:
        for rank, time in node["files"].rows("rank", "exchange"):
            by_rank[rank] += time
    return dict(by_rank)


def _plus(sum_so_far: int | None, value: int) -> int | None:
    return sum_so_far if value < 0 else (sum_so_far or 0) + value


@dataclass(frozen=True)
class Edge:
    sender: int
    receiver: int
    messages: int
    bytes: int


def matrix(record: Record) -> list[Edge]:
    messages: Counter[tuple[int, int]] = Counter()
    sent: Counter[tuple[int, int]] = Counter()
    for node in record.nodes:
        for rank, peer, count, size in node["matrix"].rows("rank", "peer", "messages", "sent"):
            messages[rank, peer] += count
            sent[rank, peer] += size
    return [Edge(*pair, messages[pair], sent[pair]) for pair in sorted(messages)]


def heaviest(edges: list[Edge], most: int) -> tuple[Edge, ...]:
    """The pairs of most bytes."""
    return tuple(sorted(edges, key=lambda one: (-one.bytes, one.sender, one.receiver))[:most])


@dataclass
class Decision:
    """What Headrace chose. times: calls that went by it, or how often it was chosen. cost: ns;
    None if unknown."""

    subject: str
    choice: str
    reason: str
    alternatives: str
    times: int = 0
    cost: int | None = None


_TEXTS = ("subject", "choice", "reason", "alternatives")


def decisions(record: Record) -> list[Decision]:
    """Equal ones once, in the order of their first time; those on many files together."""
    found: dict[tuple[str, ...], Decision] = {}
    for node in record.nodes:
        texts = zip(*(node.texts_of("decisions", name) for name in _TEXTS), strict=True)
        numbers = node["decisions"].rows("calls", "cost")
        for words, (calls, cost) in zip(texts, numbers, strict=True):
            one = found.setdefault(words, Decision(*words))
            one.times += calls or 1
            one.cost = _plus(one.cost, cost)
    return _folded(found.values())


# As src/record/decision.h has it.
_OTHERS_MAY_REACH = "HEADRACE_IOBUF names it, and other nodes may reach it"


def held_twice(record: Record) -> tuple[str, ...]:
    """Files that processes of several nodes wrote to through buffers, each as if it were alone."""
    nodes: Counter[str] = Counter()
    for node in record.nodes:
        texts = zip(
            node.texts_of("decisions", "subject"), node.texts_of("decisions", "reason"), strict=True
        )
        names = {_OF_ONE_FILE.fullmatch(of) for of, why in texts if why == _OTHERS_MAY_REACH}
        nodes.update({name[2] for name in names if name and name[2].startswith("/")})
    return tuple(sorted(name for name, count in nodes.items() if count > 1))


_OF_ONE_FILE = re.compile(r"(.* of) '(.*)'", re.DOTALL)
_MOST_ALIKE = 8


def _folded(decisions: Iterable[Decision]) -> list[Decision]:
    """More than a few that differ in a file's name alone, and whose cost is not measured, are one:
    each process may have files of its own."""
    alike: defaultdict[tuple[str, ...], list[Decision]] = defaultdict(list)
    for one in decisions:
        name = _OF_ONE_FILE.fullmatch(one.subject) if one.cost is None else None
        rest = (one.choice, one.reason, one.alternatives)
        alike[name[1] if name else one.subject, str(one.cost), *rest].append(one)
    folded = []
    for (kind, *_), group in alike.items():
        if len(group) <= _MOST_ALIKE:
            folded += group
            continue
        first = _OF_ONE_FILE.fullmatch(group[0].subject)[2]
        subject = f"{kind} {len(group)} files, such as '{first}'"
        times = sum(one.times for one in group)
        folded.append(replace(group[0], subject=subject, times=times))
    return folded
