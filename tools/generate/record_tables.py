"""spec/record.toml -> the tables that the command knows, and the page that describes them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from tools.generate.rendering import Output, SpecError, render

OWNERS = ("job", "node")
PLAIN_UNITS = {
    "number": "",
    "bytes": "bytes",
    "ns": "nanoseconds",
    "calls": "calls",
    "ranks": "ranks",
    "text": "text",
}


@dataclass(frozen=True)
class Column:
    """One column; see spec/record.toml for the meaning of each field."""

    name: str
    unit: str
    doc: str

    @property
    def shown_unit(self) -> str:
        """The unit as the page has it: the table that is pointed at, as a link."""
        return PLAIN_UNITS.get(self.unit, f"row of [`{self.unit}`](#{self.unit})")


@dataclass(frozen=True)
class Table:
    name: str
    of: str
    doc: str
    columns: tuple[Column, ...]


def read(path: Path) -> tuple[int, list[Table]]:
    """The format's number and all tables, in the order of the file."""
    document = tomllib.loads(path.read_text())
    tables = [
        Table(**{**entry, "columns": tuple(Column(**column) for column in entry["columns"])})
        for entry in document["tables"]
    ]
    known = {table.name for table in tables} | PLAIN_UNITS.keys()
    for table in tables:
        if table.of not in OWNERS:
            raise SpecError(f"{path.name}: {table.name} is of '{table.of}', neither job nor node")
        names = [column.name for column in table.columns]
        if len(set(names)) != len(names):
            raise SpecError(f"{path.name}: {table.name} has a column twice")
        for column in table.columns:
            if column.unit not in known:
                raise SpecError(
                    f"{path.name}: {table.name}.{column.name} has the unknown unit '{column.unit}'"
                )
    return document["format"], tables


def outputs(spec: Path) -> list[Output]:
    number, tables = read(spec / "record.toml")
    values = {"format": number, "tables": tables}
    return [
        render("record_tables.py.j2", "python/headrace/record/generated/tables.py", **values),
        render("record.md.j2", "docs/reference/record.md", **values),
    ]
