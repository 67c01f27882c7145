"""The files that count for all jobs, the user's and the site's, by the rules of the library
(src/base/settings_file.cc): it reads them itself, in each rank. Each line counts by itself."""

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headrace.settings.generated.table import NOT_IN_FILES, SETTINGS
from headrace.settings.layers import (
    ENVIRONMENT_TABLE,
    FILE_TABLE,
    HINTS_TABLE,
    SUGGESTED_TABLE,
    Layer,
)
from headrace.settings.lines import Entry, read_lines
from headrace.settings.setting import variable_name
from headrace.texts import LONGEST_PATH, shown

OTHERS = stat.S_IWGRP | stat.S_IWOTH
MOST_BYTES = 64 << 10
FILE_OF_YOURS = "give a file that you can read and others cannot write"
_WHY_NOT = {one.name: NOT_IN_FILES[one.scope] for one in SETTINGS if one.scope}


@dataclass
class StandingFile:
    """What a file says. settings: variable and value, in the order of the file. patterns: of the
    files that it has hints for. problems: lines on what does not count."""

    settings: list[tuple[str, str]] = field(default_factory=list)
    patterns: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def parse_standing(data: bytes, path: Path) -> StandingFile:
    """path: for messages."""
    read = read_lines(data.decode("utf-8", "surrogateescape"))
    place = f"'{shown(str(path), LONGEST_PATH)}'"
    file = StandingFile(problems=[f"{place} {problem}" for problem in read.problems])
    suggests = False
    refused = None
    for entry in read.entries:
        match entry.table:
            case (table,) if table == FILE_TABLE:
                file.settings.append((variable_name(entry.key), entry.value))
            case (table, pattern) if table == HINTS_TABLE:
                file.patterns += [pattern] if pattern not in file.patterns else []
            case (table,) if table == HINTS_TABLE:
                pass  # the library knows which hints there are
            case (table,) if table in (SUGGESTED_TABLE, ENVIRONMENT_TABLE):
                suggests = True
            case table:
                file.problems += [_in_no_table(entry, place)] if table != refused else []
                refused = table
    if suggests:
        file.problems.append(
            f"tables [{SUGGESTED_TABLE}] and [{ENVIRONMENT_TABLE}] of {place} are ignored (only "
            "files of --settings suggest), move them to such a file"
        )
    return file


def _in_no_table(entry: Entry, place: str) -> str:
    names = entry.table
    why = f"no table '{shown(names[-1])}' is read" if names else "it stands in no table"
    return (
        f"{place} line {entry.line} is ignored ({why}), write [{FILE_TABLE}], [{HINTS_TABLE}] or "
        f'[{HINTS_TABLE}."PATTERN"] above it'
    )


def with_home(name: str, environ: Mapping[str, str]) -> str:
    """A file's name, ~/ replaced as the library does it; "" where nobody says what ~ is."""
    if not name.startswith("~/"):
        return name
    home = environ.get("HOME", "")
    return home + name[1:] if home.startswith("/") else ""


def standing_layers(name: str, named: bool, whose: str, environ: Mapping[str, str]) -> list[Layer]:
    """The layers of the file `name`, if there is one that only root, this user or the owner of this
    package can have written; the first counts most. Never an error: a job goes on without it.
    `named`: whether somebody asked for this file, so that it must be there. `whose`: for people."""
    name = with_home(name, environ)
    path = Path(name)
    origin = f"{whose} '{shown(str(path), LONGEST_PATH)}'"
    try:
        # Does not wait for whoever might write into a pipe of this name.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC) if name else None
    except (OSError, ValueError) as error:
        is_absent = isinstance(error, FileNotFoundError | NotADirectoryError)
        if is_absent and not named:
            return []
        return [_refused(origin, getattr(error, "strerror", None) or str(error))]
    if descriptor is None:
        return []
    try:
        return _layers(origin, path, descriptor)
    finally:
        os.close(descriptor)


def _layers(origin: str, path: Path, descriptor: int) -> list[Layer]:
    """The layers of an open file: what is checked is what is read."""
    status = os.fstat(descriptor)
    if stat.S_ISCHR(status.st_mode):  # /dev/null has nothing to say
        return []
    try:
        if why := why_refused(status, path):
            return [_refused(origin, why, remedy_of(why, path))]
        with open(descriptor, "rb", closefd=False) as stream:
            data = stream.read(MOST_BYTES)
    except OSError as error:
        return [_refused(origin, error.strerror or str(error))]
    said = parse_standing(data, path)
    problems = [
        *said.problems,
        *(
            f"{key} is ignored {_WHY_NOT[key]} ('{shown(str(path), LONGEST_PATH)}')"
            for key, _ in said.settings
            if key in _WHY_NOT
        ),
    ]
    values = _by_turns([(key, text) for key, text in said.settings if key not in _WHY_NOT])
    return [Layer(origin, {}, strict=False, forwarded=False, problems=problems)] + [
        Layer(origin, one, strict=False, forwarded=False) for one in reversed(values)
    ]


def _by_turns(given: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """A setting that is given again, under its other name, counts over what was given before."""
    turns: list[dict[str, str]] = []
    for key, text in given:
        free = next((turn for turn in turns if key not in turn), None)
        if free is None:
            turns.append(free := {})
        free[key] = text
    return turns


def why_refused(status: os.stat_result, path: Path) -> str:
    """Why the library does not read a file of settings or a profile; "" if it does. Errors:
    OSError."""
    if not stat.S_ISREG(status.st_mode):
        return "it is no file"
    if status.st_size > MOST_BYTES:
        return f"it has more than {MOST_BYTES >> 10} KiB"
    return _why_not_trusted(status, is_directory=False) or why_directory_refused(path.parent)


def why_directory_refused(folder: Path) -> str:
    """Why the library reads no such file there. Errors: OSError."""
    return _why_not_trusted(folder.stat(), is_directory=True)


def remedy_of(why: str, path: Path) -> str:
    """What to do about why_refused()."""
    if "directory" in why:
        return f"let its owner type chmod go-w {shown(str(path.parent), LONGEST_PATH)}"
    return FILE_OF_YOURS


def _why_not_trusted(status: os.stat_result, is_directory: bool) -> str:
    is_safe = is_directory and status.st_mode & stat.S_ISVTX
    if status.st_mode & OTHERS and not is_safe:
        return f"others may write to {'its directory' if is_directory else 'it'}"
    if status.st_uid in (0, os.geteuid(), Path(__file__).stat().st_uid):
        return ""
    return f"{'its directory' if is_directory else 'it'} belongs to another user"


def _refused(origin: str, why: str, remedy: str = FILE_OF_YOURS) -> Layer:
    line = f"{origin} is ignored ({why}), {remedy}"
    return Layer(origin, {}, strict=False, forwarded=False, problems=[line])
