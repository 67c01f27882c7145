"""The command's packages import one way, modules never in a circle; options stay in commands."""

from __future__ import annotations

import ast
import functools
import graphlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import source_tree

SOURCE = source_tree.ROOT / "python"
PACKAGE = "headrace"

# Ground to roof: packages and modules below headrace/. Those of one layer do not see each other.
LAYERS = (
    ("__init__", "errors", "machine", "places", "regions", "statistics", "texts"),
    ("algorithms", "darshan", "elf", "launchers", "record", "settings"),
    ("analysis", "feedback", "mpi", "place"),
    ("advice", "front", "symbols"),
    ("compare", "counters", "launch", "profile"),
    ("bench", "doctor", "report"),
    ("demo", "simulate", "site", "tune"),
    ("commands",),
    ("cli",),
    ("entry",),
    ("__main__",),
)
SEES_CLICK = {"commands", "cli"}


@functools.cache
def modules() -> dict[str, Path]:
    """All modules by their dotted names; a package's __init__ has the package's."""
    found = {}
    for path in source_tree.with_suffix(".py"):
        if path.is_relative_to(SOURCE):
            parts = path.relative_to(SOURCE).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    assert PACKAGE in found
    return found


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE / PACKAGE).with_suffix("").parts[0]


def imported(path: Path) -> Iterator[tuple[str, str]]:
    """Each import of a file, those within functions too: the module, and a name that is asked of it
    or nothing."""
    for node in ast.walk(ast.parse(source_tree.text(path))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{source_tree.shown(path)} has a relative import"
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


@functools.cache
def own_imports(path: Path) -> set[str]:
    """The modules of headrace that a file imports."""
    known = modules()
    found = set()
    for module, name in imported(path):
        if module.split(".")[0] == PACKAGE:
            inner = f"{module}.{name}"
            found.add(inner if inner in known else module)
    return found


def test_every_room_has_its_layer() -> None:
    rooms = {room for layer in LAYERS for room in layer}
    assert {room_of(path) for path in modules().values()} == rooms


@pytest.mark.parametrize("depth", range(len(LAYERS)))
def test_a_room_imports_lower_layers_only(depth: int) -> None:
    below = {room for layer in LAYERS[:depth] for room in layer}
    known = modules()
    wrong = [
        f"{source_tree.shown(path)} imports {target}"
        for path in known.values()
        for target in sorted(own_imports(path))
        if room_of(path) in LAYERS[depth] and room_of(known[target]) not in below | {room_of(path)}
    ]
    assert not wrong, "\n".join(wrong)


def test_no_module_imports_itself_by_others() -> None:
    graph = {name: own_imports(path) - {name} for name, path in modules().items()}
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_only_commands_know_of_options() -> None:
    wrong = [
        source_tree.shown(path)
        for path in modules().values()
        if room_of(path) not in SEES_CLICK
        and any(module.split(".")[0] == "click" for module, _ in imported(path))
    ]
    assert not wrong, f"click belongs into headrace/commands only: {wrong}"
