"""Parts of a graph that have exactly the sizes of nodes, with few bytes between them.

METIS (Apache-2.0) makes them, by PyMetis (MIT), if that is installed; else ranks are gathered
around one rank after the other. METIS does not keep sizes exactly: that is repaired here.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from headrace.place.graph import Adjacency, Graph

try:
    import pymetis
except ImportError:  # an extra: it has no wheel for every machine
    pymetis = None

LARGEST_SUM = 1 << 30  # METIS counts in 32 bits
EDGES_AT_A_TIME = 2_000_000  # that METIS cuts again and again: larger graphs are cut less often
MOST_CUTS = 10
SEEDS = (1, 2, 3)


def has_library() -> bool:
    return pymetis is not None


def parts(graph: Graph, sizes: Sequence[int]) -> Iterator[tuple[str, np.ndarray]]:
    """The node of each rank, in several ways, each with its name."""
    if pymetis is None or graph.ranks <= 1 or len(sizes) == 1:
        yield "gathered around ranks", _gathered(graph, sizes)
        return
    effort = max(1, min(MOST_CUTS, EDGES_AT_A_TIME // max(len(graph.first), 1)))
    for seed in SEEDS if effort == MOST_CUTS else SEEDS[:1]:
        found = _by_metis(graph, sizes, effort, seed)
        yield "METIS", repaired(graph.adjacency, found, sizes)


def _by_metis(graph: Graph, sizes: Sequence[int], effort: int, seed: int) -> np.ndarray:
    adjacency = graph.adjacency
    total = sum(sizes)
    weights = _whole(adjacency.weights)
    _, found = pymetis.part_graph(
        len(sizes),
        adjacency=pymetis.CSRAdjacency(adjacency.starts.tolist(), adjacency.neighbours.tolist()),
        eweights=weights.tolist(),
        tpwgts=None if len(set(sizes)) == 1 else [size / total for size in sizes],
        recursive=True,
        options=pymetis.Options(ncuts=effort, seed=seed),
    )
    return np.asarray(found, dtype=np.int64)


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
