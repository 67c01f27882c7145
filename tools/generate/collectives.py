"""spec/collectives.toml -> the table of collective operations that the layer carries out."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tools.generate.rendering import Output, SpecError, render

LIBRARIES = ("mpich", "intel", "openmpi")
NODES = ("one", "several")


def outputs(spec: Path) -> list[Output]:
    path = spec / "collectives.toml"
    data = tomllib.loads(path.read_text())
    for key in ("machine", "date", "source"):
        if not data["origin"].get(key):
            raise SpecError(f"{path.name}: the origin lacks its {key}")
    for use in data["use"]:
        if use["library"] not in LIBRARIES or use["nodes"] not in NODES:
            raise SpecError(f"{path.name}: no such library or number of nodes: {use}")
        if use["least"] > use["most"] or use["gain"] <= 1:
            raise SpecError(f"{path.name}: an empty range, or nothing gained: {use}")
    return [
        render(
            "collective_uses.h.j2",
            "src/collective/generated/uses.h",
            origin=data["origin"],
            libraries=LIBRARIES,
            uses=data["use"],
        )
    ]
