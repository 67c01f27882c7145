"""Paths of samples as functions and lines."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from headrace.analysis.paths import Frame
from headrace.profile.samples import Samples
from headrace.symbols.resolver import Symbols, without_interpreter
from headrace.symbols.tools import Line

UNKNOWN = "(unknown)"
# The outermost functions, of the loader, the C library and its threads.
_STARTS = ("_start", "__libc_start_", "clone", "__clone", "start_thread")
_OWN = "libheadrace"


@dataclass(frozen=True)
class Place:
    """What the code of one function does at one line. `function`: the one that the compiler made;
    `inlined`: the one of the line, if it was inlined into it; `module`: a file's name."""

    function: str
    module: str
    inlined: str = ""
    file: str = ""
    line: int = 0
    is_python: bool = False


class Shown(NamedTuple):
    """A frame: its file's name, and its lines, the innermost inlined function first."""

    module: str
    lines: tuple[Line, ...]
    is_python: bool = False


def stack(frames: Iterable[Frame], symbols: Symbols) -> list[Shown]:
    """Innermost first. Functions without names, and Headrace's, are one for each file; those of the
    interpreter are left out where Python's are known. Never empty."""
    made: list[Shown] = []
    for frame in without_interpreter(frames):
        module = Path(frame.module).name
        has_name = frame.function or frame in symbols.lines
        if has_name and not module.startswith(_OWN):
            made.append(Shown(module, symbols.of(frame), frame.is_python))
            continue
        one = Shown(module, (Line(f"({module})" if module else UNKNOWN),))
        if not made or made[-1] != one:
            made.append(one)
    while len(made) > 1 and made[-1].lines[-1].function.startswith(_STARTS):
        made.pop()
    return made or [Shown("", (Line(UNKNOWN),))]


def places(frames: Iterable[Frame], symbols: Symbols) -> tuple[Place, ...]:
    """The innermost first, one for each function that the compiler made. Never empty."""
    return tuple(
        Place(
            one.lines[-1].function,
            one.module,
            one.lines[0].function if len(one.lines) > 1 else "",
            one.lines[0].file,
            one.lines[0].line,
            one.is_python,
        )
        for one in stack(frames, symbols)
    )


def all_places(samples: Samples, symbols: Symbols) -> Mapping[int, tuple[Place, ...]]:
    """By the number of the path."""
    return {path: places(samples.frames(path), symbols) for path in samples.path_numbers()}
