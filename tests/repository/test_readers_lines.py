"""What pages tell people to install by hand is what pyproject.toml needs; README.md stays short."""

from __future__ import annotations

import re
import tomllib

import source_tree

MOST_README_LINES = 120
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


def test_the_readme_is_short() -> None:
    assert len(source_tree.text(source_tree.ROOT / "README.md").splitlines()) <= MOST_README_LINES
