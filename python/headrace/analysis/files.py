"""Tables `files`, `matrix` and `decisions`, added up over ranks."""

from collections import Counter
from dataclasses import dataclass

from headrace.record.tables import Record

_COLUMNS = (
    *("rank", "store_read", "store_written"),
    *("opens", "read", "written", "reads", "writes", "collective_reads", "collective_writes"),
    *("time", "exchange", "wait", "copy", "store"),
)
_SUMS = _COLUMNS[3:]


@dataclass
class File:
    """One file, over all ranks that opened it. store_*: None if the library moved the bytes. Times:
    None if not measured. only_rank: the one that opened it; None if there are several, or it is not
    known."""

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
    return sorted(found.values(), key=lambda one: (-one.time, one.name))


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
    """Equal ones once, in the order of their first time."""
    found: dict[tuple[str, ...], Decision] = {}
    for node in record.nodes:
        texts = zip(*(node.texts_of("decisions", name) for name in _TEXTS), strict=True)
        numbers = node["decisions"].rows("calls", "cost")
        for words, (calls, cost) in zip(texts, numbers, strict=True):
            one = found.setdefault(words, Decision(*words))
            one.times += calls or 1
            one.cost = _plus(one.cost, cost)
    return list(found.values())
