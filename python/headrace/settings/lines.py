"""The part of TOML that the library reads, line by line, by its rules (src/base/toml.cc).

The library reads the files of the user and the site again in each rank. A line that is refused here
it ignores there; the others count.
"""

import re
from dataclasses import dataclass, field

MOST_PROBLEMS = 20

_BLANKS = r"[ \t]*"
_PLAIN = r"\x00-\x08\x0a-\x1f\x7f"  # what no text holds as it is
_ESCAPE = r"\\(?:([btnfr\"\\])|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))"
_TEXT = rf"\"(?!\"\")(?:[^\"\\{_PLAIN}]|\\[^{_PLAIN}])*\"|'(?!'')[^'{_PLAIN}]*'"
_NAME = rf"(?:{_TEXT}|[A-Za-z0-9_-]+)"
_NUMBER = r"[+-]?(?:0|[1-9](?:_?[0-9])*)"
_END = rf"{_BLANKS}(?:#.*)?"

_NOTHING = re.compile(_END, re.DOTALL)
_HEADER = re.compile(
    rf"\[{_BLANKS}({_NAME}(?:{_BLANKS}\.{_BLANKS}{_NAME})*){_BLANKS}\]{_END}", re.S
)
_NAMES = re.compile(_NAME)
_KEY = re.compile(rf"({_NAME}){_BLANKS}={_BLANKS}")
_VALUE = re.compile(rf"({_TEXT}|true|false|{_NUMBER}){_END}", re.DOTALL)
_ESCAPES = re.compile(_ESCAPE + r"|\\")
_MEANINGS = dict(zip('btnfr"\\', '\b\t\n\f\r"\\', strict=True))
_SEVERAL_LINES = (("[", "]"), ("{", "}"), ('"""', '"""'), ("'''", "'''"))


@dataclass(frozen=True)
class Entry:
    """One KEY = VALUE. table: the names of the header above it. value: without quotes; true and
    false as they are written. line: from 1."""

    table: tuple[str, ...]
    key: str
    value: str
    line: int


@dataclass
class Lines:
    """What a text has. problems: one for each line that is left out, the first MOST_PROBLEMS."""

    entries: list[Entry] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class _Refused(ValueError):
    """Why a line is left out, and what to do."""

    def __init__(self, why: str, remedy: str):
        super().__init__(f"is ignored ({why}), {remedy}")


def read_lines(text: str) -> Lines:
    """The entries of `text`, up to a zero byte. Never an error."""
    reader = _Reader()
    left_out = 0
    for number, line in enumerate(text.partition("\0")[0].split("\n"), 1):
        try:
            reader.take(line.removesuffix("\r").lstrip(" \t"), number)
        except _Refused as why:
            if len(reader.found.problems) < MOST_PROBLEMS:
                reader.found.problems.append(f"line {number} {why}")
            else:
                left_out += 1
    if left_out:
        lines = "line" if left_out == 1 else "lines"
        reader.found.problems.append(f"has {left_out} more such {lines}, mend those above first")
    return reader.found


class _Reader:
    def __init__(self) -> None:
        self.found = Lines()
        self._table: tuple[str, ...] = ()
        self._tables: set[tuple[str, ...]] = set()
        self._keys: set[tuple[str, ...]] = set()
        self._is_readable = True
        self._is_over = False

    def take(self, line: str, number: int) -> None:
        if self._is_over or _NOTHING.fullmatch(line):
            return
        if line.startswith("["):
            self._take_header(line)
        elif self._is_readable:
            self._take_entry(line, number)

    def _take_header(self, line: str) -> None:
        self._is_readable = False
        names = _header_names(line)
        if names is None:
            raise _Refused(
                "it is no header of a table that is read here",
                'write [NAME] or [NAME."PATTERN"]; what is below it is ignored, too',
            )
        if names in self._tables:
            raise _Refused("this table was there before", "put all its keys below one header")
        self._table = names
        self._tables.add(names)
        self._is_readable = True

    def _take_entry(self, line: str, number: int) -> None:
        begin = _KEY.match(line)
        key = _meaning(begin[1]) if begin else None
        if not key:
            raise _Refused("it is no KEY = VALUE", "write for example cb_nodes = 8")
        rest = line[begin.end() :]
        # Its further lines would be taken for keys.
        if any(rest.startswith(one) and end not in rest[len(one) :] for one, end in _SEVERAL_LINES):
            self._is_over = True
            raise _Refused(
                "texts and lists of several lines are not read here",
                "write one line; all below it is ignored, too",
            )
        written = _VALUE.fullmatch(rest)
        value = _meaning(written[1], is_value=True) if written else None
        if value is None:
            raise _Refused(
                "its value is no text in quotes, whole number, true or false", "write it in quotes"
            )
        if (*self._table, key) in self._keys:
            raise _Refused("this key was there before", "leave one of them out")
        self._keys.add((*self._table, key))
        self.found.entries.append(Entry(self._table, key, value, number))


def _header_names(line: str) -> tuple[str, ...] | None:
    header = _HEADER.fullmatch(line)
    names = tuple(map(_meaning, _NAMES.findall(header[1]))) if header else (None,)
    return None if None in names else names


def _meaning(written: str, is_value: bool = False) -> str | None:
    """A name or a value without quotes and escapes; None where an escape stands for nothing."""
    if written.startswith("'"):
        return written[1:-1]
    if not written.startswith('"'):
        return written.replace("_", "").removeprefix("+") if is_value else written
    try:
        return _ESCAPES.sub(_character, written[1:-1])
    except ValueError:
        return None


def _character(escape: re.Match[str]) -> str:
    if escape[1]:
        return _MEANINGS[escape[1]]
    code = int(escape[2] or escape[3] or "", 16)
    if code == 0 or 0xD800 <= code < 0xE000 or code > 0x10FFFF:
        raise ValueError
    return chr(code)
