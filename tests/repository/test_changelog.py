"""CHANGELOG.md: each entry is one line of at most 120 characters."""

from __future__ import annotations

import pytest
import source_tree

LONGEST = 120


def wrong_lines(text: str) -> list[str]:
    """Lines below the first list entry that are neither a heading, an entry nor empty."""
    found = []
    listed = False
    for number, line in enumerate(text.splitlines(), start=1):
        listed = listed or line.startswith("- ")
        if listed and line and not line.startswith(("- ", "## ", "### ")):
            found.append(f"line {number} goes on from the one before: {line}")
        elif listed and len(line) > LONGEST:
            found.append(f"line {number} has {len(line)} characters")
    return found


def test_each_entry_is_one_line() -> None:
    text = source_tree.text(source_tree.ROOT / "CHANGELOG.md")
    assert len([line for line in text.splitlines() if line.startswith("- ")]) > 100
    assert wrong_lines(text) == []


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("# Changes\n\nA text.\n\n- one\n- two\n\n### More\n\n- three\n", []),
        ("# Changes\n\n- one that\n  goes on\n- two\n", [4]),
        (f"- {'a' * 119}\n- {'a' * 118}\n", [1]),
    ],
)
def test_the_test_finds_longer_entries(text: str, numbers: list[int]) -> None:
    assert [int(line.split()[1]) for line in wrong_lines(text)] == numbers
