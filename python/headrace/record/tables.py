"""What a record holds, once it is read: tables by node."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headrace.record.columns import Column, Constant
from headrace.record.generated.tables import TABLES
from headrace.record.sections import NOBODY

PLAIN_UNITS = ("number", "bytes", "ns", "calls", "ranks")


def points_at(unit: str) -> str | None:
    """The table in which a column's values are places; None if they are numbers."""
    if unit == "text":
        return "texts"
    return unit if unit not in PLAIN_UNITS else None


@dataclass
class Table:
    """The rows of one table of one node. All columns that this version knows are there."""

    name: str
    size: int
    columns: dict[str, Column]

    def __getitem__(self, column: str) -> Sequence[int]:
        return self.columns[column]

    def rows(self, *names: str) -> Iterator[tuple[int, ...]]:
        """The rows, of each the named columns."""
        return zip(*(self.columns[name] for name in names), strict=True)


def fill(name: str, size: int, columns: dict[str, Column]) -> Table:
    """A table with all columns that are known: -1 stands for missing places, 0 for numbers."""
    for column, unit in TABLES[name][1]:
        if column not in columns:
            columns[column] = Constant(-1 if points_at(unit) else 0, size)
    return Table(name, size, columns)


@dataclass
class Node:
    """The tables of one node, or of the job."""

    number: int
    tables: dict[str, Table] = field(default_factory=dict)

    def __getitem__(self, table: str) -> Table:
        return self.tables.get(table) or fill(table, 0, {})

    @property
    def texts(self) -> Sequence[str]:
        return self["texts"].columns["text"]

    def text(self, place: int) -> str:
        return self.texts[place] if place >= 0 else ""

    def texts_of(self, table: str, column: str) -> list[str]:
        """A column of texts, as texts."""
        texts = self.texts
        return [texts[place] if place >= 0 else "" for place in self[table][column]]


@dataclass
class Record:
    """`facts`: what is known of the whole job, by name. `missing`: tables and columns that this
    version knows and the record does not describe."""

    path: Path
    facts: dict[str, str]
    nodes: list[Node]
    is_whole: bool
    missing: tuple[str, ...] = ()


def job_facts(job: Node) -> dict[str, str]:
    return dict(
        zip(job.texts_of("job", "name"), job.texts_of("job", "value"), strict=True),
    )


JOB = NOBODY
