"""Exchanges ranks between nodes while that saves bytes between nodes. Sizes stay as they are.

Small graphs: B. Kernighan, S. Lin, An efficient heuristic procedure for partitioning graphs (1970),
between each two nodes. Large ones: many independent exchanges at a time.
"""

import numpy as np

from headrace.place.graph import Adjacency, Graph

SMALL = 4096  # ranks: a matrix of all pairs fits
MOST_WORK = 40_000_000  # entries of matrices that a round of the small method looks at
MOST_ROUNDS = 40


def refined(graph: Graph, found: np.ndarray, kinds: np.ndarray | None = None) -> np.ndarray:
    """The node of each rank, with no more bytes between nodes than in `found`. kinds: ranks are
    exchanged with those of their own kind only."""
    found = found.copy()
    if len(graph.first) == 0 or found.max(initial=0) == 0:
        return found
    kinds = np.zeros(graph.ranks, dtype=np.int64) if kinds is None else kinds
    for _ in range(MOST_ROUNDS):
        if not _exchange_many(graph.adjacency, found, kinds):
            break
    if graph.ranks <= SMALL:
        _exchange_pairwise(graph, found, kinds)
    return found


def _exchange_many(adjacency: Adjacency, found: np.ndarray, kinds: np.ndarray) -> int:
    """One round of exchanges that do not touch each other's neighbours; how many there were."""
    locked = np.zeros(len(found), dtype=bool)
    done = 0
    for one, other, gain in zip(*_proposals(adjacency, found, kinds), strict=True):
        if locked[one] or locked[other]:
            continue
        mine, its = adjacency.row(one), adjacency.row(other)
        neighbours = adjacency.neighbours[mine]
        direct = adjacency.weights[mine][neighbours == other]
        if gain - 2 * int(direct.sum()) <= 0:
            continue
        found[one], found[other] = found[other], found[one]
        locked[neighbours] = locked[adjacency.neighbours[its]] = True
        locked[one] = locked[other] = True
        done += 1
    return done


def _proposals(
    adjacency: Adjacency, found: np.ndarray, kinds: np.ndarray
) -> tuple[list[int], list[int], list[int]]:
    """Pairs of ranks and what their exchange saves if they do not talk to each other, best first.
    Of the ranks that would move from one node to another, the k-th best meets the k-th best of
    those that would move back."""
    ranks, targets, gains = _moves(adjacency, found)
    nodes = int(found.max()) + 1
    way = found[ranks] * nodes + targets
    back = targets * nodes + found[ranks]
    count = int(kinds.max()) + 1
    way, back = way * count + kinds[ranks], back * count + kinds[ranks]
    by_way = np.lexsort((ranks, -gains, way))
    ranks, gains, way, back = ranks[by_way], gains[by_way], way[by_way], back[by_way]
    firsts = np.searchsorted(way, way, side="left")
    place = np.searchsorted(way, back, side="left") + np.arange(len(way)) - firsts
    exists = place < np.searchsorted(way, back, side="right")
    one = np.flatnonzero(exists & (way < back))
    other = place[one]
    gain = gains[one] + gains[other]
    better = gain > 0
    best = np.argsort(-gain[better], kind="stable")
    one, other, gain = one[better][best], other[better][best], gain[better][best]
    return ranks[one].tolist(), ranks[other].tolist(), gain.tolist()


def _moves(adjacency: Adjacency, found: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each rank with each other node that it talks to, and the bytes that moving there saves."""
    nodes = int(found.max()) + 1
    keys = adjacency.sources * nodes + found[adjacency.neighbours]
    keys, place = np.unique(keys, return_inverse=True)
    sums = np.bincount(place, weights=adjacency.weights, minlength=len(keys)).astype(np.int64)
    ranks, targets = keys // nodes, keys % nodes
    own = np.zeros(len(found), dtype=np.int64)
    at_home = targets == found[ranks]
    own[ranks[at_home]] = sums[at_home]
    away = ~at_home
    return ranks[away], targets[away], sums[away] - own[ranks[away]]


def _exchange_pairwise(graph: Graph, found: np.ndarray, kinds: np.ndarray) -> None:
    matrix = np.zeros((graph.ranks, graph.ranks), dtype=np.int64)
    matrix[graph.first, graph.second] = matrix[graph.second, graph.first] = graph.sent
    nodes = int(found.max()) + 1
    work = 0
    changed = np.ones(nodes, dtype=bool)
    while changed.any() and work < MOST_WORK:
        now, changed = changed, np.zeros(nodes, dtype=bool)
        for low, high in _neighbouring(graph, found, nodes):
            if not (now[low] or now[high]) or work >= MOST_WORK:
                continue
            here, there = np.flatnonzero(found == low), np.flatnonzero(found == high)
            work += min(len(here), len(there)) * len(here) * len(there)
            if _kernighan_lin(matrix, found, here, there, kinds):
                changed[low] = changed[high] = True


def _neighbouring(graph: Graph, found: np.ndarray, nodes: int) -> list[tuple[int, int]]:
    low = np.minimum(found[graph.first], found[graph.second])
    high = np.maximum(found[graph.first], found[graph.second])
    keys = np.unique((low * nodes + high)[low != high])
    return [divmod(int(key), nodes) for key in keys]


def _kernighan_lin(
    matrix: np.ndarray,
    found: np.ndarray,
    here: np.ndarray,
    there: np.ndarray,
    kinds: np.ndarray,
) -> bool:
    """Exchanges pairs of two nodes' ranks, best first, and keeps the best number of exchanges."""
    between = matrix[np.ix_(here, there)]
    gain_here = between.sum(axis=1) - matrix[np.ix_(here, here)].sum(axis=1)
    gain_there = between.sum(axis=0) - matrix[np.ix_(there, there)].sum(axis=1)
    closed = np.iinfo(np.int64).min // 4
    barred = np.where(kinds[here][:, None] != kinds[there][None, :], closed, 0)
    pairs, total, best, best_count = [], 0, 0, 0
    for _ in range(min(len(here), len(there))):
        gains = gain_here[:, None] + gain_there[None, :] - 2 * between + barred
        one, other = divmod(int(np.argmax(gains)), len(there))
        if gains[one, other] < closed // 2:
            break
        total += int(gains[one, other])
        pairs.append((one, other))
        if total > best:
            best, best_count = total, len(pairs)
        rank, partner = here[one], there[other]
        gain_here += 2 * (matrix[here, rank] - matrix[here, partner])
        gain_there += 2 * (matrix[there, partner] - matrix[there, rank])
        barred[one, :] = closed
        barred[:, other] = closed
    for one, other in pairs[:best_count]:
        found[here[one]], found[there[other]] = found[there[other]], found[here[one]]
    return best > 0
