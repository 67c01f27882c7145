"""A record's timeline as JSON of the trace event format, which Perfetto (https://ui.perfetto.dev)
and chrome://tracing show: a process for each rank, a thread for each thread that calls MPI or uses
files. It is written event by event, so that large records need little memory."""

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from headrace.errors import HeadraceError, say, unwritable
from headrace.record.events import OPEN_CALL, OPEN_REGION, POSIX, REGION, STDIO, Event, events
from headrace.record.export.output import new_file
from headrace.record.tables import Node, Record

CLOCKS = (
    "Ranks of a node have one clock. Clocks of nodes are taken as they are: error_ns is by how "
    "much a node's may be wrong, as its kernel says; null: nobody sets it, or it is not known."
)
MOST_NAMED = 8
FILES = {POSIX: "posix", STDIO: "stdio"}  # their categories
NO_MPI = 1 << 24  # and the number in the kernel: lines of threads that have not called MPI
FLOWS = "Messages are not shown as arrows: which receive got which send is not recorded."


def write(records: Sequence[Record], path: Path) -> None:
    """`records`: the parts of one job, each of one file."""
    _require(records)
    new_file(path)
    try:
        with _text(path) as stream:
            _write(records, stream)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise unwritable(path, error) from error
    except HeadraceError:
        path.unlink(missing_ok=True)
        raise
    lost = sum(
        sum(node[table]["lost"])
        for _, node in _nodes(records)
        for table in ("timelines", "file_timelines")
    )
    if lost:
        say(
            f"{lost:,} earlier events are not in the timeline (there was no room for them), raise "
            "HEADRACE_TIMELINE_MEMORY"
        )
    without = _ranks_without(records)
    if without:
        ranks = ", ".join(map(str, without[:MOST_NAMED])) + (" ..." if without[MOST_NAMED:] else "")
        say(f"ranks without a timeline (there was no room, or it was not asked for): {ranks}")
    for record in records:
        if not record.is_whole:
            say(f"'{record.path}' was cut off: what is after the cut is not in the timeline")


def _ranks_without(records: Sequence[Record]) -> list[int]:
    found = []
    for _, node in _nodes(records):
        found += sorted(set(node["ranks"]["rank"]) - set(node["timelines"]["rank"]))
    return found


def _require(records: Sequence[Record]) -> None:
    if any(node["timelines"].size for _, node in _nodes(records)):
        return
    record = records[0]
    why = "it was recorded without" if record.is_whole else "it was cut off before"
    raise HeadraceError(
        f"the record '{record.path}' has no timeline", why, "run with HEADRACE_TIMELINE=1", 1
    )


@contextmanager
def _text(path: Path) -> Iterator[TextIO]:
    """Compressed if the name says so."""
    if path.name.endswith(".gz"):
        with gzip.open(path, "wt", encoding="ascii", compresslevel=6) as stream:
            yield stream
    else:
        with path.open("w", encoding="ascii") as stream:
            yield stream


def _nodes(records: Sequence[Record]) -> Iterator[tuple[Record, Node]]:
    return ((record, node) for record in records for node in record.nodes)


def _write(records: Sequence[Record], stream: TextIO) -> None:
    origin = _origin(records)
    cut = 0
    stream.write('{"traceEvents":[\n')
    before = ""
    for _, node in _nodes(records):
        for line in map(json.dumps, _names(node, origin)):
            stream.write(f"{before}{line}")
            before = ",\n"
    for record in records:
        for node, found in events(record):
            lines = _Lines(node, origin)
            for line in lines.of(found):
                stream.write(f"{before}{line}")
                before = ",\n"
            cut += lines.cut
    facts = json.dumps(_facts(records, origin, cut))
    stream.write(f'\n],\n"displayTimeUnit":"ns",\n"metadata":{facts}}}\n')


def _origin(records: Sequence[Record]) -> int:
    """When the trace begins, in ns since 1970."""
    starts = [
        start
        for _, node in _nodes(records)
        for start in (*node["ranks"]["start"], *node["timelines"]["since"])
    ]
    return min(starts, default=0)


def _names(node: Node, origin: int) -> Iterator[dict]:
    """Of processes and threads, and where the timeline of a thread begins late."""
    for rank, host in zip(node["ranks"]["rank"], node.texts_of("ranks", "host"), strict=True):
        title = f"rank {rank} on {host}" if host else f"rank {rank}"
        for name, args in (
            ("process_name", {"name": title}),
            ("process_sort_index", {"sort_index": rank}),
        ):
            yield {"name": name, "ph": "M", "pid": rank, "tid": _line_number(rank, 0), "args": args}
    for rank, thread in node["timelines"].rows("rank", "thread"):
        yield _thread_name(rank, _line_number(rank, thread), f"thread {thread}")
    for rank, thread, lost, since in node["timelines"].rows("rank", "thread", "lost", "since"):
        if lost:
            text = f"{lost:,} earlier events are not kept"
            yield _mark(text, "t", since - origin) | {
                "pid": rank,
                "tid": _line_number(rank, thread),
            }
    for rank, lost, since in node["file_timelines"].rows("rank", "lost", "since"):
        if lost:
            text = f"{lost:,} earlier calls on files are not kept"
            yield _mark(text, "p", since - origin) | {"pid": rank, "tid": _line_number(rank, 0)}


def _thread_name(rank: int, line: int, name: str) -> dict:
    return {"name": "thread_name", "ph": "M", "pid": rank, "tid": line, "args": {"name": name}}


def _mark(text: str, scope: str, ns: int) -> dict:
    return {"name": text, "ph": "i", "s": scope, "ts": ns / 1000}


class _Lines:
    """The events of one node as JSON. `cut`: those that end before what began in them did, which
    viewers do not show: they are shown as long as they fit."""

    def __init__(self, node: Node, origin: int):
        self.cut = 0
        self._origin = origin
        self._texts = node.texts
        self._regions = dict(_regions(node))
        self._communicators = [
            f'"communicator":{json.dumps(name)},"ranks":{size}' if name else f'"ranks":{size}'
            for name, size in zip(
                node.texts_of("communicators", "name"), node["communicators"]["size"], strict=True
            )
        ]
        self._quoted: dict[str, str] = {}

    def of(self, found: Iterable[Event]) -> Iterator[str]:
        rank, thread = -1, -1
        open_ends: dict[
            int, list[int]
        ] = {}  # by line: of the events that the present one may be in
        for event in found:
            if event[:2] != (rank, thread):
                rank, thread = event[:2]
                open_ends = {}
            line = _line_of(event)
            if line not in open_ends:
                open_ends[line] = []
                if event.thread < 0:
                    name = f"thread without MPI ({event.system_thread})"
                    yield json.dumps(_thread_name(rank, line, name))
            ends = open_ends[line]
            while ends and ends[-1] <= event.begin:
                ends.pop()
            if event.kind in (OPEN_CALL, OPEN_REGION):
                yield self._line(event, '"ph":"B"', '"ended":false')
                continue
            end = event.begin + event.time
            note = ""
            if ends and end > ends[-1]:
                end = ends[-1]
                note = f'"whole_time_ns":{event.time}'
                self.cut += 1
            ends.append(end)
            yield self._line(event, f'"ph":"X","dur":{_us(end - event.begin)}', note)

    def _line(self, event: Event, phase: str, note: str) -> str:
        kind, name = self._described(event)
        return (
            f'{{"name":{name},"cat":"{kind}",{phase},"ts":{_us(event.begin - self._origin)},'
            f'"pid":{event.rank},"tid":{_line_of(event)},"args":{{{self._args(event, note)}}}}}'
        )

    def _described(self, event: Event) -> tuple[str, str]:
        """Its category and name."""
        if event.kind in (REGION, OPEN_REGION):
            return "region", self._region(event.region)
        name = self._text(event.procedure)
        if event.kind in FILES:
            return FILES[event.kind], name
        return ("mpi-io" if name.startswith('"MPI_File_') else "mpi"), name

    def _args(self, event: Event, note: str) -> str:
        if event.kind in (REGION, OPEN_REGION):
            return note
        parts = [note] if note else []
        if event.file >= 0:
            parts.append(f'"file":{self._text(event.file)}')
        if event.kind == POSIX and event.offset >= 0:
            parts.append(f'"offset":{event.offset}')
        if event.sent:
            parts.append(f'"{"written" if event.file >= 0 else "sent"}":{event.sent}')
        if event.received:
            parts.append(f'"{"read" if event.file >= 0 else "received"}":{event.received}')
        if event.peer >= 0:
            parts.append(f'"peer":{event.peer}')
        elif event.peer != -1:
            parts.append('"peer":"outside MPI_COMM_WORLD"')
        if 0 <= event.communicator < len(self._communicators):
            parts.append(self._communicators[event.communicator])
        if event.region:
            parts.append(f'"region":{self._region(event.region)}')
        return ",".join(parts)

    def _text(self, place: int) -> str:
        return self._quote(self._texts[place] if 0 <= place < len(self._texts) else "(unknown)")

    def _region(self, region: int) -> str:
        return self._quote(self._regions.get(region, f"region #{region}"))

    def _quote(self, text: str) -> str:
        """As JSON, in ASCII: control characters and quotes cannot break it."""
        quoted = self._quoted.get(text)
        if quoted is None:
            quoted = self._quoted[text] = json.dumps(text)
        return quoted


def _regions(node: Node) -> Iterator[tuple[int, str]]:
    """Regions by the node's number of them."""
    labels = node.texts_of("regions", "label")
    rows = node["regions"].rows("region", "id")
    for (region, id), label in zip(rows, labels, strict=True):
        yield region, label or (f"region {id}" if id >= 0 else "(other regions)")


def _line_of(event: Event) -> int:
    if event.thread < 0:
        return NO_MPI + event.system_thread
    return _line_number(event.rank, event.thread)


def _line_number(rank: int, thread: int) -> int:
    """Perfetto takes the line whose number is its process's for that of the main thread, and 0 for
    it, too: so no other line of the process may have one of these."""
    return rank + thread


def _us(ns: int) -> str:
    """Microseconds, exactly."""
    sign = "-" if ns < 0 else ""
    whole, rest = divmod(abs(ns), 1000)
    return f"{sign}{whole}.{rest:03d}" if rest else f"{sign}{whole}"


def _facts(records: Sequence[Record], origin: int, cut: int) -> dict:
    facts = records[0].facts
    return {
        "record": {
            name: facts[name]
            for name in ("command", "ranks", "nodes", "mpi", "start", "complete")
            if name in facts
        },
        "origin_ns": origin,
        "is_whole": all(record.is_whole for record in records),
        "cut_to_fit": cut,
        "ranks_without": _ranks_without(records),
        "threads": [
            {"rank": rank, "thread": thread, "events": kept, "lost": lost, "since_us": since / 1000}
            for _, node in _nodes(records)
            for rank, thread, kept, lost, since in (
                (*row[:4], row[4] - origin)
                for row in node["timelines"].rows("rank", "thread", "events", "lost", "since")
            )
        ],
        "files": [
            {"rank": rank, "events": kept, "lost": lost, "since_us": (since - origin) / 1000}
            for _, node in _nodes(records)
            for rank, kept, lost, since in node["file_timelines"].rows(
                "rank", "events", "lost", "since"
            )
        ],
        "clocks": {
            "what": CLOCKS,
            "nodes": [_clock(number, node) for number, (_, node) in enumerate(_nodes(records))],
        },
        "flows": FLOWS,
    }


def _clock(number: int, node: Node) -> dict:
    errors = node["timelines"]["clock_error"]
    known = [error for error in errors if error >= 0]
    return {
        "node": number,
        "host": next(iter(node.texts_of("ranks", "host")), ""),
        "error_ns": max(known) if known and len(known) == len(errors) else None,
    }
