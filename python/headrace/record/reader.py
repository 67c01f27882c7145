"""Reads a record. It may come from anywhere: what cannot be is refused with one clear line, and no
number in it makes the reader take more memory or time than its bytes warrant."""

import os
import stat
import struct
from collections.abc import Iterator
from pathlib import Path

from headrace.errors import HeadraceError
from headrace.record.checks import check_node
from headrace.record.columns import TEXTS, Column, Malformed, unpack
from headrace.record.generated.tables import TABLES
from headrace.record.sections import Section, Sections, TableSchema, damaged
from headrace.record.tables import JOB, Node, Record, Table, fill, job_facts

LARGEST = 1 << 30  # a hundred times what 4,096 ranks make, and several times what timelines do
EVENTS = "events"

_COLUMN = struct.Struct("<BI")


def read(path: Path, with_events: bool = False) -> Record:
    """The record in a file. Raises HeadraceError. One that was cut off is read up to the cut.
    Table `events` may be larger than all others together: few need it."""
    sections = Sections(path, file_bytes(path))
    nodes: dict[int, Node] = {}
    for section in sections:
        name = section.table.name
        if name not in TABLES or (name == EVENTS and not with_events):
            continue
        node = nodes.setdefault(section.node, Node(section.node))
        if name in node.tables:
            raise damaged(path, f"table {name} of node {section.node} is there twice")
        try:
            node.tables[name] = _table(section)
        except Malformed as error:
            raise damaged(path, f"{error}, in table {name} of node {section.node}") from error
    for node in nodes.values():
        check_node(node, sections.is_whole, lambda why: damaged(path, why))
    job = nodes.pop(JOB, Node(JOB))
    ordered = [nodes[number] for number in sorted(nodes)]
    missing = _missing(sections.tables)
    record = Record(path, job_facts(job), ordered, sections.is_whole, missing)
    _check_ranks(record)
    return record


def file_bytes(path: Path) -> bytes:
    try:
        # Not to wait for the other end of a pipe.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise HeadraceError(
                    f"'{path}' is no record", "it is no file", "give a file that ends in .hrc", 1
                )
            if status.st_size > LARGEST:
                raise HeadraceError(
                    f"'{path}' is not read",
                    f"it has {status.st_size} bytes, and a record at most {LARGEST}",
                    "give a file that Headrace wrote",
                    1,
                )
            return stream.read(status.st_size)
    except IsADirectoryError as error:
        raise HeadraceError(
            f"'{path}' is no record", "it is a directory", "give a file that ends in .hrc", 1
        ) from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise HeadraceError(f"'{path}' cannot be read", why, "check its name", 1) from error


def packed_columns(section: Section) -> Iterator[tuple[str, int, memoryview]]:
    """Those of the table that this version knows: name, way of packing, bytes."""
    name = section.table.name
    known = dict(TABLES[name][1])
    place = 0
    for column in section.table.columns:
        header = section.body[place : place + _COLUMN.size]
        if len(header) < _COLUMN.size:
            raise Malformed(f"column {column} is cut off")
        packed, length = _COLUMN.unpack(header)
        place += _COLUMN.size
        data = section.body[place : place + length]
        if len(data) < length:
            raise Malformed(f"column {column} is cut off")
        place += length
        if column not in known:
            continue
        if (packed == TEXTS) != (name == "texts"):
            raise Malformed(f"column {column} is packed as another kind of values")
        yield column, packed, data
    if place != len(section.body):
        raise Malformed(f"{len(section.body) - place} bytes lie behind the last column")


def _table(section: Section) -> Table:
    """The columns that this version knows, unpacked."""
    name = section.table.name
    columns: dict[str, Column] = {
        column: unpack(packed, data, section.rows)
        for column, packed, data in packed_columns(section)
    }
    if name == "texts" and "text" not in columns:
        raise Malformed("it has no column text")
    return fill(name, section.rows, columns)


def _missing(schema: list[TableSchema]) -> tuple[str, ...]:
    present = {table.name: set(table.columns) for table in schema}
    return tuple(
        name if name not in present else f"{name}.{column}"
        for name, (_, columns) in TABLES.items()
        for column, _ in (columns if name in present else columns[:1])
        if name not in present or column not in present[name]
    )


def _check_ranks(record: Record) -> None:
    seen: set[int] = set()
    for node in record.nodes:
        for rank in node["ranks"]["rank"]:
            if rank in seen:
                raise damaged(record.path, f"rank {rank} is there twice")
            seen.add(rank)
