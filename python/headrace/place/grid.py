"""Grids of ranks, and the neighbours that stencils have in them."""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from headrace.errors import HeadraceError
from headrace.place.graph import Graph, of_messages

MOST_RANKS = 1 << 24
MOST_MESSAGES = 1 << 28
MOST_DIMENSIONS = 6


@dataclass(frozen=True)
class Grid:
    """Ranks as MPI_Cart_create has them: the last dimension's coordinate varies fastest."""

    extents: tuple[int, ...]
    periodic: bool = False

    @property
    def ranks(self) -> int:
        return math.prod(self.extents)

    def coordinates(self) -> np.ndarray:
        """One row for each dimension, one column for each rank."""
        return np.indices(self.extents).reshape(len(self.extents), -1)


def read_extents(text: str) -> tuple[int, ...]:
    """`16x16x8` as numbers."""
    words = text.lower().split("x")
    if not all(word.isascii() and word.isdigit() and len(word) < 10 for word in words):
        raise _bad_grid(text, "it is not numbers with x between them")
    extents = tuple(map(int, words))
    if not all(extents):
        raise _bad_grid(text, "a dimension has no ranks")
    if len(extents) > MOST_DIMENSIONS:
        raise _bad_grid(text, f"it has more than {MOST_DIMENSIONS} dimensions")
    if math.prod(extents) > MOST_RANKS:
        raise _bad_grid(text, f"it has more than {MOST_RANKS} ranks")
    return extents


def _bad_grid(text: str, why: str) -> HeadraceError:
    return HeadraceError(f"--grid {text[:80]} is not understood", why, "give for example 16x16x8")


def stencils(dimensions: int) -> dict[int, list[tuple[int, ...]]]:
    """The stencils of a grid, by the number of their points: the neighbours' distances.

    Of two that have as many points, the one with the nearer neighbours counts.
    """
    near = [one for one in itertools.product((-1, 0, 1), repeat=dimensions) if any(one)]
    found: dict[int, list[tuple[int, ...]]] = {}
    for corners in range(1, dimensions + 1):  # faces, then edges, then corners
        chosen = [one for one in near if sum(map(abs, one)) <= corners]
        found.setdefault(len(chosen) + 1, chosen)
    faces = [one for one in near if sum(map(abs, one)) == 1]
    for depth in (2, 3, 4):  # along the axes, as finite differences of higher order have them
        star = [tuple(step * part for part in one) for step in range(1, depth + 1) for one in faces]
        found.setdefault(len(star) + 1, star)
    return found


def stencil_graph(grid: Grid, points: int, message: int) -> Graph:
    """Each rank sends `message` bytes to each neighbour of its stencil."""
    known = stencils(len(grid.extents))
    if points not in known:
        raise HeadraceError(
            f"--stencil {points} is not known",
            f"a grid of {len(grid.extents)} dimensions has stencils of "
            + ", ".join(map(str, sorted(known)))
            + " points",
            "give one of these",
        )
    if grid.ranks * (points - 1) > MOST_MESSAGES:
        raise HeadraceError(
            f"--grid with --stencil {points} is too large",
            f"it has more than {MOST_MESSAGES} messages",
            "give a smaller grid",
        )
    coordinates = grid.coordinates()
    senders, receivers = [], []
    for distance in known[points]:
        moved = coordinates + np.asarray(distance)[:, None]
        extents = np.asarray(grid.extents)[:, None]
        if grid.periodic:
            inside = np.arange(grid.ranks)
            moved %= extents
        else:
            inside = np.flatnonzero(((moved >= 0) & (moved < extents)).all(axis=0))
            moved = moved[:, inside]
        senders.append(inside)
        receivers.append(np.ravel_multi_index(tuple(moved), grid.extents))
    sender, receiver = np.concatenate(senders), np.concatenate(receivers)
    return of_messages(grid.ranks, sender, receiver, np.full(len(sender), message))
