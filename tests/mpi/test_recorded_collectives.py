"""What a record tells of collective operations: what was chosen for each call."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from hosts import Host
from running import Result, compile_c, launch, work_directory
from test_collectives import ON, OPERATIONS, SOURCES
from test_recorder import report_of

RANKS = 3
REDUCTIONS = {"reduce", "allreduce", "reduce_scatter", "reduce_scatter_block"}


def record(host: Host, label: str, **settings: str) -> tuple[dict, Result]:
    directory = work_directory(f"recorded-collectives-{label}-{host.name}")
    program = compile_c(host, SOURCES, "collectives")
    given = {**ON, "HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(directory), **settings}
    done = launch(host, RANKS, [program, 7, 200, 3000], True, given)
    assert done.code == 0, done.explain()
    (path,) = directory.glob("*.hrc")
    return report_of(path), done


def calls_of(report: dict) -> Counter[str]:
    """By operation, as the recorder has counted them."""
    found = {
        own["name"].removeprefix("MPI_").lower(): own["calls"]
        for own in report["mpi"]["procedures"]
    }
    return Counter({name: calls for name, calls in found.items() if name in OPERATIONS})


def choices(report: dict) -> list[tuple[str, dict]]:
    """Decisions on calls that the layer sees, each with its operation."""
    named = [(own["subject"].split(), own) for own in report["decisions"]]
    return [(words[0], own) for words, own in named if words[0] in OPERATIONS and "on" in words]


def left_alone(report: dict) -> dict[str, str]:
    """Operations whose calls the layer never sees, each with the reason."""
    rows = [own for own in report["decisions"] if own["subject"] in OPERATIONS]
    for own in rows:
        assert own["choice"] == "the MPI library" and own["cost_seconds"] is None, own
        assert own["times"] == calls_of(report)[own["subject"]], own
    return {own["subject"]: own["reason"] for own in rows}


def test_each_call_has_its_choice(host: Host, library: Path) -> None:
    report, _ = record(host, "all")
    told: Counter[str] = Counter()
    by_layer = set()
    for operation, own in choices(report):
        told[operation] += own["times"]
        assert own["reason"], own
        if own["choice"] == "the MPI library":
            assert own["cost_seconds"] is None, own
        elif own["times"]:
            assert own["reason"] == "HEADRACE_COLL_USE=always" and own["cost_seconds"] > 0, own
            assert "the MPI library" in own["alternatives"], own
            by_layer.add(operation)
    assert by_layer == OPERATIONS
    assert told == calls_of(report)
    reasons = {own["reason"] for _, own in choices(report)}
    assert {"the communicator's first calls", "there is one rank"} <= reasons
    # Those of the layer took part of what the calls took.
    spent = sum(own["cost_seconds"] or 0 for _, own in choices(report))
    of_calls = sum(own["seconds"] for own in report["mpi"]["procedures"])
    assert 0 < spent < of_calls


@pytest.mark.parametrize(
    ("setting", "value", "operations"),
    [
        ("HEADRACE_COLL_OFF", "bcast", {"bcast"}),
        ("HEADRACE_COLL_ORDER", "library", REDUCTIONS),
    ],
)
def test_what_the_user_leaves_to_the_library(
    host: Host, setting: str, value: str, operations: set[str], library: Path
) -> None:
    """With the display each call is told of, without it none goes through the layer."""
    for display in ("1", "0"):
        given = {setting: value, "HEADRACE_COLL_DISPLAY": display}
        report, done = record(host, f"{value}-{display}", **given)
        own = [one for name, one in choices(report) if name in operations]
        alone = left_alone(report)
        if display == "0":
            assert not own and set(alone) == operations, (own, alone)
            reasons = set(alone.values())
        else:
            assert own and not alone, alone
            assert {one["choice"] for one in own} == {"the MPI library"}, own
            for operation in operations:
                times = [one["times"] for name, one in choices(report) if name == operation]
                assert sum(times) == calls_of(report)[operation]
            reasons = {one["reason"] for one in own}
        assert len(reasons) == 1 and reasons.pop().startswith(setting), done.explain()


def test_why_nodes_that_share_nothing_use_the_library(host: Host, library: Path) -> None:
    report, _ = record(host, "none", HEADRACE_SHARED_MEMORY="none")
    own = [one for name, one in choices(report) if name == "barrier"]
    assert own and all(one["choice"] == "the MPI library" for one in own), own
    assert sum(one["times"] for one in own) == calls_of(report)["barrier"]


def test_what_no_table_has_is_left_alone(host: Host, library: Path) -> None:
    """The shipped table has no barrier, nothing for Intel MPI, nor for other major versions than it
    was measured with, and nothing for three ranks. A table of the user's own may be another one on
    each node, so all operations are looked at."""
    given = {"HEADRACE_COLL_USE": "measured", "HEADRACE_COLL_DISPLAY": "0"}
    report, _ = record(host, "shipped", **given)
    alone, seen = left_alone(report), {name for name, _ in choices(report)}
    assert alone["barrier"] == "it was not measured to be slower"
    assert not seen & set(alone) and seen | set(alone) == OPERATIONS
    assert ("allgather" in seen) == (host.name in ("mpich", "mpich-abi", "openmpi"))
    other = "it was measured to be slower, but in another version of the MPI library"
    assert (alone.get("allgather") == other) == host.name.startswith("debian-")
    assert set(alone.values()) <= {alone["barrier"], other}
    # Also of two of the ranks, if those of the job outnumber the cores.
    sizes = (2, RANKS) if (os.cpu_count() or 1) < RANKS else (RANKS,)
    subjects = tuple(f"on {size} ranks" for size in sizes)
    of_job = [own for _, own in choices(report) if own["subject"].endswith(subjects)]
    assert all(own["choice"] == "the MPI library" for own in of_job), of_job
    table = work_directory(f"recorded-collectives-table-{host.name}") / "table.toml"
    table.write_text('[mpich.one]\nbarrier = "0-0 1.5"\n')
    report, _ = record(host, "own", HEADRACE_COLL_TABLE=str(table), **given)
    assert not left_alone(report) and {name for name, _ in choices(report)} == OPERATIONS
