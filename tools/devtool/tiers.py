"""In which tier a test runs first: tests/tiers.toml, and how rows of a test are chosen by it."""

from __future__ import annotations

import functools
import re
import tomllib
import zlib
from collections.abc import Mapping, Sequence

from devtool.paths import ROOT

TIERS = ("quick", "default", "full")
REST = "rest"
"""What full has beyond default."""

NOTHING = "^$"
"""A pattern that matches no test."""

DATA = ROOT / "tests" / "tiers.toml"
Row = Mapping[str, str]


@functools.cache
def data() -> dict:
    return tomllib.loads(DATA.read_text())


def minutes(name: str) -> int:
    return data()["minutes"][name]


def way(test: str, tier: str) -> str:
    """Which rows of the test (or of the tests in that file or folder) run in quick or default."""
    rules = data()["pytest"]
    names = [name for name in rules if test.startswith(name)]
    return rules[max(names, key=len)][tier] if names else "all"


def runs(path: str, tier: str) -> bool:
    """Whether any test below that path runs in quick or default."""
    below = [name for name in data()["pytest"] if name.startswith(path)]
    return any(way(name, tier) != "none" for name in [path, *below])


def of_rows(test: str, rows: Sequence[Row]) -> list[str]:
    """The tier of each row of a test, given its parameters' values."""
    tiers = ["full"] * len(rows)
    chosen: list[int] = []
    for tier in TIERS[:2]:
        how = way(test, tier)
        kept = [_kinds(row, how) for row in rows]
        chosen = _chosen(how, kept, chosen, zlib.crc32(test.encode()))
        for row in chosen:
            tiers[row] = tier if tiers[row] == "full" else tiers[row]
    return tiers


def of_ctest(name: str) -> str:
    """The tier of one of CTest's tests."""
    rules = data()["ctest"]
    return next((tier for tier, pattern in rules.items() if re.fullmatch(pattern, name)), "quick")


def of_holder(name: str) -> str:
    """The tier in which a test that docs/trust.md names runs first."""
    if name.endswith(".cc"):
        sources = data()["sources"]
        return sources[max((path for path in sources if name.startswith(path)), key=len)]
    return next((tier for tier in TIERS[:2] if way(name, tier) != "none"), "full")


def ctest_pattern(*tiers: str) -> str:
    """Matches CTest's tests that `of_ctest` gives these tiers; none of them is quick."""
    patterns = [data()["ctest"][tier] for tier in tiers if tier in data()["ctest"]]
    return "|".join(f"^({pattern})$" for pattern in patterns) or NOTHING


def wanted(tier: str) -> tuple[str, ...]:
    """The tiers whose rows run where this one, or the rest, is asked for."""
    return TIERS[2:] if tier == REST else TIERS[: TIERS.index(tier) + 1]


def _chosen(how: str, rows: Sequence[Row], chosen: list[int], start: int) -> list[int]:
    if how == "none" or not rows:
        return chosen
    if how == "all":
        return list(range(len(rows)))
    if how == "one":
        return chosen or [start % len(rows)]
    return _covering(rows, chosen, start)


def _kinds(row: Row, how: str) -> Row:
    """The row with what stands for all values that are alike in this way."""
    first = {value: alike[0] for alike in data()["alike"].get(how, []) for value in alike}
    return {name: first.get(value, value) for name, value in row.items()}


def _covering(rows: Sequence[Row], chosen: list[int], start: int) -> list[int]:
    """Adds rows to those chosen until each value of each parameter is in one: always the row that
    brings most new ones."""
    chosen = list(chosen)
    left = {value for row in rows for value in row.items()}
    left -= {value for row in chosen for value in rows[row].items()}
    order = [(start + number) % len(rows) for number in range(len(rows))]
    while left:
        best = max(order, key=lambda row: len(left & rows[row].items()))
        chosen.append(best)
        left -= rows[best].items()
    return chosen or [start % len(rows)]
