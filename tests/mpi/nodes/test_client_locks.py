"""NFS clients write whole pages of a file that has no lock, and so over what other nodes have
written. No NFS is here, so HEADRACE_FS_FACTS says that there is."""

from __future__ import annotations

import pytest
from conftest import absent
from hosts import host_named
from running import compile_c, preload, work_directory

from .cluster import Cluster
from .launching import launch_on_nodes

RANKS_A_NODE = 2
LOCKS = {"nfs": 2 * RANKS_A_NODE, "gpfs": 0}


@pytest.fixture(scope="module")
def two_nodes(clusters) -> Cluster:
    return clusters(2)


@pytest.mark.parametrize("switch", ["1", "0"])
@pytest.mark.parametrize("kind", LOCKS)
@pytest.mark.parametrize("name", ["mpich", "openmpi", "intel"])
def test_each_rank_that_writes_has_a_lock(
    name: str, kind: str, switch: str, two_nodes, library
) -> None:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    place = work_directory(f"client-locks-{name}-{kind}")
    program = compile_c(host, ["locked_file.c"], "locked-file")
    given = preload([library]) | {"HEADRACE_FS_FACTS": f"*:kind={kind}", "HEADRACE_RECORD": "0"}
    given["HEADRACE_NFS_LOCK"] = switch
    # Where nodes write for each other, all must sync.
    line = [program, place / "file", *(["alone"] if kind == "nfs" else [])]
    result = launch_on_nodes(host, two_nodes, line, given, ranks_per_node=RANKS_A_NODE)
    assert result.code == 0, result.explain()
    locks = LOCKS[kind] if switch == "1" else 0
    expected = [f"open {locks}", "closed 0"] * 3
    assert result.out.split("\n")[:-1] == expected, result.explain()
