"""How long ranks of a node wait for late senders and receivers is what the program took down."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hosts import Host
from measuring import measuring
from running import Result
from test_waits import RANKS, differences, run_recorded

LATE_TO = {"1": "send", "2": "receive"}


def run_waited(host: Host, ranks: int, label: str, **settings: str) -> tuple[dict, Result]:
    return run_recorded(host, "waited_messages.c", ranks, label, **settings)


@pytest.mark.parametrize("ranks", RANKS)
def test_waits_are_those_of_the_program(host: Host, ranks: int, library: Path) -> None:
    report, result = run_waited(host, ranks, "all", HEADRACE_RECORD_MESSAGE_WAITS="1")
    waits = re.findall(r"^wait (\S+) (\S+)$", result.out, re.MULTILINE)
    awaited = re.findall(r"^awaited (\d+) (\d) (\S+)$", result.out, re.MULTILINE)
    assert len(waits) == 7 and len(awaited) == 2 * ranks
    true = {name: float(seconds) for name, seconds in waits}
    true |= {(int(rank), LATE_TO[kind]): float(seconds) for rank, kind, seconds in awaited}
    found = {
        one["name"]: one["wait_seconds"]["least"]
        for one in report["mpi"]["procedures"]
        if one["name"] in true
    }
    for one in report["mpi"]["awaited"]:
        if one["late_to"] != "collective call":
            found[one["rank"], one["late_to"]] = one["seconds"]
    matched, early = map(int, re.search(r"messages (\d+) (\d+)", result.out).groups())
    assert report["mpi"]["messages"]["matched"] == matched
    with measuring():
        assert abs(report["mpi"]["messages"]["early"] - early) <= 0.1 * matched
        assert not differences(found, true)


def test_they_are_off_unless_asked_for(host: Host, library: Path) -> None:
    report, _ = run_waited(host, 2, "off")
    assert report["mpi"]["messages"] is None
    procedures = {one["name"]: one for one in report["mpi"]["procedures"]}
    assert procedures["MPI_Recv"]["wait_seconds"] is None
