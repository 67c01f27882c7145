"""Remarks of Clang, flang and other compilers of LLVM: -fsave-optimization-record, X.opt.yaml.

LLVM writes one form of YAML only, of which this reads what it writes: documents with a tag, keys,
one list of arguments, mappings in braces, texts plain or in quotes. tests/python/test_feedback.py
has files of Clang."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from headrace.feedback.remark import (
    FUSED,
    INLINED,
    INTERCHANGED,
    REPLACED,
    UNROLLED,
    VECTORISED,
    BadFeedback,
    Remark,
    tidy,
)

LONGEST_VALUE = 1 << 16
MOST_LINES = 100  # of a value; each is looked at with all before it
_BEGIN = re.compile(r"^--- !(\w+)\s*$")
_KEY = re.compile(r"^(?P<indent> *)(?P<item>- )?(?P<key>[^\s:'\"{][^:'\"{]*):(?: +(?P<value>.*))?$")
# Each part takes what it can and gives nothing back: else the time grows with the cube of a length.
_PLACE = re.compile(
    r"^\{ *+File: *+(?P<file>'(?:[^']|'')*+'|\"(?:[^\"\\]|\\.)*+\"|[^\s,]++(?: ++[^\s,]++)*+) *+,"
    r" *+Line: *+(?P<line>\d{1,9}) *+, *+Column: *+\d++ *+\}$"
)
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b"}
_KINDS = {
    "loop-vectorize": VECTORISED,
    "slp-vectorizer": VECTORISED,
    "loop-unroll": UNROLLED,
    "loop-unroll-full": UNROLLED,
    "inline": INLINED,
    "loop-interchange": INTERCHANGED,
    "loop-fusion": FUSED,
    "loop-idiom": REPLACED,
}
_REASON = "loop not vectorized: "
_OF_COST = "VectorizationNotBeneficial"


@dataclass
class _Document:
    tag: str
    keys: dict[str, str] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.arguments)


def text(lines: Iterable[str]) -> Iterator[Remark]:
    """Raises BadFeedback at the first line that LLVM does not write, or if the end is missing."""
    for one in _documents(lines):
        kind = _KINDS.get(one.keys.get("Pass", ""))
        place = _PLACE.match(one.keys.get("DebugLoc", ""))
        if kind is None or place is None:
            continue
        told = _told(one, kind)
        if told is not None:
            is_done, what, is_loop = told
            function = one.keys.get("Function", "")
            yield Remark(
                kind, is_done, _scalar(place["file"]), int(place["line"]), function, what, is_loop
            )


def _told(one: _Document, kind: str) -> tuple[bool, str, bool] | None:
    """Was it done, how or why not, is its line where a loop begins."""
    name = one.keys.get("Name", "")
    if one.tag == "Passed":
        is_loop = kind != INLINED and one.keys["Pass"] != "slp-vectorizer"
        return True, tidy(one.text.partition(" with (cost=")[0]), is_loop
    if one.keys["Pass"] == "slp-vectorizer":
        return None
    if kind == INLINED:
        _, _, why = one.text.partition(" because ")
        callee = one.text.partition(" ")[0].strip("'")
        return (False, tidy(f"{callee}: {why}"), False) if one.tag == "Missed" else None
    if kind == VECTORISED:
        if one.tag.startswith("Analysis"):
            has_reason = one.text.startswith(_REASON)
            return (False, tidy(one.text[len(_REASON) :]), False) if has_reason else None
        if name == _OF_COST:
            return False, tidy(one.text), True
        return (False, "", True) if one.text == _REASON[:-2] else None
    return (False, tidy(one.text), True) if one.tag == "Missed" else None


def _documents(lines: Iterable[str]) -> Iterator[_Document]:
    one: _Document | None = None
    for number, line in enumerate(_joined(lines), 1):
        begin = _BEGIN.match(line)
        if begin:
            if one is not None:
                raise BadFeedback(f"remark {number} begins within another")
            one = _Document(begin[1])
        elif line == "..." and one is not None:
            yield one
            one = None
        elif one is None:
            if line.strip():
                raise BadFeedback(f"'{line[:40]}' is in no remark")
        else:
            _take(one, line)
    if one is not None:
        raise BadFeedback("it is cut off")


def _take(one: _Document, line: str) -> None:
    found = _KEY.match(line)
    if found is None:
        raise BadFeedback(f"'{line[:40]}' is no part of a remark")
    value = (found["value"] or "").strip()
    if not found["indent"] and not found["item"]:
        one.keys[found["key"]] = value if value.startswith("{") else _scalar(value)
    elif found["item"]:
        one.arguments.append(_scalar(value))


def _joined(lines: Iterable[str]) -> Iterator[str]:
    """A mapping or text in quotes that goes on in the next lines, and a text in a block, are one
    line."""
    waiting, count = "", 0
    block: tuple[str, int, list[str]] | None = None
    for raw in lines:
        line = raw.rstrip("\r\n")
        if block is not None:
            head, indent, inside = block
            deeper = len(line) - len(line.lstrip(" ")) > indent
            if deeper or not line:
                inside.append(line.strip())
                continue
            yield f"{head} {_quoted(' '.join(inside).strip())}"
            block = None
        whole = f"{waiting} {line.strip()}" if waiting else line
        waiting = ""
        found = _KEY.match(whole)
        value = (found["value"] or "").strip() if found else ""
        if value in ("|", "|-", ">", ">-"):
            head, indent = (
                whole[: whole.rindex(value[0])].rstrip(),
                len(whole) - len(whole.lstrip()),
            )
            block = (head, indent, [])
        elif _is_open(value):
            count += 1
            if len(whole) > LONGEST_VALUE or count > MOST_LINES:
                raise BadFeedback(f"'{whole[:40]}' does not end")
            waiting = whole
        else:
            count = 0
            yield whole
    if block is not None or waiting:
        raise BadFeedback("it is cut off")


def _is_open(value: str) -> bool:
    if value.startswith("{"):
        return not value.endswith("}")
    if value.startswith("'"):
        return len(value) < 2 or value.count("'") % 2 == 1
    if value.startswith('"'):
        return re.fullmatch(r'"(?:[^"\\]|\\.)*"', value) is None
    return False


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _scalar(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    if len(value) > 1 and value[0] == value[-1] == '"':
        return _ESCAPE.sub(_escaped, value[1:-1])
    return value


def _escaped(found: re.Match[str]) -> str:
    code = found[1]
    if len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 else "?"
    return _CONTROL.get(code, code)
