"""Collective operations by the layer: random calls against the plain loops of
programs/collectives_*.c, on one node."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hosts import Host
from running import Result, compile_c, launch, shared_object
from test_device_memory import stand_in
from test_languages import FORTRAN, fortran_program

PARTS = [
    "collectives_data.c",
    "collectives_drawn.c",
    "collectives_moved.c",
    "collectives_reduced.c",
    "collectives_exchanged.c",
]
SOURCES = ["collectives.c", *PARTS]
ON = {
    "HEADRACE_COLLECTIVES": "1",
    "HEADRACE_COLL_USE": "always",
    "HEADRACE_COLL_DISPLAY": "1",
    "HEADRACE_QUIET": "0",
}
SHOWN = re.compile(r"^headrace: (\w+) on \d+ ranks.*: by (.*)$", re.MULTILINE)
OPERATIONS = {
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "allgather",
    "allgatherv",
    "alltoall",
    "reduce_scatter",
    "reduce_scatter_block",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "alltoallv",
    "alltoallw",
}


def shown_by(result: Result) -> dict[str, set[str]]:
    """By operation, what has carried it out."""
    found: dict[str, set[str]] = {}
    for operation, way in SHOWN.findall(result.err):
        found.setdefault(operation, set()).add(way.split(" (")[0])
    return found


def run_random(
    host: Host, ranks: int, seed: int, rounds: int, largest: int, more: dict[str, str] | None = None
) -> Result:
    program = compile_c(host, SOURCES, "collectives")
    line = [program, seed, rounds, largest]
    result = launch(host, ranks, line, layered=True, environment=ON | (more or {}))
    right = len(re.findall(rf"^rank \d+: 0 of {rounds} calls wrong$", result.out, re.MULTILINE))
    assert result.code == 0 and right == ranks, result.explain()
    return result


@pytest.mark.parametrize(("ranks", "rounds"), [(2, 400), (3, 300), (4, 200), (8, 120)])
def test_random_calls(host: Host, ranks: int, rounds: int, library: Path) -> None:
    shown = shown_by(run_random(host, ranks, 100 + ranks, rounds, 5000))
    assert set(shown) == OPERATIONS
    # The program's own operation is the library's.
    reductions = ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block")
    assert any("the MPI library" in shown[operation] for operation in reductions)
    for operation in OPERATIONS:
        assert shown[operation] - {"the MPI library"}, f"{operation}: {shown[operation]}"


def test_large_calls_go_in_parts(host: Host, library: Path) -> None:
    shown = shown_by(run_random(host, 3, 8, 100, 400_000))
    assert "divided" in shown["allreduce"]


def test_operations_can_be_switched_off(host: Host, library: Path) -> None:
    off = {"HEADRACE_COLL_OFF": "MPI_Allreduce,foo,0,BARRIER"}
    result = run_random(host, 2, 5, 200, 500, off)
    shown = shown_by(result)
    assert shown["allreduce"] == shown["barrier"] == {"the MPI library"}
    assert "shared" in shown["bcast"]
    lines = [line for line in result.err.splitlines() if "has no effect" in line]
    assert len(lines) == 1 and "HEADRACE_COLL_OFF: 'foo' has no effect" in lines[0], lines


@pytest.mark.parametrize(
    "off",
    [{"HEADRACE_COLL_OFF": "1"}, {"HEADRACE_COLL_OFF": "bcast,all"}, {"HEADRACE_COLLECTIVES": "0"}],
)
def test_all_can_be_switched_off(host: Host, off: dict[str, str], library: Path) -> None:
    assert not shown_by(run_random(host, 2, 5, 100, 500, off))


def test_reductions_can_have_the_librarys_order(host: Host, library: Path) -> None:
    shown = shown_by(run_random(host, 2, 5, 200, 500, {"HEADRACE_COLL_ORDER": "library"}))
    for operation in ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block"):
        assert shown[operation] == {"the MPI library"}
    assert "shared" in shown["allgather"]


def test_nothing_is_shared_without_shared_memory(host: Host, library: Path) -> None:
    shown = shown_by(run_random(host, 3, 5, 100, 500, {"HEADRACE_SHARED_MEMORY": "none"}))
    # That needs none: each rank is a node.
    for operation in ("alltoallv", "alltoallw"):
        assert "throttled" in shown.pop(operation)
    assert set.union(*shown.values()) == {"the MPI library"}


def test_memory_that_is_shared_by_name(host: Host, library: Path) -> None:
    shown = shown_by(run_random(host, 3, 5, 100, 500, {"HEADRACE_SHARED_MEMORY": "posix"}))
    for operation in ("bcast", "allgather", "allgatherv"):
        assert "shared" in shown[operation], shown


def test_lack_of_memory_is_told(host: Host, library: Path) -> None:
    """All is left to the library, with the reason, which may be found on another rank."""
    program = compile_c(host, SOURCES, "collectives")
    own = ON | {"HEADRACE_NODE_MEMORY": "64k"}
    ranks, rounds = 2, 200
    result = launch(host, ranks, [program, 5, rounds, 500], layered=True, environment=own)
    right = result.out.count(f": 0 of {rounds} calls wrong")
    assert result.code == 0 and right == ranks, result.explain()
    assert shown_by(result) == {operation: {"the MPI library"} for operation in OPERATIONS}
    lines = Counter(line for line in result.err.splitlines() if SHOWN.match(line))
    assert all("HEADRACE_NODE_MEMORY" in line for line in lines), lines
    # Once by each process, on however many communicators it is the first rank.
    assert max(lines.values()) <= ranks, lines


def check_lack_of_memory(result: Result, ranks: int) -> None:
    """Each rank lacked memory, and no result is wrong."""
    lacked = [int(times) for times in re.findall(r"lacked memory: (\d+)$", result.out, re.M)]
    assert result.code == 0 and "wrong 0, " in result.out, result.explain()
    assert len(lacked) == ranks and min(lacked) >= 2, result.explain()


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("way", ["first", "root", "parts"])
def test_a_rank_that_lacks_memory(host: Host, way: str, ranks: int, library: Path) -> None:
    program = compile_c(host, ["collectives_memory.c"], "collectives_memory")
    objects = [library, shared_object("store_fault.c")]
    # Also the recorder's allocations, once.
    recorded = str(int((way, ranks) == ("first", 2)))
    own = ON | {"HEADRACE_COLL_AFTER": "1", "HEADRACE_RECORD": recorded}
    result = launch(host, ranks, [program, way], True, own, timeout=120, objects=objects)
    check_lack_of_memory(result, ranks)
    # Who cannot count a call, or take what was sent, is told; the root of a broadcast need not be.
    assert ("failed 0\n" in result.out) == (way == "root"), result.explain()
    assert shown_by(result)["allreduce"] - {"the MPI library"}, result.explain()


@pytest.mark.parametrize("ranks", [2, 5])
@pytest.mark.parametrize("rule", ["order", "progress", "late", "wide", "large", "bottom", "inter"])
def test_rules(host: Host, rule: str, ranks: int, library: Path) -> None:
    program = compile_c(host, ["collectives_rules.c"], "collectives_rules")
    # MPICH and Intel MPI refuse a gather from MPI_BOTTOM on, and may add up in another order. Calls
    # on intercommunicators are the library's for no other reason.
    from_first = ("bottom", "order", "wide", "inter")
    own = ON | ({"HEADRACE_COLL_AFTER": "0"} if rule in from_first else {})
    result = launch(host, ranks, [program, rule], layered=True, environment=own)
    assert result.code == 0 and result.out.count(": right\n") == ranks, result.explain()
    operation = {
        "order": "allreduce",
        "progress": "barrier",
        "late": "bcast",
        "wide": "allreduce",
        "large": "alltoallv",
        "bottom": "allgatherv",
        "inter": "allreduce",
    }[rule]
    assert shown_by(result)[operation] - {"the MPI library"}, result.explain()
    if rule == "inter" and ranks > 2:  # on one rank nothing is told
        left = set(re.findall(r"(\w+) on .*the MPI library \(an intercommunicator\)", result.err))
        assert left == {"barrier", "bcast", "allreduce", "allgather", "alltoall"}, result.explain()


@pytest.mark.parametrize(("ranks", "seed"), [(2, 1), (4, 2)])
def test_threads(host: Host, ranks: int, seed: int, library: Path) -> None:
    """Each calls on communicators of its own; what the others receive are messages."""
    program = compile_c(host, ["collectives_threads.c", *PARTS], "collectives_threads")
    # Preparing communicators at the same time is most of what threads can disturb.
    own = ON | {"HEADRACE_COLL_AFTER": "0"}
    result = launch(host, ranks, [program, seed, 120, 5000], layered=True, environment=own)
    right = len(re.findall(r"^rank \d+: 0 wrong, with messages$", result.out, re.MULTILINE))
    assert result.code == 0 and right == ranks, result.explain()
    shown = shown_by(result)
    assert set(shown) == OPERATIONS
    for operation in OPERATIONS:
        assert shown[operation] - {"the MPI library"}, f"{operation}: {shown[operation]}"


@pytest.mark.parametrize(("name", "binding"), [(host.name, b) for host, b in FORTRAN])
def test_fortran(name: str, binding: str, library: Path) -> None:
    """Its MPI_IN_PLACE is another address than C's."""
    host, program = fortran_program(name, binding, "collectives.F90")
    result = launch(host, 3, [program], layered=True, environment=ON)
    assert result.code == 0 and result.out == "right\n" * 3, result.explain()
    shown = shown_by(result)
    for operation in OPERATIONS - {"alltoall", "reduce_scatter"}:
        assert shown[operation] - {"the MPI library"}, result.explain()


@pytest.mark.parametrize("ranks", [2, 3])
def test_a_driver_that_comes_late(host: Host, ranks: int, library: Path) -> None:
    """One rank alone knows that its data is a device's, and others have begun without it."""
    program = compile_c(host, ["late_device.c", "device_memory.c"], "late_device")
    drivers = f"{stand_in('cuda')}:{host.environment.get('LD_LIBRARY_PATH', '')}"
    result = launch(host, ranks, [program], True, ON | {"LD_LIBRARY_PATH": drivers})
    assert result.code == 0 and result.out.count("right") == ranks, result.explain()
    assert "shared" in shown_by(result)["bcast"], result.explain()
