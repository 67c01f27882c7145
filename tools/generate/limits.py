"""spec/limits.toml -> the command's table of limits, and the reference page."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tools.generate.rendering import Output, SpecError, render

FIELDS = {"variable", "mpis", "value", "action", "prevents", "source", "tried"}


def outputs(spec: Path) -> list[Output]:
    rows = tomllib.loads((spec / "limits.toml").read_text())["limits"]
    for row in rows:
        lacking = FIELDS - set(row)
        if lacking:
            raise SpecError(f"spec/limits.toml: {row.get('variable')} lacks {sorted(lacking)}")
    rows = [{"least": 0, "most": 0, "on": "", **row} for row in rows]
    return [
        render("limits.py.j2", "python/headrace/launch/generated/limits.py", rows=rows),
        render("limits.md.j2", "docs/reference/limits.md", rows=rows),
    ]
