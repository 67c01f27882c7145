"""A record's bytes -> its schema and its sections, each checked, none understood yet."""

import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from headrace.errors import HeadraceError
from headrace.record.generated.tables import FORMAT

MAGIC = b"\x89HRC\r\n\x1a\n"
MARK = b"HRS1"
NOBODY = 0xFFFFFFFF  # in the place of a table: the end; of a node: the job
MOST_SCHEMA = 1 << 20
MOST_NAMES = 4096  # tables of a schema, columns of a table

_FRONT = struct.Struct("<8sIII")
_SECTION = struct.Struct("<4sIIIII")

COPY_AGAIN = "copy it again from where it was made"


@dataclass(frozen=True)
class TableSchema:
    """A table as the record itself describes it."""

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    table: TableSchema
    node: int
    rows: int
    body: memoryview


def damaged(path: object, why: str, remedy: str = COPY_AGAIN) -> HeadraceError:
    return HeadraceError(f"the record '{path}' is damaged", why, remedy, 1)


def foreign(path: object, why: str) -> HeadraceError:
    return HeadraceError(
        f"'{path}' is no record", why, "give a file whose name ends in .hrc that Headrace wrote", 1
    )


class Sections:
    """Those of one file. After all were taken, `is_whole` says whether the end was among them."""

    def __init__(self, path: object, data: bytes):
        self.path = path
        self.is_whole = False
        self._data = memoryview(data)
        self.tables, self._start = self._schema()

    def _schema(self) -> tuple[list[TableSchema], int]:
        data = self._data
        if len(data) < len(MAGIC) and MAGIC.startswith(bytes(data)) and len(data):
            raise damaged(self.path, f"it was cut off after {len(data)} bytes")
        if bytes(data[: len(MAGIC)]) != MAGIC:
            raise foreign(self.path, "it is empty" if not len(data) else "it begins otherwise")
        if len(data) < _FRONT.size:
            raise damaged(self.path, f"it was cut off after {len(data)} bytes")
        _, number, length, check = _FRONT.unpack_from(data)
        if number > FORMAT:
            raise HeadraceError(
                f"the record '{self.path}' cannot be read",
                f"it has format {number}, this version knows formats up to {FORMAT}",
                "use the headrace command of the version that made it, or a later one",
                1,
            )
        if number < 1 or length > MOST_SCHEMA:
            raise damaged(self.path, "what it says of itself cannot be")
        text = data[_FRONT.size : _FRONT.size + length]
        if len(text) < length:
            raise damaged(self.path, f"it was cut off after {len(data)} bytes")
        if zlib.crc32(text) != check:
            raise damaged(self.path, "the checksum of its schema differs")
        return self._read_schema(bytes(text)), _FRONT.size + length

    def _read_schema(self, text: bytes) -> list[TableSchema]:
        try:
            tables = [
                TableSchema(_name(table["name"]), tuple(_name(one["name"]) for one in columns))
                for table in _some(json.loads(text)["tables"])
                for columns in [_some(table["columns"])]
            ]
            for names in ([one.name for one in tables], *(one.columns for one in tables)):
                if len(set(names)) != len(names):
                    raise ValueError
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise damaged(self.path, "its schema cannot be understood") from error
        return tables

    def __iter__(self) -> Iterator[Section]:
        place, count = self._start, 0
        while len(self._data) - place >= _SECTION.size:
            mark, table, node, rows, length, check = _SECTION.unpack_from(self._data, place)
            if mark != MARK:
                if self._is_unwritten(place):
                    return
                raise damaged(self.path, f"no section begins at byte {place}")
            start = place + _SECTION.size
            place = start + length
            body = self._data[start:place]
            if len(body) < length:
                return
            if zlib.crc32(body) != check:
                if self._is_unwritten(place - 1):
                    return
                raise damaged(self.path, f"the checksum of section {count} differs")
            if table == NOBODY:
                self._end(place, rows, count)
                return
            yield self._section(table, node, rows, body, count)
            count += 1

    def _is_unwritten(self, place: int) -> bool:
        """Whether zeros follow: a system that stopped leaves them for what was not written."""
        return not any(self._data[place:])

    def _section(self, table: int, node: int, rows: int, body: memoryview, count: int) -> Section:
        if table >= len(self.tables):
            raise damaged(self.path, f"section {count} is of table {table}, which is not described")
        if rows > len(body):
            raise damaged(self.path, f"section {count} has {rows} rows in {len(body)} bytes")
        return Section(self.tables[table], node, rows, body)

    def _end(self, place: int, sections: int, count: int) -> None:
        if sections != count:
            raise damaged(self.path, f"it has {count} sections and should have {sections}")
        if place != len(self._data):
            raise damaged(self.path, f"{len(self._data) - place} bytes lie behind its end")
        self.is_whole = True


def _name(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _some(value: object) -> list:
    if not isinstance(value, list) or len(value) > MOST_NAMES:
        raise TypeError
    return value
