"""Pages and recipes name all Python packages that the command needs."""

from __future__ import annotations

import re
import tomllib

import pytest
import source_tree

PROJECT = tomllib.loads(source_tree.text(source_tree.ROOT / "pyproject.toml"))["project"]
# By name; mpich is for machines without an MPI.
NEEDED = dict(one.split(">=") for one in PROJECT["dependencies"] if not one.startswith("mpich"))
LISTS = (
    "docs/cluster.md",
    "docs/packages.md",
    "packaging/headrace.spec.in",
    "packaging/headrace-VERSION.eb.in",
)
LONGEST = 110  # of a list, in characters


@pytest.mark.parametrize("name", LISTS)
def test_lists_are_whole(name: str) -> None:
    text = source_tree.text(source_tree.ROOT / name)
    starts = [found.start() for found in re.finditer(r"\bclick\b", text)]
    lacking = [
        {one for one in NEEDED if one not in text[start : start + LONGEST]} for start in starts
    ]
    assert set() in lacking
    # RHEL has numpy for its newer Python, so lists of what that lacks are without it.
    assert all(one <= {"numpy"} for one in lacking)


def test_the_recipe_of_spack_needs_the_same_versions() -> None:
    text = source_tree.text(source_tree.ROOT / "packaging" / "package.py.in")
    for name, version in NEEDED.items():
        assert f'depends_on("py-{name}@{version}:", type="run")' in text
