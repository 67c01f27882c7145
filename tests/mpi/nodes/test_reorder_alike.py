"""HEADRACE_CART_REORDER under every MPI and binding. Ranks of one machine pretend to be on four
nodes: Debian's MPICH does not always end on emulated ones, with the layer or without."""

from __future__ import annotations

import os

import pytest
from conftest import absent
from hosts import Host, all_hosts, host_named
from running import compile_c, compile_program, launch

from .topologies import GRIDS, RANKS, RANKS_PER_NODE, cells_of, check_grid, graph_of

PRETENDED = os.path.join(os.path.dirname(__file__), "pretended_node.sh")
NAMES = [host.name for host in all_hosts()]
KINDS = ["adjacent", "general", "unweighted"]
RING, SCRAMBLED = 4, 12  # edges between nodes of a ring: at best, and as it is numbered


def present(name: str) -> Host:
    if os.geteuid() != 0:
        absent("host names and boot ids of their own need root")
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    return host


def run_pretended(host: Host, program: list, **settings: str) -> str:
    own = {"HEADRACE_SUMMARY": "0", **settings}
    # Its MPI_Finalize does not end now and then, without the layer, too.
    ends_at_once = host.family == "mpich4"
    own |= {"ENDS_AT_ONCE": "1"} if ends_at_once else {}
    line = [PRETENDED, RANKS_PER_NODE, *program]
    result = launch(host, RANKS, line, layered=True, environment=own)
    assert result.code == 0 or ends_at_once, result.explain()
    return result.out


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("name", NAMES)
def test_grids(name: str, grid: str, library) -> None:
    host = present(name)
    extents, periodic, before, after = GRIDS[grid]
    program = compile_c(host, ["placed.c"], "placed")
    for asks, wants, expected in ((1, "1", after), (0, "1", before), (1, "0", before)):
        line = [program, asks, periodic, *extents]
        out = run_pretended(host, line, HEADRACE_CART_REORDER=wants)
        check_grid(cells_of(out, len(extents)), extents, expected, expected == before, out)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_graphs(name: str, kind: str, library) -> None:
    host = present(name)
    check_graphs(host, [compile_c(host, ["graph_placed.c"], "graph_placed")], kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("binding", ["mpif.h", "mpi", "mpi_f08"])
@pytest.mark.parametrize("name", ["intel", "debian-openmpi", "debian-mpich"])
def test_graphs_in_fortran(name: str, binding: str, kind: str, library) -> None:
    host = present(name)
    check_graphs(host, [compiled_fortran(host, binding, "graph_placed")], kind)


def check_graphs(host: Host, program: list, kind: str) -> None:
    for asks, wants, expected in ((1, "1", RING), (0, "1", SCRAMBLED), (1, "0", SCRAMBLED)):
        out = run_pretended(host, [*program, kind, asks], HEADRACE_CART_REORDER=wants)
        assert graph_of(out, kind) == expected, out


@pytest.mark.parametrize("binding", ["mpif.h", "mpi", "mpi_f08"])
@pytest.mark.parametrize("name", ["intel", "debian-openmpi", "debian-mpich"])
def test_grids_in_fortran(name: str, binding: str, library) -> None:
    host = present(name)
    program = compiled_fortran(host, binding, "placed")
    out = run_pretended(host, [program], HEADRACE_CART_REORDER="1")
    cells = {cell: rank // RANKS_PER_NODE for cell, (rank, *_) in fortran_cells(out).items()}
    assert sorted(cells) == list(range(RANKS)), out
    for block in ((0, 1, 4, 5), (2, 3, 6, 7), (8, 9, 12, 13), (10, 11, 14, 15)):
        assert len({cells[cell] for cell in block}) == 1, out


def fortran_cells(out: str) -> dict[int, tuple[int, ...]]:
    lines = [line.split() for line in out.splitlines() if line.startswith("cell ")]
    return {int(words[1]): (int(words[4]), int(words[6]), int(words[7])) for words in lines}


def compiled_fortran(host: Host, binding: str, source: str):
    if binding not in host.compilers:
        pytest.skip(f"{host.name} has no {binding} here")
    macro = "-DBINDING_" + binding.upper().replace(".", "_")
    # mpif.h has no interfaces: MPI_UNWEIGHTED is a number there, and weights are arrays.
    compiler = [*host.compilers[binding], macro, "-fallow-argument-mismatch"]
    return compile_program(compiler, [f"{source}.F90"], f"{source}-f-{host.name}-{macro}")
