"""Paths of samples as functions and lines."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from headrace.analysis.paths import Frame
from headrace.symbols.resolver import Symbols
from headrace.symbols.tools import Line

UNKNOWN = "(unknown)"
Named = TypeVar("Named", "Place", Line)
# The outermost functions, of the loader, the C library and its threads.
_STARTS = ("_start", "__libc_start_", "clone", "__clone", "start_thread")


@dataclass(frozen=True)
class Place:
    """What the code of one function does at one line. `function`: the one that the compiler made;
    `inlined`: the one of the line, if it was inlined into it; `module`: a file's name."""

    function: str
    module: str
    inlined: str = ""
    file: str = ""
    line: int = 0


def places(frames: Iterable[Frame], symbols: Symbols) -> tuple[Place, ...]:
    """The innermost first, one for each function that is no part of another. Never empty."""
    made = without_starts([_place(frame, symbols) for frame in frames])
    return tuple(made) or (Place(UNKNOWN, ""),)


def without_starts(path: list[Named]) -> list[Named]:
    """Without what every path has at its outer end."""
    end = len(path)
    while end > 1 and path[end - 1].function.startswith(_STARTS):
        end -= 1
    return path[:end]


def _place(frame: Frame, symbols: Symbols) -> Place:
    lines = symbols.of(frame)
    outer, inner = lines[-1], lines[0]
    return Place(
        outer.function,
        Path(frame.module).name,
        inner.function if len(lines) > 1 else "",
        inner.file,
        inner.line,
    )
