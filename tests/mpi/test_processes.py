"""Which processes share a file: children, intercommunicators, files left open. The off switch."""

from __future__ import annotations

import struct

import pytest
from hosts import Host
from running import compile_c, launch, preload, run, tree, work_directory

HARNESS = ["harness.c", "harness_data.c"]


def test_file_left_open_at_finalize(host: Host, library) -> None:
    program = compile_c(host, ["left_open.c", *HARNESS], "left_open")
    directory = work_directory(f"left_open-{host.name}")
    result = launch(host, 2, [program, directory], layered=True)
    assert result.code == 0 and "ok" in result.out, result.explain()
    assert not result.litter, result.litter
    values = struct.unpack("1000i", (directory / "left_open.data").read_bytes())
    for piece in range(200):
        first = 1000 * (piece % 2) + piece // 2 * 5
        assert list(values[piece * 5 : piece * 5 + 5]) == list(range(first, first + 5))


@pytest.mark.parametrize("children_layered", [True, False], ids=["layered", "plain"])
def test_spawned_children(host: Host, children_layered: bool, library) -> None:
    """Children may lack the layer: a file shared with them goes to the library on all ranks."""
    program = compile_c(host, ["spawn.c", *HARNESS], "spawn")
    directory = work_directory(f"spawn-{host.name}")
    plain = launch(host, 2, [program, directory], layered=False)
    if plain.code != 0:
        pytest.skip(f"{host.name} cannot spawn here, with or without the layer")
    directory = work_directory(f"spawn-{host.name}")
    if children_layered:  # the preload is in the launcher's environment, which children get
        environment = host.environment | preload([library]) | {"MPI_TEST_EXPECT": "engine"}
        result = run([*host.launch_line(2), program, directory], environment)
    else:
        result = launch(host, 2, [program, directory], layered=True)
    assert result.code == 0 and "ok" in result.out.split(), result.explain()
    values = struct.unpack("30i", (directory / "spawn.data").read_bytes())
    assert list(values) == [100 * (i // 10) + i % 10 for i in range(30)]


def test_intercommunicator(host: Host, library) -> None:
    program = compile_c(host, ["intercomm.c", *HARNESS], "intercomm")
    answers = []
    for layered in (False, True):
        directory = work_directory(f"intercomm-{host.name}")
        result = launch(host, 2, [program, directory], layered, timeout=30)
        answers.append((result.code, result.out))
    assert answers[0] == answers[1]


def test_disabled_is_plain(host: Host, library) -> None:
    """HEADRACE_DISABLE=1, or HEADRACE_DISABLE_FOR with the program's name: it finds no file
    carried, and the same files result."""
    program = compile_c(host, ["traced.c", *HARNESS], "traced")
    out, files = {}, {}
    for name, layered, environment in (
        ("plain", False, {}),
        ("disabled", True, {"HEADRACE_DISABLE": "1"}),
        ("left out", True, {"HEADRACE_DISABLE_FOR": "other,TRACED*"}),
        ("layer", True, {"HEADRACE_DISABLE_FOR": "trace,*traced2"}),
    ):
        directory = work_directory(f"disabled-{host.name}-{name.replace(' ', '-')}")
        result = launch(host, 2, [program, directory], layered, environment)
        assert result.code == 0, result.explain()
        out[name], files[name] = result.out, tree(directory)
    assert out["plain"] == out["disabled"] == out["left out"] == "ok, 0 of 3 files carried\n"
    assert out["layer"] == "ok, 3 of 3 files carried\n"
    assert files["plain"] == files["disabled"] == files["left out"] == files["layer"]
