"""The part of a table of collective operations that is about the library's own algorithms.

    [intel.one.library.2]            # a library, on one node, with so many ranks
    version = "2021.18"              # of the library
    bcast = "preset_3 0-511 1.5, preset_8 512-2147483647 1"   # algorithm, bytes, times as fast
    gatherv = "preset_2 0-0 1.1"     # 0-0: all sizes

A library that takes one of the algorithms for any other size needs ranges that cover all sizes;
some may then gain nothing.

What cannot be used is named and left out; the rest counts. The rest of the file is the core's
(src/collective/use_table.h).
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import floor
from pathlib import Path

from headrace.algorithms.generated.table import LIBRARIES
from headrace.algorithms.knob import MOST_BYTES, Choice
from headrace.algorithms.variables import knob_of

PART = "library"
VERSION = "version"
LARGEST_FILE = 1 << 20  # bytes
MOST_RANKS = 1 << 24
MOST_GAIN = 1e6
_RANGE = re.compile(
    r"(?P<algorithm>[\w-]+) (?P<least>\d{1,15})-(?P<most>\d{1,15}) (?P<gain>\d{1,7}(\.\d{1,9})?)",
    re.ASCII,
)


@dataclass(frozen=True)
class Section:
    """What was found with a library of this version."""

    version: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class Table:
    """sections: by library and number of ranks. problems: a line on each part that is left out."""

    sections: Mapping[tuple[str, int], Section] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def read_table(path: Path) -> Table:
    """A table that cannot be read as a whole is one problem: the ranks read it, too, and do without
    it."""
    try:
        if not path.is_file():
            return Table(problems=(f"'{path}' is left out (it is no file), name a table",))
        with path.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            return Table(problems=(f"'{path}' is left out (it has over 1 MiB), name a table",))
        return table_of(tomllib.loads(data.decode()))
    except OSError as error:
        why = error.strerror or str(error)
        return Table(problems=(f"'{path}' is left out ({why}), name another table",))
    except (ValueError, RecursionError) as error:
        why = f"it is not TOML: {error}".splitlines()[0]
        return Table(problems=(f"'{path}' is left out ({why}), write it as TOML",))


def table_of(document: Mapping[str, object]) -> Table:
    sections: dict[tuple[str, int], Section] = {}
    problems: list[str] = []
    for library in (one.name for one in LIBRARIES):
        part = _inner(_inner(document, library), "one")
        if PART not in part:
            continue
        for word, entries in _inner(part, PART).items():
            name = f"[{library}.one.{PART}.{word}]"
            ranks = _ranks(word)
            if ranks is None or not isinstance(entries, dict):
                problems.append(
                    f"{name} is left out (it is of no number of ranks), write "
                    f"for example [{library}.one.{PART}.2]"
                )
                continue
            section = _section(library, name, entries, problems)
            if section is not None:
                sections[library, ranks] = section
    return Table(sections, tuple(problems))


def _inner(table: Mapping[str, object], name: str) -> Mapping[str, object]:
    found = table.get(name)
    return found if isinstance(found, dict) else {}


def _ranks(word: str) -> int | None:
    known = word.isascii() and word.isdigit() and len(word) < 9 and word[0] != "0"
    return int(word) if known and 1 < int(word) <= MOST_RANKS else None


def _section(
    library: str, name: str, entries: Mapping[str, object], problems: list[str]
) -> Section | None:
    version = entries.get(VERSION)
    if not isinstance(version, str) or not version:
        problems.append(f"{name} is left out (it has no version of the library), measure it anew")
        return None
    choices: list[Choice] = []
    for operation, text in entries.items():
        if operation == VERSION:
            continue
        found = _choices(library, operation, text)
        if isinstance(found, str):
            problems.append(f"{operation} of {name} is left out {found}")
        else:
            choices += found
    return Section(version, tuple(choices))


def _choices(library: str, operation: str, text: object) -> list[Choice] | str:
    """The choices of one operation, or why there are none."""
    knob = knob_of(library, operation)
    if knob is None:
        return f"({library} has no algorithms of it to choose from), leave it out"
    found: list[Choice] = []
    for part in text.split(", ") if isinstance(text, str) else [""]:
        match = _RANGE.fullmatch(part)
        if match is None:
            return (
                "(it has no algorithm with bytes and a gain), write for example "
                f'"{next(iter(knob.algorithms))} 1-512 1.5"'
            )
        least, most, gain = int(match["least"]), int(match["most"]), float(match["gain"])
        if match["algorithm"] not in knob.algorithms:
            known = ", ".join(knob.algorithms)
            return f"({match['algorithm']} is no algorithm of it), write one of {known}"
        least_gain = 0.0 if knob.covers else 1.0
        if least > most or most > MOST_BYTES or not least_gain < gain < MOST_GAIN:
            return f"('{part}' is an empty range, or gains nothing), correct it"
        if found and found[-1].most >= least:
            return f"('{part}' does not lie above the range before it), correct it"
        found.append(Choice(operation, match["algorithm"], least, most, gain))
    if any(not one.is_for_all_sizes for one in found) and not knob.sizes:
        return "(the library has one choice for all sizes), write 0-0 for its bytes"
    if len(found) > 1 and any(one.is_for_all_sizes for one in found):
        return "(0-0 stands for all sizes, so there can be no other), leave the others out"
    if knob.covers and not covers(found):
        return f"(the library takes one of these for all other sizes), cover 0-{MOST_BYTES}"
    return found


def covers(choices: list[Choice]) -> bool:
    """Whether no size is left out."""
    if choices[0].is_for_all_sizes:
        return True
    ends = [-1, *(one.most for one in choices)]
    return ends[-1] >= MOST_BYTES and all(
        one.least == end + 1 for one, end in zip(choices, ends, strict=False)
    )


def lines_of(library: str, ranks: int, section: Section) -> list[str]:
    """The section as TOML; nothing without choices."""
    texts: dict[str, list[str]] = {}
    for one in section.choices:
        gain = floor(one.gain * 100 + 1e-6) / 100  # 2.53 is below 2.53
        text = f"{one.algorithm} {one.least}-{one.most} {gain:g}"
        texts.setdefault(one.operation, []).append(text)
    if not texts:
        return []
    lines = [f"[{library}.one.{PART}.{ranks}]", f'{VERSION} = "{section.version}"']
    return lines + [f'{name} = "{", ".join(parts)}"' for name, parts in sorted(texts.items())]


def names_of(choices: Iterable[Choice]) -> list[str]:
    """The operations, each once."""
    return list(dict.fromkeys(one.operation for one in choices))
