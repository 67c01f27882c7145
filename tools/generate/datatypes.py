"""spec/datatypes.toml -> the table of predefined datatypes that external32 uses."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from tools.generate.rendering import Output, SpecError, render

KINDS = (
    *("bytes", "signed_integer", "unsigned_integer", "boolean", "logical"),
    *("floating", "long_double"),
)


@dataclass(frozen=True)
class Datum:
    """A datum of one predefined type; see spec/datatypes.toml for the fields."""

    kind: str
    values: int
    size: int


@dataclass(frozen=True)
class Datatype:
    """A predefined type: one datum, or two."""

    name: str
    data: tuple[Datum, ...]


def read(path: Path) -> list[Datatype]:
    """All types, sorted by name, which the table's users rely on."""
    spec = tomllib.loads(path.read_text())
    data: dict[str, Datum] = {}
    for group in spec["group"]:
        if group["kind"] not in KINDS:
            raise SpecError(f"{path.name}: the kind '{group['kind']}' is unknown")
        for name, size in group["sizes"].items():
            if name in data:
                raise SpecError(f"{path.name}: {name} is there twice")
            data[name] = Datum(group["kind"], group.get("values", 1), size)
    types = [Datatype(name, (datum,)) for name, datum in data.items()]
    for name, members in spec["pairs"].items():
        if len(members) != 2 or not set(members) <= set(data):
            raise SpecError(f"{path.name}: {name} is no pair of two types")
        types.append(Datatype(name, tuple(data[member] for member in members)))
    return sorted(types, key=lambda datatype: datatype.name)


def outputs(spec: Path) -> list[Output]:
    types = read(spec / "datatypes.toml")
    return [render("predefined_types.h.j2", "src/abi/generated/predefined_types.h", types=types)]
