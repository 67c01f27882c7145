"""A record's table `events`, row by row: it may be too large to be held in memory as a whole."""

from collections.abc import Iterator
from itertools import repeat
from operator import gt, lt
from typing import NamedTuple

from headrace.errors import HeadraceError
from headrace.record.checks import LEAST, MAY_BE_NEGATIVE, MOST
from headrace.record.columns import Malformed, stream
from headrace.record.generated.tables import TABLES
from headrace.record.reader import EVENTS, file_bytes, packed_columns
from headrace.record.sections import Section, Sections, damaged
from headrace.record.tables import Node, Record, fill, points_at

LARGEST = (1 << 63) - 1

Row = tuple[int, ...]


class Event(NamedTuple):
    """A row, in the order of spec/record."""

    rank: int
    thread: int
    kind: int
    procedure: int
    region: int
    communicator: int
    peer: int
    sent: int
    received: int
    begin: int
    time: int
    file: int
    offset: int
    system_thread: int


CALL, REGION, OPEN_CALL, OPEN_REGION, POSIX, STDIO = range(6)


def events(record: Record) -> Iterator[tuple[Node, Iterator[Event]]]:
    """The events of each node, of a record of one file. They are checked as they are come to: what
    cannot be raises HeadraceError. Those of a thread stand together, by their begin; threads that
    have not called MPI are -1, all together."""
    sections = Sections(record.path, file_bytes(record.path))
    nodes = {node.number: node for node in record.nodes}
    seen: set[int] = set()
    for section in sections:
        if section.table.name != EVENTS:
            continue
        if section.node in seen:
            raise _damaged(record, section.node, "the table is there twice")
        seen.add(section.node)
        node = nodes.get(section.node)
        if node is None:
            raise _damaged(record, section.node, "the node has no other table")
        yield node, _checked(record, node, section)


def _damaged(record: Record, node: int, why: str) -> HeadraceError:
    return damaged(record.path, f"{why}, in table {EVENTS} of node {node}")


def _checked(record: Record, node: Node, section: Section) -> Iterator[Event]:
    least, most = zip(*_bounds(node, record.is_whole), strict=True)
    last = (-1, -1, 0)
    done: set[tuple[int, int]] = set()
    try:
        for row in _rows(section):
            if any(map(lt, row, least)) or any(map(gt, row, most)):
                raise Malformed(f"there is the row {row}, which cannot be")
            event = Event._make(row)
            thread = event.rank, event.thread
            if thread != last[:2]:
                if thread in done:
                    raise Malformed(f"events of thread {event.thread} do not stand together")
                done.add(thread)
            elif event.begin < last[2]:
                raise Malformed(f"an event of thread {event.thread} begins before the last one")
            last = (*thread, event.begin)
            yield event
    except Malformed as error:
        raise _damaged(record, node.number, str(error)) from error


def _rows(section: Section) -> Iterator[Row]:
    """Raises Malformed if columns have not as many values as there should be rows."""
    found = {
        name: stream(packed, data, section.rows) for name, packed, data in packed_columns(section)
    }
    missing = fill(EVENTS, 1, {}).columns
    order = [found.get(name, repeat(missing[name][0], section.rows)) for name in Event._fields]
    count = 0
    try:
        for row in zip(*order, strict=True):
            count += 1
            yield row
    except ValueError as error:
        raise Malformed("its columns have different lengths") from error
    if count != section.rows:
        raise Malformed(f"there are {count} rows of {section.rows}")


def _bounds(node: Node, is_whole: bool) -> list[tuple[int, int]]:
    """The least and the greatest that may be in each column. In a record that was cut off, what is
    pointed at may lie behind the cut: then the reader gives no name."""
    made = []
    for column, unit in TABLES[EVENTS][1]:
        target = points_at(unit)
        key = (EVENTS, column)
        if target is None:
            made.append((LEAST if key in MAY_BE_NEGATIVE else 0, MOST.get(key, LARGEST)))
        elif target in node.tables or is_whole:
            made.append((-1, node[target].size - 1))
        else:
            made.append((-1, LARGEST))
    return made
