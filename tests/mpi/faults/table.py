"""What was tried of which fault under which MPI, for the table at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

TRIED: Counter[tuple[str, str]] = Counter()
FAILED: Counter[tuple[str, str]] = Counter()


def note(row: str, host: str, good: bool) -> None:
    TRIED[row, host] += 1
    FAILED[row, host] += not good


def dump() -> list[tuple[str, str, int, int]]:
    return [(*key, tried, FAILED[key]) for key, tried in TRIED.items()]


def add(dumped: Iterable[tuple[str, str, int, int]]) -> None:
    for row, host, tried, failed in dumped:
        TRIED[row, host] += tried
        FAILED[row, host] += failed


def lines() -> list[str]:
    """Cases tried, and how many of them failed where any did."""
    hosts = list(dict.fromkeys(host for _, host in TRIED))
    rows = list(dict.fromkeys(row for row, _ in TRIED))
    table = [f"{'':44}" + "".join(f"{host:>16}" for host in hosts)]
    for row in rows:
        cells = [
            f"{TRIED[row, host]} FAILED {FAILED[row, host]}"
            if FAILED[row, host]
            else f"{TRIED[row, host]} pass"
            if TRIED[row, host]
            else "-"
            for host in hosts
        ]
        table.append(f"{row:44}" + "".join(f"{cell:>16}" for cell in cells))
    return table
