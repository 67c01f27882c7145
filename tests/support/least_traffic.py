"""The order of ranks that sends the least between nodes, by looking at all of them. Shares nothing
with `headrace.place`."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable
from functools import cache

Message = tuple[int, int, int]
"""Sender, receiver, bytes."""


def least_between_nodes(ranks: int, messages: Iterable[Message], sizes: Iterable[int]) -> int:
    """The fewest bytes between nodes of these sizes. At most 16 ranks: each choice of a node's
    ranks is looked at once for each set of ranks that others have left."""
    weight: dict[tuple[int, int], int] = defaultdict(int)
    for one, other, sent in messages:
        weight[min(one, other), max(one, other)] += sent

    @cache
    def inside(chosen: tuple[int, ...]) -> int:
        return sum(weight.get(pair, 0) for pair in itertools.combinations(chosen, 2))

    @cache
    def most_inside(free: tuple[int, ...], left: tuple[int, ...]) -> int:
        if len(left) == 1:
            return inside(free)
        # The first free rank is on some node: try each size for it, so that none comes twice.
        best = 0
        for size in set(left):
            rest = list(left)
            rest.remove(size)
            for mates in itertools.combinations(free[1:], size - 1):
                gone = {free[0], *mates}
                kept = tuple(rank for rank in free if rank not in gone)
                found = inside((free[0], *mates)) + most_inside(kept, tuple(rest))
                best = max(best, found)
        return best

    total = sum(sent for pair, sent in weight.items() if pair[0] != pair[1])
    return total - most_inside(tuple(range(ranks)), tuple(sorted(sizes)))
