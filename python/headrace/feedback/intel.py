"""Intel's optimization reports, X.optrpt, of icc and ifort (-qopt-report) as of icx and ifx."""

import re
from collections.abc import Iterable, Iterator

from headrace.feedback.remark import INTERCHANGED, UNROLLED, VECTORISED, Remark, tidy

LOOP = re.compile(
    r"^\s*LOOP BEGIN at (?P<file>.+?) ?\((?P<line>\d{1,9}), ?\d+\)(?: inlined into .*)?\s*$"
)
_FUNCTION = re.compile(r"^Begin optimization report for: ([^(\s]+)")
_REMARK = re.compile(r"^\s*remark #\d+: (.*)$")
# Parts of a loop that compilers split off, which run a few times only.
_PART = re.compile(r"^\s*<.*(?:Remainder|Peeled).*>\s*$", re.IGNORECASE)
_NOT = re.compile(r"(?i)^(?:simd )?loop was not vectorized:? *(.*)")
# Of outer loops: the inner one is what counts.
_OUTER = re.compile(r"(?i)inner loop was already vectorized|outer loop (?:is|was) not")
_DONE = (
    (re.compile(r"LOOP WAS VECTORIZED"), VECTORISED),
    (re.compile(r"(?i)\bunrolled (?:with(?:out)? remainder )?by \d+"), UNROLLED),
    (re.compile(r"(?i)^Loopnest Interchanged"), INTERCHANGED),
)


def text(lines: Iterable[str]) -> Iterator[Remark]:
    """A remark counts for the innermost loop that is open."""
    function = ""
    loops: list[tuple[str, int]] = []
    parts: list[bool] = []
    for line in lines:
        if begin := LOOP.match(line):
            loops.append((begin["file"], int(begin["line"])))
            parts.append(False)
        elif line.strip() == "LOOP END" and loops:
            loops.pop()
            parts.pop()
        elif report := _FUNCTION.match(line):
            function, loops, parts = report[1], [], []
        elif loops and _PART.match(line):
            parts[-1] = True
        elif loops and not parts[-1] and (said := _REMARK.match(line)):
            yield from _remark(*loops[-1], function, said[1])


def _remark(file: str, line: int, function: str, said: str) -> Iterator[Remark]:
    for pattern, kind in _DONE:
        if pattern.search(said) and not said.startswith("REMAINDER"):
            yield Remark(kind, True, file, line, function, tidy(said))
    why = _NOT.match(said)
    if why and not _OUTER.search(said):
        yield Remark(VECTORISED, False, file, line, function, tidy(why[1]))
