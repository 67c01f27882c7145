"""The orders that have a number, and which node each rank is on in an order."""

from collections.abc import Sequence

import numpy as np

ROUND_ROBIN, SMP, FOLDED = "0", "1", "2"
NUMBERED = (ROUND_ROBIN, SMP, FOLDED)
TITLES = {
    ROUND_ROBIN: "round robin",
    SMP: "node by node",
    FOLDED: "folded",
}


def numbered(order: str, sizes: Sequence[int]) -> np.ndarray:
    """The ranks in the order of their places. sizes: the ranks of each node.

    0 deals ranks out to one node after the other, 1 fills node by node, 2 deals them out to the
    last node and then back to the first. Nodes that are full are passed over.
    """
    ranks = sum(sizes)
    if order == SMP:
        return np.arange(ranks)
    return places(_dealt(sizes, there_and_back=order == FOLDED))


def _dealt(sizes: Sequence[int], there_and_back: bool) -> np.ndarray:
    """The node of each rank. Round k goes to all nodes that have more than k places."""
    places_of = np.asarray(sizes)
    rounds = []
    for number in range(int(places_of.max(initial=0))):
        nodes = np.flatnonzero(places_of > number)
        rounds.append(nodes[::-1] if there_and_back and number % 2 else nodes)
    return np.concatenate(rounds) if rounds else np.zeros(0, dtype=np.int64)


def places(node_of_rank: np.ndarray) -> np.ndarray:
    """The order by which ranks come to these nodes, the ranks of a node ascending."""
    return np.argsort(node_of_rank, kind="stable")


def nodes(order: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """The node of each rank in an order."""
    found = np.empty(len(order), dtype=np.int64)
    found[order] = np.repeat(np.arange(len(sizes)), sizes)
    return found
