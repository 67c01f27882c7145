"""Includes point one way: a room sees only the rooms that CMakeLists.txt lists for it."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest
import source_tree

SOURCE = source_tree.ROOT / "src"
QUOTED = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
ANGLED = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)
ADD_ROOM = re.compile(r"^headrace_add_room\(([a-z ]+)\)", re.MULTILINE)

# Ground to roof. Rooms of one layer do not see each other. Some see less than what is below them:
# those that decide and plan take their facts as values, and ranks that talk know nothing of files.
LAYERS = (
    ("base",),
    ("topo", "view", "storage", "record"),
    ("policy", "plan", "device", "fabric", "threads", "posix", "profile", "trace"),
    ("exchange", "collective", "buffering"),
    ("file",),
    ("abi", "gather"),
)
SEE_LESS = {
    "policy": {"base", "topo", "view"},
    "plan": {"base", "topo", "view"},
    "fabric": {"base", "topo"},
}


@functools.cache
def rooms() -> dict[str, set[str]]:
    """Each room with all rooms it may include, as the build has them. abi may include them all,
    the program in gather those that it is linked with."""
    allowed: dict[str, set[str]] = {}
    for line in ADD_ROOM.findall(source_tree.text(source_tree.ROOT / "CMakeLists.txt")):
        name, *uses = line.split()
        allowed[name] = {room for use in uses for room in ({use} | allowed[use])}
    return allowed | {"abi": set(allowed), "gather": {"record"} | allowed["record"]}


def sources() -> list[Path]:
    found = [path for path in source_tree.with_suffix(".h", ".cc") if path.is_relative_to(SOURCE)]
    assert found, "no C++ under src"
    return found


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0]


def headers(path: Path) -> list[str]:
    text = source_tree.text(path)
    return QUOTED.findall(text) + ANGLED.findall(text)


def test_the_build_has_the_rooms_of_the_design() -> None:
    assert set(rooms()) == {room for layer in LAYERS for room in layer}
    assert {room_of(path) for path in sources()} <= set(rooms())


@pytest.mark.parametrize("depth", range(len(LAYERS)))
def test_a_room_uses_only_lower_layers(depth: int) -> None:
    below = {room for layer in LAYERS[:depth] for room in layer}
    for room in LAYERS[depth]:
        allowed = below & SEE_LESS.get(room, below)
        assert rooms()[room] <= allowed, f"{room} uses {sorted(rooms()[room] - allowed)}"


def test_includes_go_down_only() -> None:
    wrong = []
    for path in sources():
        room = room_of(path)
        for included in headers(path):
            target = included.split("/")[0]
            if target in rooms() and target != room and target not in rooms()[room]:
                wrong.append(f"{source_tree.shown(path)} includes {included}")
    assert not wrong, "\n".join(wrong)


def test_own_headers_are_named_from_src() -> None:
    wrong = [
        f"{source_tree.shown(path)} includes {included}"
        for path in sources()
        for included in QUOTED.findall(source_tree.text(path))
        if included != "mpi.h" and not (SOURCE / included).is_file()
    ]
    assert not wrong, "\n".join(wrong)


def test_only_abi_sees_mpi() -> None:
    wrong = []
    for path in sources():
        names = {Path(name).name for name in headers(path)}
        if room_of(path) != "abi" and names & {"mpi.h", "mpi_abi.h"}:
            wrong.append(source_tree.shown(path))
    assert not wrong, f"mpi.h belongs into src/abi only: {wrong}"


def test_headers_are_guarded() -> None:
    wrong = [
        source_tree.shown(path)
        for path in sources()
        if path.suffix == ".h" and "#pragma once" not in source_tree.text(path)
    ]
    assert not wrong, f"without #pragma once: {wrong}"
