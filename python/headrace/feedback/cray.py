"""Messages of Cray's compilers (CC-6315 CC: VECTOR main, File = main.cpp, Line = 63), as they stand
below a loopmark listing, X.lst, and in what the compilers print. The letters in a listing's margin
say the same."""

import re
from collections.abc import Iterable, Iterator

from headrace.feedback.remark import (
    FUSED,
    INLINED,
    INTERCHANGED,
    PARALLEL,
    REPLACED,
    UNROLLED,
    VECTORISED,
    Remark,
    tidy,
)

MESSAGE = re.compile(
    r"^(?:cc|CC|ftn)-\d+ (?:cray)?(?:cc|CC|ftn): [A-Z]+ +(?:(?P<function>[^,=]+), )?"
    r"File = (?P<file>.+?), Line = (?P<line>\d{1,9})(?:, Column = \d+)?\s*$"
)
_DONE = (
    (re.compile(r"\bwas (?:partially |conditionally )?vectorized"), VECTORISED),
    (re.compile(r"\bwas (?:completely )?(?:unrolled|unwound)\b"), UNROLLED),
    (re.compile(r"\btextually inlined\b|\bwas inlined\b"), INLINED),
    (re.compile(r"\bwas interchanged with\b"), INTERCHANGED),
    (re.compile(r"\bwas fused with\b"), FUSED),
    (re.compile(r"\breplaced with .*library call"), REPLACED),
    (re.compile(r"\bwas (?:multithreaded|partitioned across .*threads)"), PARALLEL),
)
_NOT = (
    (re.compile(r"\bwas not vectorized because (.*)"), VECTORISED),
    (re.compile(r"\bnot inlined because (.*)"), INLINED),
)


def text(lines: Iterable[str]) -> Iterator[Remark]:
    """A message is followed by its sentence, in indented lines."""
    place: re.Match[str] | None = None
    said: list[str] = []
    for line in lines:
        begin = MESSAGE.match(line)
        if begin is None and line[:1].isspace() and line.strip():
            said.append(line)
            continue
        if place is not None:
            yield from _remark(place, " ".join(said))
        place, said = begin, []
    if place is not None:
        yield from _remark(place, " ".join(said))


def _remark(place: re.Match[str], said: str) -> Iterator[Remark]:
    where = (place["file"], int(place["line"]), (place["function"] or "").strip())
    plain = tidy(said)
    for pattern, kind in _NOT:
        if why := pattern.search(plain):
            yield Remark(kind, False, *where, why[1], kind != INLINED)
            return
    for pattern, kind in _DONE:
        if pattern.search(plain):
            yield Remark(kind, True, *where, plain, kind != INLINED)
            return
