"""The timeline of a job on several emulated nodes: one, whether rank 0 made the record or each node
its part."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import absent
from hosts import host_named
from running import work_directory
from test_timeline import check_all, export, exported, program, settings, shown, tallied

from .cluster import Cluster
from .launching import launch_on_nodes
from .test_recorded_nodes import HOSTS, gathered, recording, two_nodes

__all__ = ["two_nodes"]


def run(name: str, cluster: Cluster, library: Path, directory: Path, *words: str) -> int:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    own = recording(library, directory) | settings(directory)
    line = [program(host), "11", "300", directory / "tally", *words]
    return launch_on_nodes(host, cluster, line, own).code


def check_clocks(document: dict, cluster: Cluster) -> None:
    nodes = document["metadata"]["clocks"]["nodes"]
    assert {node["host"] for node in nodes} == set(cluster.names)
    for node in nodes:
        assert node["error_ns"] is None or node["error_ns"] > 0


@pytest.mark.parametrize("name", HOSTS)
def test_nodes_have_one_timeline(name: str, two_nodes: Cluster, library: Path) -> None:
    directory = work_directory(f"timeline-nodes-{name}")
    code = run(name, two_nodes, library, directory)
    assert code == 0
    (record,) = directory.glob("*.hrc")
    document, _ = exported(record)
    # Emulated nodes share the machine's clock, of which each makes its own.
    check_all(document, tallied(directory / "tally"))
    check_clocks(document, two_nodes)


@pytest.mark.parametrize("name", HOSTS)
def test_parts_of_a_killed_job_are_one_timeline(
    name: str, two_nodes: Cluster, library: Path
) -> None:
    directory = work_directory(f"timeline-nodes-kill-{name}")
    code = run(name, two_nodes, library, directory, "kill")
    assert code != 0
    parts = [gathered(two_nodes, node, directory) for node in two_nodes.names]
    done = export(parts, directory / "out.json")
    assert done.returncode == 0, done.stderr
    document = json.loads((directory / "out.json").read_text())
    check_all(document, tallied(directory / "tally"))
    check_clocks(document, two_nodes)
    calls = {rank: line.open[-1]["name"] for (rank, _), line in shown(document).items()}
    assert calls == {0: "MPI_Recv", 1: "MPI_Barrier", 2: "MPI_Barrier", 3: "MPI_Barrier"}
