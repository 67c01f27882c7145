"""Records of jobs on several emulated nodes are what the program itself tallied."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import absent
from hosts import REPOSITORY, Host, host_named
from running import FOREIGN, compile_program, preload, work_directory
from test_recorder import report_of, tallied

from .cluster import Cluster
from .launching import launch_on_nodes

HOSTS = ("mpich", "openmpi", "intel", "debian-mpich")


@pytest.fixture(scope="module", params=[2, 3])
def nodes(request: pytest.FixtureRequest):
    if os.geteuid() != 0:
        absent("emulated nodes need root")
    with Cluster(request.param) as made:
        yield made


@pytest.fixture(scope="module")
def two_nodes():
    if os.geteuid() != 0:
        absent("emulated nodes need root")
    with Cluster(2) as made:
        yield made


def compiled(name: str, sources: list[str]) -> tuple[Host, Path]:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    return host, compile_program(host.compilers["c"], sources, f"{sources[0][:-2]}-{host.name}")


def recording(library: Path, directory: Path) -> dict[str, str]:
    settings = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(directory), "HEADRACE_QUIET": "1"}
    return preload([library]) | settings


def left_on(cluster: Cluster, node: str) -> list[str]:
    return sorted(name for name in cluster.node_listing(node) if not FOREIGN.search(name))


@pytest.mark.parametrize("name", HOSTS)
def test_counts_of_all_nodes_are_exact(name: str, nodes: Cluster, library: Path) -> None:
    host, program = compiled(name, ["recorded.c", "recorded_tally.c"])
    count = len(nodes.names)
    directory = work_directory(f"recorded-nodes-{name}-{count}")
    before = {node: left_on(nodes, node) for node in nodes.names}
    line = [program, directory / "file"]
    result = launch_on_nodes(host, nodes, line, recording(library, directory))
    assert result.code == 0, result.explain()
    assert "headrace" not in result.err, result.explain()
    calls, messages = tallied(directory / "file")
    (record,) = directory.glob("*.hrc")
    assert f".{2 * count}p{count}n." in record.name
    report = report_of(record)
    found = {
        own["name"]: [own["calls"], own["bytes"], *own["bins"]]
        for own in report["mpi"]["procedures"]
    }
    assert found == calls
    matrix = {
        (own["from"], own["to"]): [own["messages"], own["bytes"]] for own in report["mpi"]["matrix"]
    }
    assert matrix == messages
    run = report["run"]
    assert (run["ranks"], run["nodes"], run["complete"]) == (2 * count, count, True)
    places = {own["host"]: own["ranks"] for own in report["placement"]}
    assert set(places) == set(nodes.names)
    assert {node: left_on(nodes, node) for node in nodes.names} == before
