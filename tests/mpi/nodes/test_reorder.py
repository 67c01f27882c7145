"""HEADRACE_CART_REORDER on four emulated nodes with four ranks each: the topology is what was asked
for, and neighbours share nodes."""

from __future__ import annotations

import os
import re

import pytest
from conftest import absent
from hosts import Host, host_named
from running import compile_c, compile_program, preload, shared_object

from .cluster import Cluster
from .launching import launch_on_nodes

# Not Debian's MPICH 4.0.2: without the layer, too, it hangs now and then on these nodes.
ALL = ["mpich", "mpich-abi", "openmpi", "intel", "debian-openmpi"]
RANKS_PER_NODE = 4
RANKS = 16
# Extents, periodic: pairs of neighbours between nodes with ranks node by node, and with them in
# blocks; rows and columns of 4, planes, and a grid that leaves ranks out.
GRIDS = {
    "square": ([4, 4], 0, 12, 8),
    "cylinder": ([4, 4], 1, 16, 16),  # a row that wraps has as few neighbours as a block
    "columns": ([2, 2, 4], 0, 16, 12),
    "smaller": ([3, 4], 0, 8, 6),
}


@pytest.fixture(scope="module")
def cluster():
    if os.geteuid() != 0:
        absent("emulated nodes need root")
    with Cluster(4) as nodes:
        yield nodes


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


def cells_of(out: str, dimensions: int) -> dict[int, tuple[int, tuple[int, ...], int]]:
    """By cell: the rank in MPI_COMM_WORLD, coordinates, neighbours on other nodes."""
    numbers = r" (\d+)" * dimensions
    found = re.findall(rf"^cell (\d+) is rank (\d+) at{numbers} others (\d+)$", out, re.MULTILINE)
    return {
        int(cell): (int(rank), tuple(map(int, rest[:-1])), int(rest[-1]))
        for cell, rank, *rest in found
    }


def coordinates(cell: int, extents: list[int]) -> tuple[int, ...]:
    found = []
    for extent in reversed(extents):
        found.append(cell % extent)
        cell //= extent
    return tuple(reversed(found))


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("name", ALL)
def test_neighbours_of_a_grid_share_nodes(name: str, grid: str, cluster, library) -> None:
    host = present(name)
    extents, periodic, before, after = GRIDS[grid]
    program = compile_c(host, ["placed.c"], "placed")
    for asks, wants, expected in ((1, "1", after), (0, "1", before), (1, "0", before)):
        line = [program, asks, periodic, *extents]
        out = run_on_nodes(host, cluster, line, library, HEADRACE_CART_REORDER=wants)
        cells = cells_of(out, len(extents))
        count = len(cells)
        assert sorted(cells) == list(range(count)), out
        assert out.count("no cell") == RANKS - count
        assert len({rank for rank, _, _ in cells.values()}) == count
        assert all(where == coordinates(one, extents) for one, (_, where, _) in cells.items())
        assert sum(others for _, _, others in cells.values()) == 2 * expected, out
        if expected == before:
            assert all(rank == cell for cell, (rank, _, _) in cells.items()), out


@pytest.mark.parametrize("binding", ["mpif.h", "mpi", "mpi_f08"])
@pytest.mark.parametrize("name", ["intel", "debian-openmpi"])
def test_fortran_reorders_alike(name: str, binding: str, cluster, library) -> None:
    host = present(name)
    if binding not in host.compilers:
        pytest.skip(f"{name} has no {binding} here")
    macro = "-DBINDING_" + binding.upper().replace(".", "_")
    compiler = [*host.compilers[binding], macro]
    program = compile_program(compiler, ["placed.F90"], f"placed-f-{name}-{macro}")
    out = run_on_nodes(host, cluster, [program], library, HEADRACE_CART_REORDER="1")
    found = dict(re.findall(r"cell (\d+) is rank (\d+) at", out))
    nodes = {int(cell): int(rank) // RANKS_PER_NODE for cell, rank in found.items()}
    assert [nodes[cell] for cell in (0, 1, 4, 5)] == [nodes[0]] * 4, out
    assert [nodes[cell] for cell in (10, 11, 14, 15)] == [nodes[10]] * 4, out


@pytest.mark.parametrize("kind", ["adjacent", "general", "unweighted"])
@pytest.mark.parametrize("name", ALL)
def test_neighbours_of_a_graph_share_nodes(name: str, kind: str, cluster, library) -> None:
    host = present(name)
    if kind == "general" and host.family == "mpich5":
        pytest.skip("MPICH's own MPI_Dist_graph_create takes minutes on these nodes")
    program = compile_c(host, ["graph_placed.c"], "graph_placed")
    plain = graph_of(run_on_nodes(host, cluster, [program, kind, 1], library), kind)
    ordered = graph_of(
        run_on_nodes(host, cluster, [program, kind, 1], library, HEADRACE_CART_REORDER="1"), kind
    )
    assert plain > 8
    assert ordered == 4  # a ring on four nodes


def graph_of(out: str, kind: str) -> int:
    """Edges between nodes, of a ring that is as it was asked for."""
    form = (
        r"^vertex (\d+) in 1 (\d+) (\d+) out 1 (\d+) (\d+) weighted (\d) received (\d+) others (\d)"
    )
    lines = [tuple(map(int, one)) for one in re.findall(form, out, re.MULTILINE)]
    places = {(place * 3 + 1) % RANKS: place for place in range(RANKS)}
    vertices = {place: vertex for vertex, place in places.items()}
    assert sorted(vertex for vertex, *_ in lines) == list(range(RANKS)), out
    for vertex, source, in_weight, target, out_weight, weighted, received, _ in lines:
        assert source == vertices[(places[vertex] - 1) % RANKS] == received, out
        assert target == vertices[(places[vertex] + 1) % RANKS], out
        assert weighted == (kind != "unweighted"), out
        expected = (100 + source, 100 + vertex) if weighted else (0, 0)
        assert (in_weight, out_weight) == expected, out
    return sum(others for *_, others in lines)
