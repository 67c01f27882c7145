"""The best order that can be found, and what today's and the numbered ones cost beside it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from headrace.place import orders, partition, strips
from headrace.place.graph import Cost, Graph, cost, of_messages
from headrace.place.grid import Grid
from headrace.place.refine import refined

COMPUTED = "computed"
TODAY = "today"
INTERLEAVED = "interleaved"
LEAST_GAIN = 0.1  # of the bytes between nodes: an order that gains less is not worth a change
SMALL = 256  # ranks: many starts are tried
STARTS = 24
REFINED_STRIPS = 3
TIES = 0.001


@dataclass(frozen=True)
class Priced:
    """An order by name, and what goes between nodes in it."""

    name: str
    cost: Cost


@dataclass(frozen=True)
class Choice:
    """orders: today's, the numbered ones and the computed one, as far as they are known.
    slots: the computed order. way: how it was made. against: the order that it has to beat.
    """

    sizes: tuple[int, ...]
    orders: tuple[Priced, ...]
    slots: np.ndarray
    way: str
    against: str

    def of(self, name: str) -> Cost:
        return next(one.cost for one in self.orders if one.name == name)

    @property
    def gain(self) -> float:
        """The part of the bytes between nodes that the computed order saves."""
        before, after = self.of(self.against), self.of(COMPUTED)
        if before.sent:
            return 1 - after.sent / before.sent
        return 1 - after.edges / before.edges if before.edges else 0.0

    @property
    def is_refused(self) -> bool:
        return self.against != INTERLEAVED and self.gain < LEAST_GAIN


def choose(
    graph: Graph,
    sizes: Sequence[int],
    grid: Grid | None = None,
    kinds: np.ndarray | None = None,
    known: dict[str, np.ndarray] | None = None,
) -> Choice:
    """Computes an order of a graph's ranks for nodes of these sizes.

    kinds: the program of each rank; each node keeps as many ranks of each as it has in the first
    of `known`. known: further orders by name, as the node of each rank. The computed one has to
    beat INTERLEAVED, TODAY or order 1, whichever is known first.
    """
    known = dict(known or {})
    priced = [Priced(name, cost(graph, found)) for name, found in known.items()]
    for name in orders.NUMBERED:
        known[name] = orders.nodes(orders.numbered(name, sizes), sizes)
        priced.append(Priced(name, cost(graph, known[name])))
    against = next(name for name in (INTERLEAVED, TODAY, orders.SMP) if name in known)
    way, best = _best(graph, sizes, grid, kinds, known, against)
    priced.append(Priced(COMPUTED, cost(graph, best)))
    return Choice(tuple(sizes), tuple(priced), _settled(best, sizes), way, against)


def _best(
    graph: Graph,
    sizes: Sequence[int],
    grid: Grid | None,
    kinds: np.ndarray | None,
    known: dict[str, np.ndarray],
    against: str,
) -> tuple[str, np.ndarray]:
    weighed = _weighed(graph)
    found = [(against, known[against])]
    if grid is not None and kinds is None:
        made = [(way, orders.nodes(order, sizes)) for way, order in strips.candidates(grid, sizes)]
        made.sort(key=lambda one: cost(weighed, one[1]).sent)
        found += made[:1]
        found += [(f"{way}, refined", refined(weighed, at)) for way, at in made[:REFINED_STRIPS]]
    for way, start in _starts(weighed, sizes, grid, kinds, known):
        found.append((f"{way}, refined", refined(weighed, start, kinds)))
    return min(found, key=lambda one: cost(weighed, one[1]).sent)


def _weighed(graph: Graph) -> Graph:
    """Bytes for weights, and where ranks talk without bytes, or nearly so, the messages count."""
    total = int(graph.sent.sum())
    if total == 0:
        return Graph(graph.ranks, graph.first, graph.second, np.ones_like(graph.sent))
    return graph


def _starts(
    graph: Graph,
    sizes: Sequence[int],
    grid: Grid | None,
    kinds: np.ndarray | None,
    known: dict[str, np.ndarray],
) -> Iterator[tuple[str, np.ndarray]]:
    if kinds is not None:
        first = next(iter(known.values()))
        yield "exchanged", first
        yield "METIS", _parts_by_kind(graph, len(sizes), kinds, first)
    else:
        # Large grids have their strips, too.
        yield from partition.parts(graph, sizes, grid is not None and graph.ranks > SMALL)
    first = next(iter(known.values()))
    if graph.ranks <= SMALL:
        generator = np.random.default_rng(1)  # the same order each time
        for _ in range(STARTS):
            yield "exchanged", _shuffled(first, kinds, generator)


def _shuffled(
    found: np.ndarray, kinds: np.ndarray | None, generator: np.random.Generator
) -> np.ndarray:
    if kinds is None:
        return generator.permutation(found)
    result = found.copy()
    for kind in np.unique(kinds):
        of_kind = kinds == kind
        result[of_kind] = generator.permutation(found[of_kind])
    return result


def _parts_by_kind(graph: Graph, nodes: int, kinds: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Parts of each kind's own graph; then those go together that talk most to each other."""
    found = np.full(graph.ranks, -1, dtype=np.int64)
    for kind in np.unique(kinds):
        ranks = np.flatnonzero(kinds == kind)
        sizes = np.bincount(first[ranks], minlength=nodes)
        used = np.flatnonzero(sizes)
        place = np.full(graph.ranks, -1, dtype=np.int64)
        place[ranks] = np.arange(len(ranks))
        inner = (place[graph.first] >= 0) & (place[graph.second] >= 0)
        own = of_messages(
            len(ranks), place[graph.first[inner]], place[graph.second[inner]], graph.sent[inner]
        )
        _, part = next(partition.parts(own, sizes[used].tolist(), single=True))
        found[ranks] = used[_beside_others(graph, ranks, part, found, used, sizes)[part]]
    return found


def _beside_others(
    graph: Graph,
    ranks: np.ndarray,
    part: np.ndarray,
    found: np.ndarray,
    used: np.ndarray,
    sizes: np.ndarray,
) -> np.ndarray:
    """For each part, the place in `used` of its node: parts of one size are dealt out to their
    nodes so that those that talk most to ranks already placed come first."""
    own = np.full(graph.ranks, -1, dtype=np.int64)
    own[ranks] = part
    talk = np.zeros((len(used), len(used)), dtype=np.int64)
    column = np.full(int(used.max()) + 1, -1, dtype=np.int64)
    column[used] = np.arange(len(used))
    for one, other in ((graph.first, graph.second), (graph.second, graph.first)):
        node = np.where(found[other] >= 0, found[other], 0)
        fits = (own[one] >= 0) & (found[other] >= 0) & np.isin(node, used)
        np.add.at(talk, (own[one][fits], column[node[fits]]), graph.sent[fits])
    result = np.arange(len(used))
    for size in np.unique(sizes[used]):
        free = np.flatnonzero(sizes[used] == size)
        open_parts, open_nodes = list(free), list(free)
        while open_parts:
            here = talk[np.ix_(open_parts, open_nodes)]
            at, to = divmod(int(np.argmax(here)), len(open_nodes))
            result[open_parts.pop(at)] = open_nodes.pop(to)
    return result


def _settled(found: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """The order by which ranks come to these nodes; of nodes of one size the lowest rank's comes
    first, so that nodes that talk stay near each other where launchers number them so."""
    lowest = np.full(len(sizes), len(found), dtype=np.int64)
    np.minimum.at(lowest, found, np.arange(len(found)))
    renamed = np.arange(len(sizes))
    for size in set(sizes):
        alike = np.flatnonzero(np.asarray(sizes) == size)
        renamed[alike[np.argsort(lowest[alike], kind="stable")]] = alike
    return orders.places(renamed[found])
