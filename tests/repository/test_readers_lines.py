"""What pages tell people to install by hand is what pyproject.toml needs; the first pages stay
short."""

from __future__ import annotations

import re
import tomllib

import pytest
import source_tree

# Lines and words, which wider lines and tables do not hide. These numbers only ever become smaller.
LIMITS = {"README.md": (120, 1830), "ARCHITECTURE.md": (262, 3450)}
MPI = "mpich"  # which the pages replace by an MPI that is there


def needed() -> set[str]:
    data = tomllib.loads(source_tree.text(source_tree.ROOT / "pyproject.toml"))
    return {re.split("[><=]", one)[0] for one in data["project"]["dependencies"]} - {MPI}


def test_packages_to_install_beside_another_mpi() -> None:
    text = source_tree.text(source_tree.ROOT / "docs/cluster.md")
    found = re.search(r"`pip\s+install\s+([a-z0-9\s]+)`", text)
    assert found and set(found[1].split()) == needed()


def test_packages_that_the_command_needs() -> None:
    text = source_tree.text(source_tree.ROOT / "docs/packages.md")
    found = re.search(r"command needs Python 3\.11, with ([a-z0-9,\s]+)\.", text)
    assert found and set(re.split(r",\s+|\s+and\s+", found[1])) == needed()


@pytest.mark.parametrize("page", LIMITS)
def test_a_first_page_is_short(page: str) -> None:
    text = source_tree.text(source_tree.ROOT / page)
    lines, words = LIMITS[page]
    assert len(text.splitlines()) <= lines
    assert len(text.split()) <= words
