"""spec/record/*.toml -> the tables that the core and the command know, and the page on them."""

from __future__ import annotations

import json
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
    """One column; see spec/record for the meaning of each field."""

    name: str
    unit: str
    doc: str

    @property
    def shown_unit(self) -> str:
        """The unit as the page has it: the table that is pointed at, as a link."""
        return PLAIN_UNITS.get(self.unit, f"row of [`{self.unit}`](#{self.unit})")

    @property
    def member(self) -> str:
        """The name in C++."""
        return f"{self.name}_" if self.name == "class" else self.name

    @property
    def absent(self) -> int:
        """What stands for nothing: -1 for places."""
        return 0 if self.unit in PLAIN_UNITS and self.unit != "text" else -1


@dataclass(frozen=True)
class Table:
    name: str
    of: str
    doc: str
    columns: tuple[Column, ...]

    @property
    def row_name(self) -> str:
        """The name in C++ of one of its rows."""
        return "".join(map(str.capitalize, self.name.split("_"))) + "Row"


def schema(number: int, tables: list[Table]) -> list[str]:
    """What a record carries at its front, in pieces of a line."""
    described = [
        json.dumps(
            {
                "name": table.name,
                "of": table.of,
                "columns": [{"name": one.name, "unit": one.unit} for one in table.columns],
            },
            separators=(",", ":"),
        )
        for table in tables
    ]
    ends = [","] * (len(described) - 1) + ["]}"]
    joined = [table + end for table, end in zip(described, ends, strict=True)]
    return [f'{{"format":{number},"tables":[', *joined]


def read(folder: Path) -> tuple[int, list[Table]]:
    """The format's number and all tables, in the order of the files."""
    documents = [tomllib.loads(path.read_text()) for path in sorted(folder.glob("*.toml"))]
    (number,) = (one["format"] for one in documents if "format" in one)
    tables = [
        Table(**{**entry, "columns": tuple(Column(**column) for column in entry["columns"])})
        for document in documents
        for entry in document["tables"]
    ]
    known = {table.name for table in tables} | PLAIN_UNITS.keys()
    for table in tables:
        if table.of not in OWNERS:
            raise SpecError(f"{folder}: {table.name} is of '{table.of}', neither job nor node")
        names = [column.name for column in table.columns]
        if len(set(names)) != len(names):
            raise SpecError(f"{folder}: {table.name} has a column twice")
        for column in table.columns:
            if column.unit not in known:
                raise SpecError(
                    f"{folder}: {table.name}.{column.name} has the unknown unit '{column.unit}'"
                )
    return number, tables


def outputs(spec: Path) -> list[Output]:
    number, tables = read(spec / "record")
    values = {"format": number, "tables": tables, "schema": schema(number, tables)}
    return [
        render("record_tables.h.j2", "src/record/generated/tables.h", **values),
        render("record_tables.py.j2", "python/headrace/record/generated/tables.py", **values),
        render("record.md.j2", "docs/reference/record.md", **values),
    ]
