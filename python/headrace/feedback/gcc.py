"""GCC's remarks: -fsave-optimization-record (JSON, packed by gzip) and -fopt-info (text). Clang's
text (-Rpass) has the same form."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from headrace.feedback.records import Packed
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

# file:line:column: kind: text; Clang's text ends in the option that asks for it.
LINE = re.compile(
    r"(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:\d+:)? "
    r"(?P<kind>optimized|missed|remark): (?P<text>.*)"
)
_OPTION = re.compile(r" \[-Rpass(?P<how>|-missed|-analysis)=(?P<name>[\w.-]+)\]$")
MOST_LINES = 10**9  # of a file
_DEEPEST = 50  # scopes in scopes

_DONE = (
    (re.compile(r"loop vectorized|basic block (?:part )?vectorized"), VECTORISED),
    # Not beyond the next such word: else the time grows with the square of a text's length.
    (re.compile(r"(?i)\bInlin(?:ing|ed) (?:(?!\bInlin(?:ing|ed) ).)* (?:into|to) "), INLINED),
    (re.compile(r"loops interchanged"), INTERCHANGED),
    (re.compile(r"unrolled|unroll and jam"), UNROLLED),
    (re.compile(r"distributed: split to 0 loops and \d+ library call"), REPLACED),
    (re.compile(r"\bparalleli[sz]"), PARALLEL),
    (re.compile(r"\bfused\b"), FUSED),
)
_NO_LOOP = "couldn't vectorize loop"
_NOT_VECTORISED = re.compile(r"^not vectorized: (?P<why>.*)", re.DOTALL)
_NOT_INLINED = re.compile(r"^not inlinable: \S+ -> (?P<callee>[^,]+), (?P<why>[^\n]*)")
_NUMBER = re.compile(r"/\d+\b")  # of a function in GCC's table, behind its name


def record(data: bytes) -> Iterator[Remark]:
    """data: of a file X.opt-record.json.gz. Raises BadFeedback."""
    return of_records(Packed(data).records())


def of_records(records: Iterable[Any]) -> Iterator[Remark]:
    told: list[_Said] = []
    tried: dict[tuple[str, int], str] = {}
    inner = ""
    for own in (one for each in records for one in _flat(each, 0)):
        if own.is_done or not own.depth:
            told.append(own)
            inner = ""
        elif own.depth > 1:
            inner = inner if own.text.startswith(_NO_REASON) else own.text or inner
        else:
            why = f"{own.text.rstrip('.')}: {inner}" if inner and own.text else own.text or inner
            if why and not why.startswith(_NO_REASON):
                tried.setdefault((own.function, own.line), tidy(why))
            inner = ""
    yield from _by_first_try(
        list(
            _understood((one.file, one.line, one.is_done, one.text, one.function) for one in told)
        ),
        tried,
    )


class _Said(NamedTuple):
    """depth: of the scopes that it is in."""

    depth: int
    file: str
    line: int
    is_done: bool
    text: str
    function: str


# GCC tries several lengths of vectors. The last one is often too short for any statement of the
# loop, which is no reason; that of the first is.
_NO_VECTOR = "no vectype for stmt"
_NO_REASON = (
    *(_NO_VECTOR, f"not vectorized: {_NO_VECTOR}", "Unknown misalignment", "step unknown"),
    *("vector alignment", "not consecutive"),
)


def _by_first_try(remarks: list[Remark], tried: Mapping[tuple[str, int], str]) -> Iterator[Remark]:
    better = {
        (one.function, one.text): tried[one.function, one.line]
        for one in remarks
        if one.is_loop and one.text.startswith(_NO_VECTOR) and (one.function, one.line) in tried
    }
    for one in remarks:
        text = one.text if one.is_done else better.get((one.function, one.text), one.text)
        yield replace(one, text=text)


def _flat(own: Any, depth: int) -> Iterator[_Said]:
    """A record and those in it that say what was done or not; those in it first."""
    if not isinstance(own, dict) or depth > _DEEPEST:
        return
    children = own.get("children")
    for child in children if isinstance(children, list) else ():
        yield from _flat(child, depth + 1)
    place, message = own.get("location"), own.get("message")
    if own.get("kind") not in ("success", "failure") or not isinstance(place, dict):
        return
    file, line = place.get("file"), place.get("line")
    has_place = isinstance(file, str) and isinstance(line, int) and 0 < line <= MOST_LINES
    if isinstance(message, list) and has_place:
        text = "".join(map(_part, message)).strip()
        is_done = own["kind"] == "success"
        yield _Said(depth, file, line, is_done, text, str(own.get("function") or ""))


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    texts = (part.get(key) for key in ("expr", "stmt", "symtab_node"))
    return next((one for one in texts if isinstance(one, str)), "")


def text(lines: Iterable[str]) -> Iterator[Remark]:
    """lines: of what -fopt-info or -Rpass print, with anything in between."""
    yield from _understood(_of_lines(lines))


def _of_lines(lines: Iterable[str]) -> Iterator[tuple[str, int, bool, str, str]]:
    for own in lines:
        found = LINE.match(own)
        if found is None or len(found["line"]) > 9:
            continue
        said, kind = found["text"].rstrip(), found["kind"]
        option = _OPTION.search(said)
        if kind == "remark":
            if option is None or option["name"] not in _CLANG:
                continue
            said, kind = said[: option.start()], "missed" if option["how"] else "optimized"
        yield found["file"], int(found["line"]), kind == "optimized", said.strip(), ""


# Passes of Clang whose text is understood here.
_CLANG = ("loop-vectorize", "slp-vectorizer", "loop-unroll", "inline", "loop-interchange")
_CLANG_DONE = (
    (re.compile(r"^vectorized loop|^SLP vectorized"), VECTORISED),
    (re.compile(r"^'?\S+'? inlined into "), INLINED),
    (re.compile(r"^Loop interchanged"), INTERCHANGED),
)
_CLANG_NOT = (
    (re.compile(r"^loop not vectorized(?:: (?P<why>.*))?"), VECTORISED),
    (re.compile(r"^(?P<why>the cost-model indicates that vectorization.*)"), VECTORISED),
    (re.compile(r"^'?\S+'? (?:will )?not (?:be )?inlined into .* because (?P<why>.*)"), INLINED),
)


def _understood(said: Iterable[tuple[str, int, bool, str, str]]) -> Iterator[Remark]:
    """A loop that could not be vectorised is named beside the statement that is the reason: in
    text before it, in the JSON behind it."""
    loop: tuple[str, int, str] | None = None
    reason: tuple[str, int, str, str] | None = None
    for file, line, is_done, what, function in said:
        if is_done:
            loop = reason = None
            yield from _done(file, line, what, function)
            continue
        why = _NOT_VECTORISED.match(what)
        if what.startswith(_NO_LOOP):
            if reason is not None and reason[0] == file:
                yield Remark(VECTORISED, False, file, line, function, reason[2])
                reason = None
            else:
                loop = (file, line, function)
                yield Remark(VECTORISED, False, file, line, function)
        elif why and "basic block" not in why["why"]:
            cause = tidy(why["why"].partition("\n")[0])
            if loop is not None and loop[0] == file:
                yield Remark(VECTORISED, False, file, loop[1], function, cause)
            reason = None if loop else (file, line, cause, function)
            loop = None
            yield Remark(VECTORISED, False, file, line, function, cause, is_loop=False)
        else:
            yield from _missed(file, line, what, function)


def _done(file: str, line: int, what: str, function: str) -> Iterator[Remark]:
    for pattern, kind in (*_DONE, *_CLANG_DONE):
        if pattern.search(what):
            plain = what.strip().partition("\n")[0].partition(" with (cost=")[0]
            plain = tidy(_NUMBER.sub("", plain))
            is_loop = kind != INLINED and "basic block" not in plain and "SLP" not in plain
            yield Remark(kind, True, file, line, function, plain, is_loop)
            return


def _missed(file: str, line: int, what: str, function: str) -> Iterator[Remark]:
    inlining = _NOT_INLINED.match(what)
    if inlining:
        callee = _NUMBER.sub("", inlining["callee"])
        cause = tidy(f"{callee}: {inlining['why']}")
        yield Remark(INLINED, False, file, line, function, cause, is_loop=False)
        return
    for pattern, kind in _CLANG_NOT:
        found = pattern.match(what)
        if found:
            # A statement that is the reason; the loop itself is named without one.
            is_loop = not found["why"] or found["why"].startswith("the cost-model")
            cause = tidy(found["why"] or "")
            yield Remark(kind, False, file, line, function, cause, is_loop and kind != INLINED)
            return
