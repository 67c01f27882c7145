"""Tables `files` and `matrix`, added up over ranks."""

import posixpath
from collections import Counter
from dataclasses import dataclass

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


def absolute(name: str, directory: str) -> str:
    """Of a name that the program gave MPI. directory: in which the program was started; names may
    begin there."""
    if name.startswith("/") or not directory or ":" in name or name.startswith(("file-", "(")):
        return name
    return posixpath.normpath(posixpath.join(directory, name))


def files(record: Record) -> list[File]:
    """Those that took most time first. One that was opened by two names has the first."""
    directory = record.facts.get("directory", "")
    found: dict[str, File] = {}
    seen: set[tuple[str, int]] = set()
    for node in record.nodes:
        names = node.texts_of("files", "file")
        for name, row in zip(names, node["files"].rows(*_COLUMNS), strict=True):
            rank, store_read, store_written, *sums = row
            key = absolute(name, directory)
            file = found.setdefault(key, File(name))
            file.ranks += (key, rank) not in seen
            seen.add((key, rank))
            file.only_rank = rank if file.ranks == 1 else None
            file.store_read = plus(file.store_read, store_read)
            file.store_written = plus(file.store_written, store_written)
            for column, value in zip(_SUMS, sums, strict=True):
                setattr(file, column, getattr(file, column) + value)
    if "files.read_requests" not in record.missing:
        _add_storage(record, found, directory)
    return sorted(found.values(), key=lambda one: (-one.time, one.name))


def _add_storage(record: Record, files: dict[str, File], directory: str) -> None:
    """files: by absolute names."""
    aggregators: set[tuple[str, int, bool]] = set()
    for node in record.nodes:
        table = node["files"]
        parts = (table.rows(*names) for names in (("rank", "unit"), _READS, _WRITES, _STORAGE))
        names = node.texts_of("files", "file")
        for name, (rank, unit), reads, writes, rest in zip(names, *parts, strict=True):
            key = absolute(name, directory)
            file = files[key]
            if file.store_read is None:
                continue
            one = file.storage = file.storage or Storage(unit, Counter(), Counter())
            one.unit = max(one.unit, unit)
            own = [dict(zip(REQUESTS, row, strict=True)) for row in (reads, writes)]
            one.reads.update(own[0])
            one.writes.update(own[1])
            aggregators.update((key, rank, at > 0) for at in (0, 1) if own[at]["collective"])
            for column, value in zip(_STORAGE, rest, strict=True):
                setattr(one, column, getattr(one, column) + value)
    for key, _, is_write in aggregators:
        files[key].storage.write_aggregators += is_write
        files[key].storage.read_aggregators += not is_write


def by_rank(record: Record, column: str) -> dict[int, int]:
    """Each rank's sum of all files."""
    found: Counter[int] = Counter()
    for node in record.nodes:
        for rank, value in node["files"].rows("rank", column):
            found[rank] += value
    return dict(found)


def plus(sum_so_far: int | None, value: int) -> int | None:
    """None: nothing is known. A value below 0 is not known."""
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
