"""How long ranks of several nodes waited lies between the two numbers that the report shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import work_directory
from test_recorder import report_of
from test_waits import check_intervals

from .launching import launch_on_nodes
from .test_recorded_nodes import HOSTS, compiled, recording


@pytest.mark.parametrize("late", ["in turn", "first"])
@pytest.mark.parametrize("name", HOSTS)
def test_an_interval_holds_the_truth(name: str, late: str, clusters, library: Path) -> None:
    """Emulated nodes have one clock, by which the program takes down when each rank came."""
    host, program = compiled(name, ["waited.c"])
    directory = work_directory(f"waits-nodes-{name}")
    line = [program, *([late] if late == "first" else [])]
    result = launch_on_nodes(host, clusters(2), line, recording(library, directory))
    assert result.code == 0, result.explain()
    (record,) = directory.glob("*.hrc")
    report = report_of(record)
    assert report["mpi"]["wait_known_share"] < 1
    check_intervals(report, result)
