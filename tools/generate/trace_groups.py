"""spec/trace_groups.toml -> the core's table of groups, the command's, and the page on them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from tools.generate.rendering import Output, SpecError, render

MOST_SIZES = 2
# Bytes of arguments on the stack of functions of which nothing is known.
MOST_STACK = 512


def outputs(spec: Path) -> list[Output]:
    data = tomllib.loads((spec / "trace_groups.toml").read_text())
    traced = [
        {"libraries": [], "stack": MOST_STACK, **group}
        for group in data["groups"]
        if "not_traced" not in group
    ]
    _check(data, traced)
    context = {
        "traced": traced,
        "not_traced": [group for group in data["groups"] if "not_traced" in group],
        "sets": data["sets"],
        "never": data["never"],
        "bytes": [{"sizes": [], "result": False, **rule} for rule in data["bytes"]],
    }
    return [
        render("trace_groups.h.j2", "src/trace/generated/groups.h", **context),
        render(
            "trace_groups.py.j2", "python/headrace/profile/generated/trace_groups.py", **context
        ),
        render("trace-groups.md.j2", "docs/reference/trace-groups.md", **context),
    ]


def _check(data: dict[str, Any], traced: list[dict[str, Any]]) -> None:
    names = {group["name"] for group in traced}
    for own in data["sets"]:
        if not set(own["groups"]) <= names:
            raise SpecError(f"trace_groups.toml: {own['name']} has a group that is not there")
    seen: set[str] = set()
    for rule in data["bytes"]:
        if len(rule.get("sizes", ())) > MOST_SIZES or not (rule.get("sizes") or rule.get("result")):
            raise SpecError("trace_groups.toml: a rule of bytes has no size, or too many")
        for name in rule["functions"]:
            if name in seen:
                raise SpecError(f"trace_groups.toml: {name} has two rules of bytes")
            seen.add(name)
