"""A remark of a compiler, whichever it is."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

LARGEST = 128 << 20  # bytes of a file that are read, unpacked
LONGEST = 300  # characters of a reason

# What is done to code -> its letter in a listing. Small where it was not done.
VECTORISED = "vectorised"
UNROLLED = "unrolled"
INLINED = "inlined"
INTERCHANGED = "interchanged"
FUSED = "fused"
REPLACED = "replaced by a library call"
PARALLEL = "run by threads"
LETTERS = {
    VECTORISED: "V",
    UNROLLED: "U",
    INLINED: "I",
    INTERCHANGED: "X",
    FUSED: "F",
    REPLACED: "A",
    PARALLEL: "M",
}
# Those said of a loop, at the line where it begins.
OF_LOOPS = frozenset(LETTERS) - {INLINED}


class BadFeedback(Exception):
    """A file that has the name or the first bytes of remarks, and is broken; says why."""


@dataclass(frozen=True)
class Remark:
    """kind: of LETTERS. is_done: False where the compiler tried. file: as the compiler was given
    it, or empty where it tells the function only; function: as the compiler names it, which may be
    mangled, or empty. is_loop: the line is where a loop begins. text: the reason if it was not
    done, else how it was done; may be empty."""

    kind: str
    is_done: bool
    file: str
    line: int
    function: str = ""
    text: str = ""
    is_loop: bool = True


def tidy(text: str) -> str:
    """On one line, and not too long."""
    plain = " ".join(text.split()).rstrip(".;")
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 3]}..."


def distinct(remarks: Iterable[Remark]) -> list[Remark]:
    """Each once, in order. Of a loop of a function that a compiler made several versions of, or
    tried several times, one that was done counts. A reason counts for a remark without one at its
    line."""
    found = list(dict.fromkeys(remarks))
    done = {_key(one) for one in found if one.is_done}
    told = {
        key
        for one in found
        if not one.is_done and one.text
        for key in (_key(one), _key(one, of_any=True))
    }
    loops = {_key(one) for one in found if one.is_loop}
    kept = [
        replace(one, is_loop=_key(one) in loops)
        for one in found
        if one.is_done
        or (not {_key(one), _key(one, of_any=True)} & done and (one.text or _key(one) not in told))
    ]
    return list(dict.fromkeys(kept))


def _key(one: Remark, of_any: bool = False) -> tuple[str, str, int, str]:
    """of_any: of a remark that names no function."""
    return one.kind, one.file, one.line, "" if of_any else one.function
