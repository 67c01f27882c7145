"""Reads the text of one value, by the rules of the library (src/base/setting_rule.cc).

The library reads the same text again in each rank. What is refused here it would ignore there.
"""

import re
from collections.abc import Callable

from headrace.settings.setting import Setting, in_small_letters

Value = bool | int | str | tuple[int, int] | tuple[str, ...]

YES = ("1", "yes", "true", "on")
NO = ("0", "no", "false", "off")

UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
NUMBER = re.compile(r"-?[0-9]+")
SIZE = re.compile(r"(-?[0-9]+)(?:b|([kmg])(?:b|ib)?)?", re.ASCII | re.IGNORECASE)
LARGEST_NUMBER = (1 << 63) - 1
MOST_DIGITS = len(str(LARGEST_NUMBER))

MOST_STRIPES = 65535
PAGE = 4096
LARGEST_STRIPE = 1 << 30


class BadValue(ValueError):
    """A text that is no value of its setting: why, and what to write."""

    def __init__(self, why: str, remedy: str):
        super().__init__(f"{why} ({remedy})")
        self.why = why
        self.remedy = remedy


def read(setting: Setting, text: str) -> Value:
    """What `text` means for `setting`: sizes in bytes, stripes as (count, bytes of one), names in
    lower case. An empty text means the default. Raises BadValue."""
    if "\0" in text:
        raise BadValue("it has a character that no variable can hold", "write it without NUL")
    if text in ("", setting.default):
        return _default(setting)
    return READERS[setting.type](setting, text)


def _default(setting: Setting) -> Value:
    """The default's meaning. It may be a number out of range, which stands for a choice of ours."""
    if setting.type in ("size", "integer"):
        return _size(setting.default)
    return READERS[setting.type](setting, setting.default)


def _read_boolean(_setting: Setting, text: str) -> bool:
    word = in_small_letters(text)
    if word not in YES + NO:
        raise BadValue("it is neither yes nor no", "write 1 or 0")
    return word in YES


def _read_automatic(setting: Setting, text: str) -> Value:
    return text if text == setting.default else _read_boolean(setting, text)


def _read_integer(setting: Setting, text: str) -> int:
    number = _whole_number(text)
    _require_range(number, setting.minimum, setting.maximum, str)
    return number


def _whole_number(text: str) -> int:
    if not NUMBER.fullmatch(text) or not _fits(text):
        raise BadValue("it is not a whole number", "write digits only")
    return _integer(text)


def _fits(digits: str) -> bool:
    """Whether a number is one of 64 bits, as the library reads it. Python refuses to read very long
    ones."""
    significant = digits.lstrip("-0")
    return len(significant) <= MOST_DIGITS and int(significant or "0") <= LARGEST_NUMBER


def _integer(digits: str) -> int:
    sign = -1 if digits.startswith("-") else 1
    return sign * int(digits.lstrip("-0") or "0")


def _read_size(setting: Setting, text: str) -> int:
    size = _size(text)
    _require_range(size, setting.minimum, setting.maximum, size_text)
    return size


def _size(text: str) -> int:
    found = SIZE.fullmatch(text)
    if not found or not _fits(found[1]):
        raise BadValue("it is not a size", "write digits and k, m or g, such as 512k")
    return _integer(found[1]) * UNITS[in_small_letters(found[2] or "")]


def size_text(size: int) -> str:
    """Bytes in the largest unit that divides them."""
    for unit in ("g", "m", "k"):
        if size and size % UNITS[unit] == 0:
            return f"{size // UNITS[unit]}{unit}"
    return str(size)


def _require_range(number: int, least: int, most: int, shown: Callable[[int], str]) -> None:
    if not least <= number <= most:
        bounds = f"{shown(least)} to {shown(most)}"
        raise BadValue("it is out of range", f"write a value of the range {bounds}")


def _read_choice(setting: Setting, text: str) -> str:
    if text not in setting.values:
        *others, last = setting.values
        raise BadValue("it is not known", f"write {', '.join(others)} or {last}")
    return text


def _read_stripes(_setting: Setting, text: str) -> tuple[int, int]:
    if text == "none":
        return (0, 0)
    count_text, times, size_part = text.partition("x")
    try:
        count = _whole_number(count_text)
    except BadValue:
        count = 0
    if not times or not 1 <= count <= MOST_STRIPES:
        raise BadValue("it is no pair of stripes and their size", "write COUNTxSIZE, such as 4x1m")
    size = _size(size_part)
    _require_range(size, PAGE, LARGEST_STRIPE, size_text)
    if size % PAGE:
        raise BadValue("its stripes are not whole pages", "write a multiple of 4k")
    return (count, size)


def _read_names(_setting: Setting, text: str) -> tuple[str, ...]:
    if text == "none":
        return ()
    names = tuple(name.strip(" \t") for name in in_small_letters(text).split(","))
    if "" in names:
        raise BadValue("it has an empty name", "write names with commas between them")
    return names


def _read_text(_setting: Setting, text: str) -> str:
    return text


READERS: dict[str, Callable[[Setting, str], Value]] = {
    "boolean": _read_boolean,
    "automatic": _read_automatic,
    "integer": _read_integer,
    "size": _read_size,
    "choice": _read_choice,
    "stripes": _read_stripes,
    "names": _read_names,
    "text": _read_text,
}
