"""HEADRACE_IOBUF for files of MPI-IO that ranks of two emulated nodes share: a right program gets
the same answers, whether nodes exchange or each moves its own bytes."""

from __future__ import annotations

import pytest
from conftest import absent
from hosts import host_named
from running import compile_c, preload, work_directory
from test_buffering import RECORDS, expected

from .cluster import Cluster
from .launching import launch_on_nodes
from .test_nodes import COHERENT

# What the display says of the nodes, by what the file system is said to be.
EXCHANGED = {"HEADRACE_WRITE_PATH": "exchanged", "HEADRACE_READ_PATH": "exchanged"}
WAYS = {
    "coherent": (COHERENT | EXCHANGED, "nodes: they may move data for each other"),
    "nfs": ({"HEADRACE_FS_FACTS": "*:kind=nfs"}, "nodes: each moves its own data"),
}


@pytest.fixture(scope="module")
def two_nodes(clusters) -> Cluster:
    return clusters(2)


@pytest.mark.parametrize("end", ["close", "finalize"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["mpich", "openmpi", "intel"])
def test_every_answer_is_right(name: str, way: str, end: str, two_nodes, library) -> None:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    data = work_directory(f"buffers-nodes-{name}-{way}") / "data"
    program = compile_c(host, ["buffered.c"], "buffered")
    facts, nodes = WAYS[way]
    told = {"HEADRACE_QUIET": "0", "HEADRACE_HINTS_DISPLAY": "1"}
    given = preload([library]) | facts | told | {"HEADRACE_IOBUF": "*data:size=4096:count=2"}
    result = launch_on_nodes(host, two_nodes, [program, data, RECORDS, end], given)
    assert result.code == 0, result.explain()
    assert result.out.splitlines() == ["wrong 0"], result.explain()
    assert data.read_bytes() == expected()
    assert f"buffers of '{data}': 2 of 4.0 KiB, 1 read ahead" in result.err, result.explain()
    assert nodes in result.err, result.explain()
