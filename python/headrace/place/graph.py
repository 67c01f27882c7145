"""Who sends how much to whom, as an undirected graph with the ranks as vertices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class Graph:
    """Edge i joins `first[i]` and `second[i]`, the lower rank first; no edge is there twice.

    sent: bytes of an edge, both ways together.
    """

    ranks: int
    first: np.ndarray
    second: np.ndarray
    sent: np.ndarray

    @cached_property
    def adjacency(self) -> Adjacency:
        return _adjacency(self)


@dataclass(frozen=True)
class Adjacency:
    """Each edge from both of its ends: those of rank r are starts[r] to starts[r + 1]."""

    starts: np.ndarray
    sources: np.ndarray
    neighbours: np.ndarray
    weights: np.ndarray

    def row(self, rank: int) -> slice:
        return slice(int(self.starts[rank]), int(self.starts[rank + 1]))


@dataclass(frozen=True)
class Cost:
    """What goes between nodes: pairs of ranks that talk, and the bytes that they send."""

    edges: int
    sent: int


def of_messages(ranks: int, senders: np.ndarray, receivers: np.ndarray, sent: np.ndarray) -> Graph:
    """The graph of directed messages. What ranks send themselves is left out."""
    first, second = np.minimum(senders, receivers), np.maximum(senders, receivers)
    others = first != second
    keys, place = np.unique(first[others] * ranks + second[others], return_inverse=True)
    total = np.zeros(len(keys), dtype=np.int64)
    np.add.at(total, place, sent[others])
    return Graph(ranks, keys // max(ranks, 1), keys % max(ranks, 1), total)


def cost(graph: Graph, node_of_rank: np.ndarray) -> Cost:
    between = node_of_rank[graph.first] != node_of_rank[graph.second]
    return Cost(int(np.count_nonzero(between)), int(graph.sent[between].sum()))


def _adjacency(graph: Graph) -> Adjacency:
    sources = np.concatenate([graph.first, graph.second])
    neighbours = np.concatenate([graph.second, graph.first])
    weights = np.concatenate([graph.sent, graph.sent])
    by_source = np.argsort(sources, kind="stable")
    starts = np.zeros(graph.ranks + 1, dtype=np.int64)
    np.cumsum(np.bincount(sources, minlength=graph.ranks), out=starts[1:])
    return Adjacency(starts, sources[by_source], neighbours[by_source], weights[by_source])
