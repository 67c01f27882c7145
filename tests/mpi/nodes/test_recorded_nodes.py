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
from test_recorder import check_tally, report_of

from .cluster import Cluster
from .launching import launch_on_nodes

HOSTS = ("mpich", "openmpi", "intel")


@pytest.fixture(scope="module", params=[2, 3])
def nodes(request: pytest.FixtureRequest):
    if os.geteuid() != 0:
        absent("emulated nodes need root")
    with Cluster(request.param) as made:
        yield made


@pytest.fixture(scope="module")
def two_nodes(clusters) -> Cluster:
    return clusters(2)


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
    (record,) = directory.glob("*.hrc")
    assert f".{2 * count}p{count}n." in record.name
    report = report_of(record)
    check_tally(report, directory / "file")
    run = report["run"]
    assert (run["ranks"], run["nodes"], run["complete"]) == (2 * count, count, True)
    places = {own["host"]: own["ranks"] for own in report["placement"]}
    assert set(places) == set(nodes.names)
    shapes = communicators(record)
    assert (2 * count, 2) in shapes
    assert all(on_node == min(size, 2) for size, on_node in shapes), shapes
    assert {node: left_on(nodes, node) for node in nodes.names} == before


def communicators(record: Path) -> set[tuple[int, int]]:
    """Their ranks, and how many of these are on the rank's node."""
    from headrace.record.reader import read

    return {
        row for node in read(record).nodes for row in node["communicators"].rows("size", "on_node")
    }


def gathered(cluster: Cluster, node: str, records: Path) -> Path:
    """What `headrace record gather` makes on a node."""
    python = ["env", f"PYTHONPATH={REPOSITORY / 'python'}", sys.executable, "-m", "headrace"]
    line = cluster.node_command(node, [*python, "record", "gather", "--to", records / node])
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (record,) = done.stdout.splitlines()
    return Path(record)


@pytest.mark.parametrize("way", ["kill", "abort"])
@pytest.mark.parametrize("name", HOSTS)
def test_a_job_that_ends_early(name: str, way: str, two_nodes: Cluster, library: Path) -> None:
    """Each node keeps its part. The report of all is the whole, that of one says what lacks."""
    host, program = compiled(name, ["recorded_end.c"])
    directory = work_directory(f"recorded-nodes-{way}-{name}")
    before = {node: left_on(two_nodes, node) for node in two_nodes.names}
    line = [program, way]
    settings = recording(library, directory)
    result = launch_on_nodes(host, two_nodes, line, settings, ranks_per_node=1)
    assert result.code != 0, result.explain()
    assert not list(directory.glob("*.hrc"))
    records = [gathered(two_nodes, node, directory) for node in two_nodes.names]
    assert {node: left_on(two_nodes, node) for node in two_nodes.names} == before

    part = report_of(records[0])["run"]
    assert (part["ranks"], part["complete"]) == (2, False)
    assert any("1 of 2 ranks is missing: 1" in why for why in part["lacks"]), part
    whole = report_of(*records)
    run = whole["run"]
    assert (run["ranks"], run["nodes"], run["complete"]) == (2, 2, False)
    assert not any("missing" in why for why in run["lacks"]), run
    calls = {own["name"]: own["calls"] for own in whole["mpi"]["procedures"]}
    assert calls["MPI_Sendrecv"] == 2 * 1000
    assert {own["host"] for own in whole["placement"]} == set(two_nodes.names)


@pytest.mark.parametrize("name", HOSTS)
def test_a_kill_in_finalize_loses_nothing(name: str, two_nodes: Cluster, library: Path) -> None:
    """The record is there before any node removes what it is made of."""
    host, program = compiled(name, ["recorded_pause.c"])
    flags = ["-shared", "-fPIC", "-O1", "-Wall"]
    tool_name = f"ending_tool-{host.name}"
    tool = compile_program(host.compilers["c"], ["ending_tool.c"], tool_name, flags)
    directory = work_directory(f"recorded-nodes-finalize-{name}")
    settings = recording(library, directory) | preload([library, tool])
    launch_on_nodes(host, two_nodes, [program, 10, 0, 0], settings)
    (record,) = directory.glob("*.hrc")
    run = report_of(record)["run"]
    assert (run["ranks"], run["nodes"], run["complete"]) == (4, 2, True)


@pytest.mark.parametrize("name", HOSTS)
def test_a_rank_without_the_layer_holds_nobody_up_for_long(
    name: str, two_nodes: Cluster, library: Path
) -> None:
    """The first node's part is recorded, the other has none."""
    host, program = compiled(name, ["recorded_end.c"])
    directory = work_directory(f"recorded-nodes-without-{name}")
    settings = recording(library, directory) | {"HEADRACE_RECORD_PATIENCE": "5"}
    preloaded = settings.pop("LD_PRELOAD")
    script = f'[ "$(hostname)" != n0 ] || export LD_PRELOAD={preloaded}; exec "$0" "$@"'
    line = ["bash", "-c", script, program, "finalize"]
    result = launch_on_nodes(host, two_nodes, line, settings, ranks_per_node=1, timeout=90)
    assert result.code == 0, result.explain()
    (record,) = directory.glob("*.hrc")
    run = report_of(record)["run"]
    assert any("came to MPI_Finalize with Headrace" in why for why in run["lacks"]), run


@pytest.mark.parametrize("name", HOSTS)
def test_the_last_lines_say_of_which_node_they_are(
    name: str, two_nodes: Cluster, library: Path
) -> None:
    host, program = compiled(name, ["recorded_end.c"])
    directory = work_directory(f"recorded-nodes-lines-{name}")
    settings = recording(library, directory) | {"HEADRACE_QUIET": "0"}
    result = launch_on_nodes(host, two_nodes, [program, "finalize"], settings, ranks_per_node=1)
    assert result.code == 0, result.explain()
    (record,) = directory.glob("*.hrc")
    lines = [line for line in result.err.splitlines() if line.startswith("headrace: ")]
    (place,) = [line for line in lines if "most time in MPI at one place: " in line]
    assert " s of all ranks of the first node, called by " in place
    (verdict,) = [line for line in lines if "Parallel efficiency is " in line]
    assert "; MPI takes " in verdict and " alone " not in verdict
    assert any(line.startswith(f"headrace: record: {record}") for line in lines)
