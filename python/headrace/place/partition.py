"""Parts of a graph that have exactly the sizes of nodes, with few bytes between them.

METIS makes them if it is installed and answers; else ranks are gathered around one rank after the
other. METIS does not keep sizes exactly: that is repaired here.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from headrace.errors import say
from headrace.place import metis
from headrace.place.graph import Adjacency, Graph

LARGEST_SUM = 1 << 30  # METIS counts in 32 bits
EDGES_AT_A_TIME = 2_000_000  # that METIS cuts again and again: larger graphs are cut less often
MOST_CUTS = 10
SEEDS = (1, 2, 3)


def parts(
    graph: Graph, sizes: Sequence[int], single: bool = False
) -> Iterator[tuple[str, np.ndarray]]:
    """The node of each rank, in several ways or in a single one, each with its name. Says that
    METIS failed."""
    found: list[list[int]] = []
    if metis.is_there() and graph.ranks > 1 and len(sizes) > 1:
        answer = metis.ask(_task(graph, sizes, single))
        found = answer.found
        if answer.why and not found:
            say(f"METIS gave no rank order ({answer.why}), a simpler way is used instead")
    for one in found:
        yield "METIS", repaired(graph.adjacency, np.asarray(one, dtype=np.int64), sizes)
    if not found:
        yield "gathered around ranks", _gathered(graph, sizes)


def _task(graph: Graph, sizes: Sequence[int], single: bool) -> metis.Task:
    adjacency = graph.adjacency
    total = sum(sizes)
    effort = max(1, min(MOST_CUTS, EDGES_AT_A_TIME // max(len(graph.first), 1)))
    return metis.Task(
        parts=len(sizes),
        starts=adjacency.starts.tolist(),
        neighbours=adjacency.neighbours.tolist(),
        weights=_whole(adjacency.weights).tolist(),
        shares=None if len(set(sizes)) == 1 else [size / total for size in sizes],
        cuts=effort,
        seeds=SEEDS if effort == MOST_CUTS and not single else SEEDS[:1],
    )


def _whole(weights: np.ndarray) -> np.ndarray:
    """Weights in proportion, from 1 on, whose sum METIS can count."""
    total = int(weights.sum())
    if total <= LARGEST_SUM:
        return np.maximum(weights, 1)
    return np.maximum((weights * (LARGEST_SUM / total)).astype(np.int64), 1)


def _gathered(graph: Graph, sizes: Sequence[int]) -> np.ndarray:
    """Fills one node after the other, next with the rank that talks most to those there."""
    adjacency = graph.adjacency
    found = np.full(graph.ranks, -1, dtype=np.int64)
    free = 0
    pull: dict[int, int] = {}
    for node, size in enumerate(sizes):
        pull = {rank: 0 for rank in pull if found[rank] < 0}
        for _ in range(size):
            if pull:
                rank = max(pull, key=lambda one: (pull[one], -one))
            else:
                while found[free] >= 0:
                    free += 1
                rank = free
            found[rank] = node
            pull.pop(rank, None)
            row = adjacency.row(rank)
            for other, weight in zip(
                adjacency.neighbours[row].tolist(), adjacency.weights[row].tolist(), strict=True
            ):
                if found[other] < 0:
                    pull[other] = pull.get(other, 0) + weight
    return found


def repaired(adjacency: Adjacency, found: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Parts of exactly these sizes: ranks move from parts that are too large to those too small,
    those first that lose least by it."""
    found = found.copy()
    excess = np.bincount(found, minlength=len(sizes)) - np.asarray(sizes)
    for part in np.flatnonzero(excess > 0):
        members = np.flatnonzero(found == part)
        while excess[part] > 0:
            small = np.flatnonzero(excess < 0)
            gains = _gains(adjacency, members, found, len(sizes))
            losses = gains[:, small] - gains[:, part][:, None]
            rank, target = np.unravel_index(int(np.argmax(losses)), losses.shape)
            found[members[rank]] = small[target]
            excess[part] -= 1
            excess[small[target]] += 1
            members = np.delete(members, rank)
    return found


def _gains(adjacency: Adjacency, members: np.ndarray, found: np.ndarray, count: int) -> np.ndarray:
    """Bytes of each member, a row, with each part."""
    gains = np.zeros((len(members), count), dtype=np.int64)
    for row, rank in enumerate(members.tolist()):
        here = adjacency.row(rank)
        np.add.at(gains[row], found[adjacency.neighbours[here]], adjacency.weights[here])
    return gains
