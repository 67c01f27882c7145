"""Reads the file that says what to trace: people edit it, so each fault is told with its place.
What is no TOML, or has a value of another kind, ends the command; names of what does not exist are
told later, and the rest is traced."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headrace.errors import HeadraceError
from headrace.profile.apa.values import NO_WAY, WAYS, Apa, Entry
from headrace.profile.apa.writing import LARGEST, read_text
from headrace.profile.groups import problem_of
from headrace.texts import shown

MOST_FUNCTIONS = 10_000
_TOP = {"program": str, "trace": dict, "functions": list}
_TRACE = {"groups": list, "counters": str, "hooks": bool, "prologues": bool}
_FUNCTION = {
    **{"name": str, "module": str, "share": (int, float), "bytes": int, "way": str, "trace": bool}
}
_KINDS = {
    str: "a text in quotes",
    dict: "a table",
    list: "a list",
    bool: "true or false",
    int: "a whole number",
    (int, float): "a number",
}


def read(path: Path) -> tuple[Apa, list[str]]:
    """And what is to be told of it. Raises HeadraceError."""
    text = _text(path)
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise _wrong(path, f"it is no TOML: {shown(str(error))}", "mend that place") from error
    _check(path, "", document, _TOP)
    trace = document.get("trace", {})
    _check(path, "trace", trace, _TRACE)
    groups, told = _groups(path, trace.get("groups", []))
    lines = [
        number
        for number, line in enumerate(text.splitlines(), 1)
        if re.match(r"\s*\[\[\s*functions\s*\]\]", line)
    ]
    rows = document.get("functions", [])
    if len(rows) > MOST_FUNCTIONS:
        why = f"it has {len(rows):,} functions, and may have {MOST_FUNCTIONS:,}"
        raise _wrong(path, why, "leave out those that need not be traced")
    functions = tuple(
        _entry(path, one, lines[place] if len(lines) == len(rows) else 0, place)
        for place, one in enumerate(rows)
    )
    return (
        Apa(
            document.get("program", ""),
            groups,
            trace.get("counters", ""),
            trace.get("hooks", False),
            trace.get("prologues", False),
            functions,
        ),
        told,
    )


def _text(path: Path) -> str:
    try:
        is_there = path.stat() is not None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        remedy = "give the file that headrace profile wrote"
        raise HeadraceError(f"'{path}' cannot be read", why, remedy) from error
    text = read_text(path)
    if text is None or not is_there:
        why = f"it is no text file of at most {LARGEST >> 20} MiB in UTF-8, or may not be read"
        raise _wrong(path, why, "give the file that headrace profile wrote")
    return text


def _wrong(path: Path, why: str, remedy: str) -> HeadraceError:
    return HeadraceError(f"'{path}' does not say what to trace", why, remedy)


def _check(path: Path, table: str, values: Mapping[str, Any], kinds: Mapping[str, Any]) -> None:
    for key, value in values.items():
        name = shown(f"{table}.{key}" if table else key)
        if key not in kinds:
            raise _wrong(path, f"{name} is unknown", f"use {', '.join(kinds)}")
        kind = kinds[key]
        is_right = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        if not is_right:
            raise _wrong(path, f"{name} is {shown(repr(value))}", f"write {_KINDS[kind]}")


def _groups(path: Path, names: list[Any]) -> tuple[tuple[str, ...], list[str]]:
    kept, told = [], []
    for name in names:
        if not isinstance(name, str):
            raise _wrong(path, f"trace.groups has {shown(repr(name))}", "write names in quotes")
        problem = problem_of(name.lower())
        if problem is None:
            kept.append(name.lower())
        else:
            told.append(f"{path}: group '{shown(name)}' is not traced ({problem[0]}), {problem[1]}")
    return tuple(dict.fromkeys(kept)), told


def _entry(path: Path, row: Any, line: int, place: int) -> Entry:
    where = f"functions, line {line}" if line else f"functions[{place}]"
    if not isinstance(row, dict):
        raise _wrong(path, f"{where} is {shown(repr(row))}", "write [[functions]]")
    _check(path, where, row, _FUNCTION)
    name = row.get("name", "")
    if not name:
        raise _wrong(path, f"{where} has no name", 'write name = "FUNCTION"')
    way = row.get("way", "")
    if way and way not in (*WAYS, NO_WAY):
        raise _wrong(
            path,
            f"{where} ({shown(name)}) has the way {shown(repr(way))}",
            f"use {', '.join(WAYS)}, or leave it out",
        )
    return Entry(
        name,
        row.get("module", ""),
        row.get("share"),
        row.get("bytes"),
        "" if way == NO_WAY else way,
        row.get("trace", True),
        line=line,
    )
