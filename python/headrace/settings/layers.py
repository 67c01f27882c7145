"""The places that settings come from, each as a layer: a name for people, and values as texts.

A layer knows nothing of which settings there are; the resolver looks at that.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headrace.errors import HeadraceError
from headrace.settings.setting import PREFIX, Setting, variable_name
from headrace.settings.suggested import NEVER_SUGGESTED, may_suggest_value, may_suggest_variable

FILE_TABLE = "settings"
SUGGESTED_TABLE = "headrace"
ENVIRONMENT_TABLE = "environment"
HINTS_TABLE = "hints"
FILE_TABLES = (FILE_TABLE, HINTS_TABLE, SUGGESTED_TABLE, ENVIRONMENT_TABLE)
RUN_HINTS = "HEADRACE_RUN_HINTS"
LARGEST_FILE = 1 << 20  # bytes
LARGEST_NUMBER = (1 << 63) - 1  # TOML's
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Layer:
    """What one place says.

    origin: the place, as it is told to people. values: by the name of the variable.
    strict: whether a name or a value that cannot be used is an error. It is not in the
    environment, which modules and profiles set for other versions, too: the library says what it
    ignores there.
    forwarded: whether ranks are given these variables. They read other toolkits' variables from
    their own environment, and the files of the site and the user themselves.
    suggested: whether it gives way to everything that the user or the site has said; then ranks are
    given only those of its variables that count.
    problems: lines on why not all of the place counts.
    """

    origin: str
    values: Mapping[str, str]
    strict: bool = True
    forwarded: bool = True
    suggested: bool = False
    problems: Sequence[str] = ()


def command_line(assignments: Sequence[str], verify: bool = False) -> list[Layer]:
    """Layers of `--verify` and of each `--set NAME=VALUE`, of which the last counts."""
    layers = [Layer("--verify", {"HEADRACE_VERIFY": "1"})] if verify else []
    values = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name.replace("_", "").isalnum():
            raise HeadraceError(
                f"--set {assignment} is not understood",
                "it is not of the form NAME=VALUE",
                "give for example --set QUIET=1",
            )
        values[variable_name(name)] = value
    return [*layers, Layer("the command line", values)]


def environment(environ: Mapping[str, str], table: Iterable[Setting]) -> list[Layer]:
    """Layers of our own variables, and of each variable of another toolkit that means the same and
    is not empty."""
    own = {name: value for name, value in sorted(environ.items()) if name.startswith(PREFIX)}
    layers = [Layer("the environment", own, strict=False)]
    for setting in table:
        if setting.alias and environ.get(setting.alias):
            value = {setting.name: environ[setting.alias]}
            origin = f"{setting.alias} in the environment"
            layers.append(Layer(origin, value, strict=False, forwarded=False))
    return layers


@dataclass(frozen=True)
class SettingsFile:
    """What a file says: settings that count over the environment, hints included, which ranks read
    from the same file; settings that it suggests; other programs' variables that it suggests."""

    settings: Layer
    suggestions: Layer
    variables: Layer


def settings_file(path: Path) -> SettingsFile:
    """A file of --settings: TOML, with one of FILE_TABLES at least. Raises HeadraceError for
    whatever cannot be used."""
    document = _document(path)
    values = _values(document.get(FILE_TABLE, {}), path)
    if HINTS_TABLE in document:
        _check_hints(document[HINTS_TABLE], path)
        if RUN_HINTS in values:
            why = f"it has hints, and {RUN_HINTS} names another file of hints"
            raise _unreadable(path, why, "leave one of them out")
        values[RUN_HINTS] = str(path.absolute())
    suggested = _values(document.get(SUGGESTED_TABLE, {}), path)
    for name in sorted(NEVER_SUGGESTED & suggested.keys()):
        raise _unreadable(path, f"[{SUGGESTED_TABLE}] has {name}", "set it in your job script")
    return SettingsFile(
        Layer(f"'{path}'", values),
        Layer(f"[{SUGGESTED_TABLE}] of '{path}'", suggested, forwarded=False, suggested=True),
        Layer(f"[{ENVIRONMENT_TABLE}] of '{path}'", _variables(document, path), suggested=True),
    )


def _document(path: Path) -> dict[str, object]:
    try:
        with open(path, "rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error), "give another file") from error
    if len(data) > LARGEST_FILE:
        raise _unreadable(path, "it has more than 1 MiB", "give a settings file")
    try:
        document = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:  # not UTF-8, not TOML, or too deep
        why = f"it is not TOML: {error}".splitlines()[0]
        raise _unreadable(path, why, "write lines NAME = VALUE below [settings]") from error
    _check_tables(document, path)
    return document


def _check_tables(document: Mapping[str, object], path: Path) -> None:
    tables = [name for name in FILE_TABLES if isinstance(document.get(name), dict)]
    if not tables:
        raise _unreadable(path, "it has no table [settings]", "write [settings] above its lines")
    others = [name for name in document if name not in tables]
    if others:
        why = f"it has '{others[0]}' outside of the table [{tables[0]}]"
        raise _unreadable(path, why, f"leave it out, or move it below [{tables[0]}]")


def _variables(document: Mapping[str, object], path: Path) -> dict[str, str]:
    """Other programs' variables. What decides which code is loaded is none of a file's business."""
    values = {}
    for name, value in document.get(ENVIRONMENT_TABLE, {}).items():
        if not _VARIABLE.fullmatch(name):
            raise _unreadable(path, f"'{name}' is no name of a variable", "correct it")
        if name.startswith(PREFIX):
            raise _unreadable(path, f"[environment] has {name}", "move it below [headrace]")
        if not may_suggest_variable(name):
            why = f"[environment] has {name}, which files may not suggest"
            raise _unreadable(path, why, "set it in your job script")
        values[name] = _text(name, value, path)
        if not may_suggest_value(values[name]):
            why = f"[environment] gives {name} the name of a file"
            raise _unreadable(path, why, "set it in your job script")
        if "\0" in values[name]:
            raise _unreadable(path, f"the value of '{name}' has a zero byte", "leave it out")
    return values


def _values(table: Mapping[str, object], path: Path) -> dict[str, str]:
    values: dict[str, str] = {}
    for word, value in table.items():
        name = variable_name(word)
        if name in values:
            raise _unreadable(path, f"it gives {name} twice", "leave one of them out")
        values[name] = _text(word, value, path)
    return values


def _check_hints(table: Mapping[str, object], path: Path) -> None:
    """What hints there are, the library knows: it names what it ignores."""
    for word, value in table.items():
        if not isinstance(value, dict):
            _text(word, value, path)
            continue
        for hint, inner in value.items():
            _text(hint, inner, path)


def _text(word: str, value: object, path: Path) -> str:
    """A value of TOML as it would be written in the environment."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int) and abs(value) <= LARGEST_NUMBER:
        return str(value)
    if isinstance(value, str):
        return value
    raise _unreadable(
        path,
        f"the value of '{word}' is neither text nor a whole number, true or false",
        "write it in quotes, as it would stand in the environment",
    )


def _unreadable(path: Path, why: str, remedy: str) -> HeadraceError:
    return HeadraceError(f"settings file '{path}' cannot be used", why, remedy)
