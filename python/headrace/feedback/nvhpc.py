"""What NVIDIA's compilers (nvc, nvc++, nvfortran; once PGI's) print with -Minfo=all: the name of a
function, then lines of numbers and messages. Its file is in the command above, if that is printed,
too."""

import re
from collections.abc import Iterable, Iterator

from headrace.feedback.remark import INLINED, REPLACED, UNROLLED, VECTORISED, Remark, tidy

FIRST = re.compile(r"^ +\d{1,7}, \S")
FUNCTION = re.compile(r"^(?P<name>[A-Za-z_~][^\n]*?):\s*$")
_NUMBERED = re.compile(r"^(?P<number> +\d{1,7}), (?P<text>.*)$")
_SOURCE = re.compile(
    r"(?:^|\s)(\S+\.(?:c|cc|cpp|cxx|C|f|F|for|f90|F90|f95|F95|f03|F03|cuf|CUF))(?=\s|$)"
)
_ELSEWHERE = re.compile(r'include "(?P<header>[^"]+)"|inlined, size=.* file (?P<file>\S+) \(\d+\)')
_DONE = (
    (re.compile(r"^Generated .*vector (?:simd|sse) code"), VECTORISED),
    (re.compile(r"(?i)\bunrolled\b.*\btimes\b"), UNROLLED),
    (re.compile(r" inlined, size="), INLINED),
    (re.compile(r"idiom, loop replaced by call"), REPLACED),
)
_NOT = re.compile(r"^Loop not vectorized(?:/parallelized)?: (.*)")


def text(lines: Iterable[str]) -> Iterator[Remark]:
    """A message without a number counts for the line before it. A number further to the right is
    one of a header, or of a function that was inlined."""
    file = function = ""
    # File, line and place of the comma, of the messages that this one stands below.
    levels: list[tuple[str, int, int]] = []
    inner = ""
    for line in lines:
        if head := FUNCTION.match(line):
            function, levels, inner = head["name"].partition("(")[0], [], ""
        elif numbered := _NUMBERED.match(line):
            if not function:
                continue
            column = len(numbered["number"])
            while levels and levels[-1][2] >= column:
                levels.pop()
            own = inner if levels else file
            levels.append((own, int(numbered["number"]), column))
            inner = _elsewhere(numbered["text"]) or inner
            yield from _remark(own, levels[-1][1], "" if len(levels) > 1 else function, numbered[2])
        elif line[:1] == " " and levels and line.strip():
            own, number, _ = levels[-1]
            yield from _remark(own, number, "" if len(levels) > 1 else function, line.strip())
        elif line.strip():
            function, levels = "", []
            if source := _SOURCE.search(line):
                file = source[1]


def _elsewhere(said: str) -> str:
    found = _ELSEWHERE.search(said)
    return (found["header"] or found["file"]) if found else ""


def _remark(file: str, line: int, function: str, said: str) -> Iterator[Remark]:
    if not file and not function:
        return
    if why := _NOT.match(said):
        yield Remark(VECTORISED, False, file, line, function, tidy(why[1]))
        return
    for pattern, kind in _DONE:
        if pattern.search(said):
            yield Remark(kind, True, file, line, function, tidy(said), kind != INLINED)
            return
