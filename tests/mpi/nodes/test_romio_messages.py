"""Messages between nodes in a strided collective write, beside those of ROMIO with as many
aggregators and buffers of the same size, counted where MPICH sends them."""

from __future__ import annotations

import pytest
from conftest import absent
from hosts import host_named
from running import compile_c, launch, shared_object, work_directory

from .strided_job import StridedJob


@pytest.mark.parametrize(("nodes", "per_node"), [(4, 2), (2, 4), (4, 4)])
def test_romio_sends_four_times_as_many(nodes: int, per_node: int) -> None:
    """What Headrace sends, `StridedJob` tells, and test_nodes.py compares with real jobs. Ranks
    share a node by their number alone here: ROMIO's messages are the same wherever they run."""
    host = host_named("debian-mpich")
    if host.missing:
        absent(host.missing)
    job = StridedJob(nodes, per_node)
    program = compile_c(host, ["strided_file.c"], "strided_file")
    counter = shared_object("count_messages.c", ["mpicc.mpich", "-ldl"])
    file = work_directory(f"romio-{nodes}-{per_node}") / "file"
    hints = [f"cb_nodes={nodes}", "cb_config_list=*:*", "romio_cb_write=enable"]
    hints.append(f"cb_buffer_size={job.WINDOW}")
    result = launch(
        host,
        nodes * per_node,
        [program, "write", file, job.PIECE, job.SEGMENTS, *hints],
        layered=False,
        environment={"RANKS_PER_NODE": str(per_node)},
        objects=[counter],
    )
    assert result.code == 0, result.explain()
    counts = [int(line.split()[1]) for line in result.out.splitlines() if line.startswith("plain ")]
    assert len(counts) == nodes * per_node, result.explain()
    # Each aggregator gets at least one message from each rank of another node, each round.
    rounds = -(-job.bytes() // (nodes * job.WINDOW))
    assert sum(counts) >= rounds * (nodes - 1) * nodes * per_node, counts
    assert 4 * job.messages("write") <= sum(counts), counts
