"""Collective operations between emulated nodes: random calls against plain loops."""

from __future__ import annotations

import os
import re

import pytest
from conftest import absent
from hosts import host_named
from running import compile_c, preload
from test_collectives import ON, SOURCES, shown_by

from .cluster import Cluster
from .launching import launch_on_nodes

BETWEEN_NODES = {"allgather", "allgatherv", "reduce_scatter", "reduce_scatter_block"}


@pytest.fixture(scope="module")
def clusters():
    """By their number of nodes, made when they are asked for."""
    if os.geteuid() != 0:
        absent("emulated nodes need root")
    made: dict[int, Cluster] = {}

    def cluster_of(nodes: int) -> Cluster:
        if nodes not in made:
            made[nodes] = Cluster(nodes).__enter__()
        return made[nodes]

    yield cluster_of
    for cluster in made.values():
        cluster.down()


@pytest.mark.parametrize("ranks", [(2, 2), (3, 1, 2)])
@pytest.mark.parametrize("name", ["mpich", "openmpi", "intel"])
def test_random_calls_on_nodes(name: str, ranks: tuple[int, ...], clusters, library) -> None:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    program = compile_c(host, SOURCES, "collectives")
    rounds = 150
    # Between nodes Open MPI's own allgather takes elements with gaps for others (5.0, without us).
    dense = ["dense"] if name == "openmpi" else []
    result = launch_on_nodes(
        host,
        clusters(len(ranks)),
        [program, str(sum(ranks)), str(rounds), "3000", *dense],
        preload([library]) | ON,
        ranks,
    )
    right = len(re.findall(rf"^rank \d+: 0 of {rounds} calls wrong$", result.out, re.MULTILINE))
    assert result.code == 0 and right == sum(ranks), result.explain()
    shown = shown_by(result)
    for operation in BETWEEN_NODES:
        assert shown[operation] & {"sums of nodes", "doubling nodes", "ring of nodes"}, shown
