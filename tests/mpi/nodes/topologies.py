"""Judges what programs/placed.c and graph_placed.c print: the topology is what was asked for, and
how many neighbours are on other nodes."""

from __future__ import annotations

import re

Cells = dict[int, tuple[int, tuple[int, ...], int]]

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


def cells_of(out: str, dimensions: int) -> Cells:
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


def check_grid(cells: Cells, extents: list[int], pairs: int, is_plain: bool, out: str) -> None:
    """`pairs`: of neighbours on different nodes. `is_plain`: ranks have kept their numbers."""
    count = len(cells)
    assert sorted(cells) == list(range(count)), out
    assert out.count("no cell") == RANKS - count
    assert len({rank for rank, _, _ in cells.values()}) == count
    assert all(where == coordinates(one, extents) for one, (_, where, _) in cells.items())
    assert sum(others for _, _, others in cells.values()) == 2 * pairs, out
    if is_plain:
        assert all(rank == cell for cell, (rank, _, _) in cells.items()), out


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
