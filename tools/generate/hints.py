"""spec/hints.toml -> the hint table of the engine and the reference page."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from tools.generate.rendering import Output, SpecError, render

USES = ("obeyed", "accepted")
TYPES = {
    "boolean": "`true` or `false`",
    "size": "a number of bytes; `k`, `m`, `g` suffixes are powers of 1024",
    "integer": "a whole number",
    "choice": "",
    "text": "text",
    "hosts": "`HOST:COUNT,...`; `*` stands for any host, or for all its processes",
}


@dataclass(frozen=True)
class Hint:
    """One entry of spec/hints.toml; see there for the meaning of each field."""

    name: str
    use: str
    type: str
    source: str
    doc: str
    reason: str = ""
    values: list[str] = field(default_factory=list)

    @property
    def accepted(self) -> str:
        return TYPES[self.type] or ", ".join(f"`{value}`" for value in self.values)


def read(path: Path) -> list[Hint]:
    """All hints, sorted by name, which the table's users rely on."""
    hints = [Hint(**entry) for entry in tomllib.loads(path.read_text())["hint"]]
    for hint in hints:
        if hint.use not in USES or hint.type not in TYPES:
            raise SpecError(f"{path.name}: {hint.name} has an unknown use or type")
        if (hint.use == "accepted") != bool(hint.reason):
            raise SpecError(f"{path.name}: {hint.name}: only 'accepted' hints have a reason")
        if (hint.type == "choice") != bool(hint.values):
            raise SpecError(f"{path.name}: {hint.name}: only choices have values")
    return sorted(hints, key=lambda hint: hint.name)


def outputs(spec: Path) -> list[Output]:
    hints = read(spec / "hints.toml")
    return [
        render("hint_table.h.j2", "src/file/hint_table.h", hints=hints),
        render("hints.md.j2", "docs/reference/hints.md", hints=hints),
    ]
