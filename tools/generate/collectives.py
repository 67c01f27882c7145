"""spec/collectives.toml -> the table of collective operations that the layer carries out, for it
and for the command."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tools.generate.rendering import Output, SpecError, render

SHAPE = re.compile(r"([1-9]\d*)x([1-9]\d*)", re.ASCII)


def outputs(spec: Path) -> list[Output]:
    path = spec / "collectives.toml"
    data = tomllib.loads(path.read_text())
    for key in ("machine", "date", "source"):
        if not data["origin"].get(key):
            raise SpecError(f"{path.name}: the origin lacks its {key}")
    libraries = {one["name"]: one for one in data["library"]}
    for one in libraries.values():
        one["major"] = int(one["version"].partition(".")[0])
    for use in data["use"]:
        shape = SHAPE.fullmatch(use["nodes"])
        if use["library"] not in libraries or shape is None:
            raise SpecError(f"{path.name}: no such library or number of nodes: {use}")
        use["node_count"], use["ranks"] = int(shape[1]), int(shape[2])
        use["of"] = libraries[use["library"]]
        if use["least"] > use["most"] or use["gain"] <= 1:
            raise SpecError(f"{path.name}: an empty range, or nothing gained: {use}")
    return [
        render(
            "collective_uses.h.j2",
            "src/collective/generated/uses.h",
            origin=data["origin"],
            libraries=libraries.values(),
            uses=data["use"],
        ),
        render(
            "collective_uses.py.j2",
            "python/headrace/analysis/generated/collective_uses.py",
            uses=[use for use in data["use"] if use["node_count"] == 1],
        ),
    ]
