"""HEADRACE_IOBUF for a program's own files, on emulated nodes, which do not see each other."""

from __future__ import annotations

import re

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


@pytest.mark.parametrize(("kind", "of"), [("nfs", "*"), ("nfs", "mount"), ("ext4", "mount")])
@pytest.mark.parametrize("name", ["mpich", "openmpi", "intel"])
def test_a_file_that_two_nodes_write_is_named(name, kind, of, two_nodes, library) -> None:
    """Where each may be the same file: of files on a local file system each node has its own."""
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    place = work_directory(f"own-nodes-{name}-{kind}")
    program = compile_c(host, ["own_choices.c"], "own-choices")
    pattern = next(str(at) for at in place.parents if at.is_mount()) if of == "mount" else of
    settings = preload([library]) | {
        "HEADRACE_RECORD": "1",
        "HEADRACE_LOGPATH": str(place / "records"),
        "HEADRACE_IOBUF": f"{place}/*:size=64k",
        "HEADRACE_FS_FACTS": f"{pattern}:kind={kind}",
        "HEADRACE_QUIET": "0",
    }
    files = [place / one for one in ("shared", "stream", "open", "read")]
    line = [program, place, 1, *files]
    result = launch_on_nodes(host, two_nodes, line, settings, ranks_per_node=2)
    assert result.code == 0, result.explain()
    for one in files:
        assert one.read_text() == (1 if one.name == "read" else 4) * "text\n"
    told = re.findall(r" and (\d) more files were written through buffers by", result.err)
    assert told == (["2"] if kind == "nfs" else []), result.explain()
    (record,) = (place / "records").glob("*.hrc")
    at_risk = report_of(record)["quality"]["files_at_risk"]
    assert at_risk == (sorted(map(str, files[:3])) if kind == "nfs" else [])
