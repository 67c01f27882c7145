"""What a record tells of collective operations: what was chosen for each call."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hosts import Host
from running import Result, compile_c, launch, work_directory
from test_collectives import ON, OPERATIONS, SOURCES
from test_recorder import report_of

RANKS = 3


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
    """Decisions, each with its operation."""
    named = [(own["subject"].split()[0], own) for own in report["decisions"]]
    return [(name, own) for name, own in named if name in OPERATIONS]


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
    ("setting", "value", "operation", "reason"),
    [
        ("HEADRACE_COLL_OFF", "bcast", "bcast", "HEADRACE_COLL_OFF names it"),
        ("HEADRACE_COLL_ORDER", "library", "allreduce", "HEADRACE_COLL_ORDER=library"),
        ("HEADRACE_SHARED_MEMORY", "none", "barrier", None),
    ],
)
def test_why_the_library_does_it(
    host: Host, setting: str, value: str, operation: str, reason: str | None, library: Path
) -> None:
    report, _ = record(host, value, **{setting: value})
    own = [one for name, one in choices(report) if name == operation]
    assert own and all(one["choice"] == "the MPI library" for one in own), own
    if reason:
        assert reason in {one["reason"] for one in own}
    assert sum(one["times"] for one in own) == calls_of(report)[operation]
