"""UCX_NUM_PPN, which `headrace run` sets under MPICH: UCX itself tells that its limit has moved."""

from __future__ import annotations

import re

import pytest
from conftest import absent
from hosts import host_named
from measuring import measuring
from running import compile_c, shared_object, work_directory

from .cluster import Cluster
from .launching import launch_ordered

TABLE = re.compile(r"inter-node cfg#\d+ \| tagged message by ucp_tag_send\*\(multi\)")
RENDEZVOUS = re.compile(r"\|\s+(\w+)\.\.inf \| \(\?\) rendezvous")


@pytest.fixture(scope="module")
def cluster(clusters) -> Cluster:
    return clusters(2)


def eager_limit(text: str) -> str:
    """From which size on messages to another node wait, as UCX's table of protocols has it."""
    lines = text.splitlines()
    begin = next(number for number, line in enumerate(lines) if TABLE.search(line))
    return next(found[1] for found in map(RENDEZVOUS.search, lines[begin:]) if found)


def test_ucx_knows_how_many_ranks_share_a_node(cluster: Cluster, library) -> None:
    host = host_named("mpich")
    if host.missing:
        absent(host.missing)
    messages = work_directory("limits-on-nodes") / "messages"
    messages.write_text("0 2 10\n2 0 10\n")
    program = [compile_c(host, ["exchanged.c"], "exchanged"), messages, 1]

    def limit(*options: str, **variables: str) -> str:
        own = {"UCX_PROTO_INFO": "y", "LD_PRELOAD": str(shared_object("yield_shim.c")), **variables}
        result = launch_ordered(host, cluster, [2, 2], "1", program, *options, environment=own)
        assert result.code == 0, result.explain()
        return eager_limit(result.out + result.err)

    # UCX reckons with speeds that it measures as it starts, so now and then two jobs differ.
    with measuring():
        ours, without = limit(), limit("--no-limits")
        assert ours != without
        assert ours == limit("--no-limits", UCX_NUM_PPN="2")
        assert limit(UCX_NUM_PPN="1") == without
