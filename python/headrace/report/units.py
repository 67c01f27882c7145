"""Numbers and texts as a terminal shows them."""

import shlex
from pathlib import Path

from headrace.texts import LONGEST_PATH, shown

LONGEST_VERDICT = 400
LEAST_SECONDS = 10_000_000  # ns


NS = 1e9  # in a second


def in_seconds(ns: float | None) -> float | None:
    """As a number, for JSON."""
    return None if ns is None else ns / NS


def seconds(ns: float | None) -> str:
    """Thousandths of a second; below ten of them in a shorter unit, as digits would be lost.
    None: -."""
    if ns is None:
        return "-"
    if ns == 0:
        return "0 s"
    return short_time(ns) if 0 < ns < LEAST_SECONDS else f"{ns / 1e9:,.3f} s"


def short_time(ns: float | None) -> str:
    """With the unit that makes it short. None: -."""
    if ns is None:
        return "-"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"


def size(count: int | None) -> str:
    if count is None:
        return "-"
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"


def percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} %"


def typed(path: Path) -> str:
    """A file's name within a line to type: one word for the shell, harmless for the terminal."""
    return shlex.quote(shown(str(path), LONGEST_PATH))


def library(text: str) -> str:
    """What MPI_Get_library_version says, without what tells how the library was built."""
    first = " ".join(text.split(",")[0].split())
    return shown(first.replace(" Version: ", " "))


def place(file: str) -> str:
    """A source file's name, without the directories of the machine where it was compiled."""
    return shown(file.rpartition("/")[2] or file)
