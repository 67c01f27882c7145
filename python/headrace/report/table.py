"""What a table is, before it is shown as text or as a part of the page."""

from dataclasses import dataclass

MOST_ROWS = 20


@dataclass(frozen=True)
class Table:
    """rows: texts, one for each header. Headers that end in a blank begin a column of words."""

    title: str
    headers: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str = ""


def more(count: int) -> str:
    return f"; {count - MOST_ROWS} more are in --json" if count > MOST_ROWS else ""
