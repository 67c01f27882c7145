"""HEADRACE_IOBUF for a program's own files, on emulated nodes, which do not see each other."""

from __future__ import annotations

import pytest
from conftest import absent
from hosts import host_named
from running import compile_c, preload, work_directory
from test_recorder import report_of

from .cluster import Cluster
from .launching import launch_on_nodes


@pytest.fixture(scope="module")
def two_nodes(clusters) -> Cluster:
    return clusters(2)


@pytest.mark.parametrize("kind", ["nfs", "ext4"])
@pytest.mark.parametrize("name", ["mpich", "openmpi", "intel"])
def test_a_file_that_two_nodes_write_is_named(name, kind, two_nodes, library) -> None:
    """Where it may be the same file: of files on a local file system each node has its own."""
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    place = work_directory(f"own-nodes-{name}-{kind}")
    program = compile_c(host, ["own_choices.c"], "own-choices")
    settings = preload([library]) | {
        "HEADRACE_RECORD": "1",
        "HEADRACE_LOGPATH": str(place / "records"),
        "HEADRACE_IOBUF": f"{place}/*:size=64k",
        "HEADRACE_FS_FACTS": f"*:kind={kind}",
        "HEADRACE_QUIET": "0",
    }
    shared = place / "shared"
    line = [program, place, 1, shared]
    result = launch_on_nodes(host, two_nodes, line, settings, ranks_per_node=2)
    assert result.code == 0, result.explain()
    assert shared.read_text() == 4 * "text\n"
    told = f"'{shared}' was written through buffers by processes of several nodes"
    assert result.err.count(told) == (kind == "nfs"), result.explain()
    (record,) = (place / "records").glob("*.hrc")
    at_risk = report_of(record)["quality"]["files_at_risk"]
    assert at_risk == ([str(shared)] if kind == "nfs" else [])
