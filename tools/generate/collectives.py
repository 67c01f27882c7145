"""spec/collectives.toml -> the table of collective operations that the layer carries out."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tools.generate.rendering import Output, SpecError, render

LIBRARIES = ("mpich", "intel", "openmpi")
SHAPE = re.compile(r"([1-9]\d*)x([1-9]\d*)", re.ASCII)


def outputs(spec: Path) -> list[Output]:
    path = spec / "collectives.toml"
    data = tomllib.loads(path.read_text())
    for key in ("machine", "date", "source"):
        if not data["origin"].get(key):
            raise SpecError(f"{path.name}: the origin lacks its {key}")
    for use in data["use"]:
        measured = _measured_nodes(use["nodes"])
        if use["library"] not in LIBRARIES or measured is None:
            raise SpecError(f"{path.name}: no such library or number of nodes: {use}")
        use["measured"] = measured
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


def _measured_nodes(text: str) -> str | None:
    """The C++ of "one", or of nodes and ranks of each, such as "4x2"; None for anything else."""
    if text == "one":
        return "kOneNode"
    shape = SHAPE.fullmatch(text)
    return f"{{{shape[1]}, {shape[2]}}}" if shape and int(shape[1]) > 1 else None
