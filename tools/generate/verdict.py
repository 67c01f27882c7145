"""spec/verdict.toml -> the sentences on a run that the core and the command share."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tools.generate.rendering import Output, render


def outputs(spec: Path) -> list[Output]:
    values = tomllib.loads((spec / "verdict.toml").read_text())
    return [
        render("verdict.h.j2", "src/record/generated/verdict_texts.h", **values),
        render("verdict.py.j2", "python/headrace/analysis/generated/verdict_texts.py", **values),
    ]
