"""spec/library_algorithms.toml -> the command's table of libraries' algorithms, and the reference
page."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from tools.generate.rendering import Output, SpecError, render

FORMS = ("variable", "ranges", "rules")
FIELDS = {"library", "operation", "variable"}
DEFAULTS = {
    "also": {},
    "rule": 0,
    "presets": 0,
    "without": [],
    "sizes": "",
    "covers": False,
    "communicators": False,
    "reduces": False,
}


def outputs(spec: Path) -> list[Output]:
    data = tomllib.loads((spec / "library_algorithms.toml").read_text())
    forms = {one["name"]: one["form"] for one in data["library"]}
    knobs = [_knob(row, forms) for row in data["knob"]]
    if len({(one["library"], one["operation"]) for one in knobs}) != len(knobs):
        raise SpecError("spec/library_algorithms.toml: an operation is there twice")
    values = {"libraries": data["library"], "knobs": knobs}
    table = "python/headrace/algorithms/generated/table.py"
    return [
        render("library_algorithms.py.j2", table, **values),
        render("library_algorithms.md.j2", "docs/reference/library_algorithms.md", **values),
    ]


def _knob(row: dict[str, Any], forms: dict[str, str]) -> dict[str, Any]:
    name = f"spec/library_algorithms.toml: {row.get('library')} {row.get('operation')}"
    form = forms.get(row.get("library", ""))
    if FIELDS - set(row) or form not in FORMS or not ("presets" in row) ^ ("algorithms" in row):
        raise SpecError(f"{name} lacks something, or has no such library")
    if row.get("sizes", "") not in ("", "block", "all"):
        raise SpecError(f"{name} has other sizes than of a block, or all")
    names = row.get("algorithms") or {f"preset_{i}": str(i) for i in _presets(row)}
    return {**DEFAULTS, **row, "algorithms": names}


def _presets(row: dict[str, Any]) -> list[int]:
    without = row.get("without", [])
    return [number for number in range(1, row["presets"] + 1) if number not in without]
