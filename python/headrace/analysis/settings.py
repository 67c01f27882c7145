"""What was in force on the nodes: settings with their origin, variables of the environment."""

from dataclasses import dataclass

from headrace.record.tables import Record


@dataclass(frozen=True)
class Setting:
    """`nodes`: on how many it had this value."""

    name: str
    value: str
    origin: str
    nodes: int


def settings(record: Record) -> tuple[Setting, ...]:
    return _counted(record, "settings", ("name", "value", "origin"))


def variables(record: Record) -> tuple[Setting, ...]:
    return _counted(record, "variables", ("name", "value"))


def _counted(record: Record, table: str, columns: tuple[str, ...]) -> tuple[Setting, ...]:
    found: dict[tuple[str, str, str], int] = {}
    for node in record.nodes:
        rows = set(zip(*(node.texts_of(table, name) for name in columns), strict=True))
        for row in rows:
            name, value, *origin = row
            key = (name, value, origin[0] if origin else "environment")
            found[key] = found.get(key, 0) + 1
    return tuple(Setting(*key, nodes) for key, nodes in sorted(found.items()))
