"""A record's tables over all nodes: texts in place of their places, and places that hold over all
nodes. What all exports write."""

from collections.abc import Iterator
from dataclasses import dataclass

from headrace.record.generated.tables import TABLES
from headrace.record.tables import Node, Record, points_at

Value = int | str | None
TEXTS = "texts"
# Tables that others point at; their rows are numbered over all nodes.
NUMBERED = frozenset(
    target
    for _, columns in TABLES.values()
    for _, unit in columns
    for target in [points_at(unit)]
    if target not in (None, TEXTS)
)


@dataclass(frozen=True)
class FlatColumn:
    """`target`: the table whose `id` the column names, if it does."""

    name: str
    is_text: bool = False
    target: str | None = None


@dataclass(frozen=True)
class FlatTable:
    name: str
    columns: tuple[FlatColumn, ...]


def tables() -> list[FlatTable]:
    """All that are exported."""
    return [
        FlatTable(name, (*_own(name, of), *map(_column, *zip(*columns, strict=True))))
        for name, (of, columns) in TABLES.items()
        if name != TEXTS
    ]


def _own(name: str, of: str) -> list[FlatColumn]:
    """Columns that only exports have."""
    made = [FlatColumn("id")] if name in NUMBERED else []
    return made if of == "job" else [*made, FlatColumn("node")]


def _column(name: str, unit: str) -> FlatColumn:
    target = points_at(unit)
    if target == TEXTS:
        return FlatColumn(name, is_text=True)
    return FlatColumn(name, target=target)


def rows(record: Record, table: FlatTable) -> Iterator[tuple[Value, ...]]:
    """The rows of all nodes."""
    if TABLES[table.name][0] == "job":
        yield from record.facts.items()
        return
    starts = dict.fromkeys(NUMBERED, 0)
    for node in record.nodes:
        yield from _node_rows(node, table, starts)
        for name in NUMBERED:
            starts[name] += node[name].size


def _node_rows(node: Node, table: FlatTable, starts: dict[str, int]) -> Iterator[tuple[Value, ...]]:
    size = node[table.name].size
    columns: list[Iterator[Value]] = []
    for column in table.columns:
        if column.name == "id" and table.name in NUMBERED:
            columns.append(iter(range(starts[table.name], starts[table.name] + size)))
        elif column.name == "node":
            columns.append(iter([node.number] * size))
        elif column.is_text:
            columns.append(_texts(node, table.name, column.name))
        else:
            start = starts[column.target] if column.target else None
            columns.append(_numbers(node, table.name, column.name, start))
    yield from zip(*columns, strict=True)


def _texts(node: Node, table: str, column: str) -> Iterator[str | None]:
    texts = node.texts
    return (texts[place] if place >= 0 else None for place in node[table][column])


def _numbers(node: Node, table: str, column: str, start: int | None) -> Iterator[int | None]:
    values = node[table][column]
    if start is None:
        return iter(values)
    return (start + place if place >= 0 else None for place in values)
