"""spec/settings -> struct Settings and its reader, the command's table, the reference page."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from tools.generate.rendering import Output, SpecError, render

SIZE_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
CPP_TYPES = {
    "boolean": "bool",
    "automatic": "bool",
    "size": "ByteCount",
    "integer": "std::int64_t",
    "stripes": "Stripes",
    "names": "std::vector<std::string>",
    "text": "std::string",
}

# By scope, why a file of the user or the site may not give a setting, and what to do.
SCOPES = {
    "": "",
    "job": "(all ranks of a job must have the same), set it in a module or the job's environment",
    "start": "(it says where files and programs are found), set it in a module or the environment",
    "tables": '(such files have tables for hints), write [hints."PATTERN"]',
}


@dataclass(frozen=True)
class Setting:
    """One entry of spec/settings/*.toml; see there for the meaning of each field."""

    name: str
    type: str
    default: str
    doc: str
    member: str = ""
    minimum: str = "0"
    maximum: str = ""
    enum: str = ""
    values: list[str] = field(default_factory=list)
    alias: str = ""
    form: str = "a path"
    scope: str = ""

    @property
    def not_in_files(self) -> str:
        """Why a file of the user or the site may not give it, and what to do; "" if it may."""
        return SCOPES[self.scope]

    @property
    def cpp_type(self) -> str:
        return self.enum or CPP_TYPES[self.type]

    @property
    def cpp_default(self) -> str:
        if self.type == "boolean":
            return "true" if self.default == "1" else "false"
        if self.type == "automatic":
            return "true"
        if self.type == "choice":
            return f"{self.enum}::{self.default}"
        if self.type in ("stripes", "names"):
            return "{}"
        if self.type == "text":
            return json.dumps(self.default)
        return str(self.number(self.default))

    @property
    def bounds(self) -> str:
        """Smallest and largest value, as two C++ arguments."""
        return f"{self.number(self.minimum)}, {self.number(self.maximum)}"

    @property
    def accepted(self) -> str:
        """What may be written, for the reference page."""
        if self.type == "boolean":
            return "`1`, `yes`, `true`, `on` or `0`, `no`, `false`, `off`"
        if self.type == "automatic":
            return "`auto`, `1`, `yes`, `true`, `on` or `0`, `no`, `false`, `off`"
        if self.type == "choice":
            return ", ".join(f"`{value}`" for value in self.values)
        if self.type == "size":
            sizes = f"a size from `{self.minimum}` to `{self.maximum}`, for example `512k`, `2m`"
            below = self.number(self.default) < self.number(self.minimum)
            return f"`{self.default}`, or {sizes}" if below else sizes
        if self.type == "integer":
            return f"a whole number from {self.minimum} to {self.maximum}"
        if self.type == "stripes":
            return "a number of stripes and their size, for example `4x1m`"
        if self.type == "names":
            return "names, with commas between them"
        return self.form

    def number(self, text: str) -> int:
        found = re.fullmatch(r"(\d+)([kmg]?)", text)
        if not found:
            raise SpecError(f"spec/settings: {self.name}: '{text}' is not a number")
        return int(found[1]) * SIZE_UNITS[found[2]]


def read(folder: Path) -> list[Setting]:
    """All settings, in the order of the files' names and within each file."""
    files = sorted(folder.glob("*.toml"))
    settings = [
        Setting(**entry) for file in files for entry in tomllib.loads(file.read_text())["setting"]
    ]
    for setting in settings:
        if setting.type not in (*CPP_TYPES, "choice"):
            raise SpecError(f"spec/settings: {setting.name} has the unknown type '{setting.type}'")
        if setting.scope not in SCOPES:
            raise SpecError(
                f"spec/settings: {setting.name} has the unknown scope '{setting.scope}'"
            )
        if setting.type == "choice" and setting.default not in setting.values:
            raise SpecError(f"spec/settings: the default of {setting.name} is none of its values")
    return settings


def enums(settings: list[Setting]) -> dict[str, list[str]]:
    """The enums of all choices; two settings may share one when their values agree."""
    found: dict[str, list[str]] = {}
    for setting in settings:
        if setting.enum and found.setdefault(setting.enum, setting.values) != setting.values:
            raise SpecError(f"spec/settings: two lists of values for {setting.enum}")
    return found


def outputs(spec: Path) -> list[Output]:
    settings = read(spec / "settings")
    values = {
        "settings": settings,
        "members": [setting for setting in settings if setting.member],
        "enums": enums(settings),
        "scopes": SCOPES,
    }
    return [
        render("settings.h.j2", "src/base/settings.h", **values),
        render("settings.cc.j2", "src/base/settings.cc", **values),
        render("settings.py.j2", "python/headrace/settings/generated/table.py", **values),
        render("settings.md.j2", "docs/reference/settings.md", **values),
    ]
