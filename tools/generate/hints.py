"""spec/hints.toml and those beside it -> the hint table of the engine and the reference page."""

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
    "permissions": "octal digits, such as `640`",
    "styles": "the standard's words, with commas between them",
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


@dataclass(frozen=True)
class Variable:
    """An entry of spec/hint_variables.toml; see there for the meaning of each field."""

    name: str
    source: str
    doc: str
    hint: str = ""
    value: str = ""
    meaning: str = ""
    reason: str = ""


def read_variables(path: Path, hints: list[Hint]) -> list[Variable]:
    """All variables of other MPIs, in the order of the file: the first that fits counts."""
    variables = [Variable(**entry) for entry in tomllib.loads(path.read_text())["variable"]]
    names = {hint.name for hint in hints}
    for variable in variables:
        if variable.hint and variable.hint not in names:
            raise SpecError(f"{variable.name} means a hint that is not there: {variable.hint}")
        if not variable.hint and not variable.reason:
            raise SpecError(f"{variable.name} has neither a hint nor a reason")
    return variables


def read(paths: list[Path]) -> list[Hint]:
    """All hints, sorted by name, which the table's users rely on."""
    entries = [entry for path in paths for entry in tomllib.loads(path.read_text())["hint"]]
    hints = [Hint(**one) for entry in entries for one in _expanded(entry)]
    for hint in hints:
        if hint.use not in USES or hint.type not in TYPES:
            raise SpecError(f"hints: {hint.name} has an unknown use or type")
        if (hint.use == "accepted") != bool(hint.reason):
            raise SpecError(f"hints: {hint.name}: only 'accepted' hints have a reason")
        if (hint.type == "choice") != bool(hint.values):
            raise SpecError(f"hints: {hint.name}: only choices have values")
    return sorted(hints, key=lambda hint: hint.name)


def _expanded(entry: dict) -> list[dict]:
    """One entry for each of its names."""
    names = entry.pop("names", None)
    return [entry] if names is None else [{**entry, "name": name} for name in names]


def read_aliases(paths: list[Path]) -> list[str]:
    """Names of other toolkits' variables that are settings here."""
    entries = [entry for path in paths for entry in tomllib.loads(path.read_text())["setting"]]
    return sorted(entry["alias"] for entry in entries if "alias" in entry)


def outputs(spec: Path) -> list[Output]:
    hints = read([spec / "hints.toml", spec / "hints_without_effect.toml"])
    variables = read_variables(spec / "hint_variables.toml", hints)
    aliases = read_aliases(sorted((spec / "settings").glob("*.toml")))
    table = {"hints": hints, "variables": variables, "aliases": aliases}
    return [
        render("hint_table.h.j2", "src/file/hint_table.h", **table),
        render("hints.md.j2", "docs/reference/hints.md", hints=hints, variables=variables),
    ]
