"""docs/trust.md: each promise names tests, and they exist."""

from __future__ import annotations

import re

import source_tree

PAGE = source_tree.text(source_tree.ROOT / "docs" / "trust.md")


def promises() -> list[str]:
    """The rows of the tables, less their heads."""
    rows = [line for line in PAGE.splitlines() if line.startswith("| ")]
    heads = ("| promise |", "| machine |", "| --- |")
    return [row for row in rows if not row.startswith(heads)]


def holders(row: str) -> list[str]:
    return re.findall(r"`([\w/-]+\.(?:py|cc)(?:::\w+)?)`", row.rsplit(" | ", 1)[1])


def test_each_promise_names_a_test() -> None:
    assert len(promises()) > 10
    assert [row for row in promises() if not holders(row)] == []


def test_the_tests_exist() -> None:
    for name in {name for row in promises() for name in holders(row)}:
        path, _, function = name.partition("::")
        text = source_tree.text(source_tree.ROOT / path)
        assert not function or re.search(rf"^def {function}\(", text, re.MULTILINE), name


def test_the_cases_exist() -> None:
    sources = (source_tree.ROOT / "bench" / "promises").glob("*_cases.cc")
    text = "".join(source_tree.text(path) for path in sources)
    known = set(re.findall(r'^    \{"([\w-]+)", \d', text, re.MULTILINE))
    rows = [re.search(r"\bcases? (`.*)", row.rsplit(" | ", 1)[1]) for row in promises()]
    named = {name for row in rows if row for name in re.findall(r"`([\w-]+)`", row[1])}
    assert named and named - known == set()
