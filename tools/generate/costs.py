"""spec/costs.toml -> the numbers of the cost model."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

from tools.generate.rendering import Output, SpecError, render


def outputs(spec: Path) -> list[Output]:
    """The header with all costs and where they are from, and the command's table of them."""
    path = spec / "costs.toml"
    data = tomllib.loads(path.read_text())
    for key in ("machine", "date", "source"):
        if not data["origin"].get(key):
            raise SpecError(f"{path.name}: the origin lacks its {key}")
    names = [entry["name"] for entry in (*data["path"], *data["common"])]
    for name in _repeated(names):
        raise SpecError(f"{path.name}: {name} is there twice")
    for entry in data["path"]:
        if len(entry["value"]) != 2:
            raise SpecError(f"{path.name}: {entry['name']} has no two values (write, read)")
    costs = {"directed": data["path"], "common": data["common"]}
    return [
        render("costs.h.j2", "src/policy/generated/costs.h", origin=data["origin"], **costs),
        render("costs.py.j2", "python/headrace/tune/generated/costs.py", **costs),
    ]


def _repeated(names: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    return [name for name in names if name in seen or seen.add(name)]
