"""All that a report shows of samples."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from headrace.analysis.numbers import Balance, balance
from headrace.profile.samples import Samples, Thread
from headrace.profile.stacks import Place, all_places
from headrace.symbols.resolver import Symbols


@dataclass(frozen=True)
class Function:
    """One that the compiler made. samples, time (ns): in itself; with_callees: ns, in what it
    calls, too. balance: of `time` over ranks; by_rank: ns, of those that were in it."""

    name: str
    module: str
    samples: int
    time: int
    with_callees: int
    balance: Balance
    by_rank: Mapping[int, int]


@dataclass(frozen=True)
class HotLine:
    """A line with its function; where the line is of a function that was inlined, `place` names
    both. time: ns."""

    place: Place
    samples: int
    time: int


@dataclass
class TreeNode:
    """Of the call tree, below its callers. time: ns, with callees; own: without."""

    name: str
    time: int = 0
    own: int = 0
    samples: int = 0
    children: dict[str, "TreeNode"] = field(default_factory=dict)

    def costliest(self) -> list["TreeNode"]:
        """Its children, those with most time first."""
        return sorted(self.children.values(), key=lambda one: (-one.time, one.name))


@dataclass(frozen=True)
class Profile:
    """functions, lines: those with most time first. regions: ns by label, "" outside all."""

    threads: tuple[Thread, ...]
    samples: int
    time: int
    functions: tuple[Function, ...]
    lines: tuple[HotLine, ...]
    tree: TreeNode
    regions: Mapping[str, int]

    def share(self, time: float) -> float:
        """Of the time of all samples of all ranks."""
        return time / self.time if self.time else 0.0

    @property
    def cpu(self) -> int:
        """ns that the threads worked while they were sampled, by their own clocks."""
        return sum(one.cpu for one in self.threads)


@dataclass
class _Sums:
    samples: int = 0
    time: int = 0
    with_callees: int = 0
    by_rank: dict[int, int] = field(default_factory=lambda: defaultdict(int))


def profile(
    found: Samples,
    symbols: Symbols,
    ranks: int,
    stacks: Mapping[int, tuple[Place, ...]] | None = None,
) -> Profile | None:
    """None where nothing was sampled. ranks: of the job. stacks: of `all_places`, if known."""
    if not found.threads:
        return None
    functions: dict[tuple[str, str], _Sums] = defaultdict(_Sums)
    lines: dict[Place, _Sums] = defaultdict(_Sums)
    regions: dict[str, int] = defaultdict(int)
    tree = TreeNode("")
    stacks = all_places(found, symbols) if stacks is None else stacks
    for row in found.rows:
        stack = stacks[row.path]
        inner = stack[0]
        _add(functions[inner.function, inner.module], row.rank, row.samples, row.time)
        _add(lines[inner], row.rank, row.samples, row.time)
        for key in {(one.function, one.module) for one in stack}:
            functions[key].with_callees += row.time
        regions[row.region] += row.time
        _grow(tree, stack, row.samples, row.time)
    return Profile(
        found.threads,
        sum(row.samples for row in found.rows),
        sum(row.time for row in found.rows),
        tuple(sorted(_functions(functions, ranks), key=lambda one: (-one.time, one.name))),
        tuple(
            HotLine(place, sums.samples, sums.time)
            for place, sums in sorted(lines.items(), key=lambda item: (-item[1].time, str(item[0])))
        ),
        tree,
        dict(sorted(regions.items(), key=lambda item: (-item[1], item[0]))),
    )


def _add(sums: _Sums, rank: int, samples: int, time: int) -> None:
    sums.samples += samples
    sums.time += time
    sums.by_rank[rank] += time


def _functions(sums: Mapping[tuple[str, str], _Sums], ranks: int) -> list[Function]:
    return [
        Function(
            *key,
            one.samples,
            one.time,
            one.with_callees,
            balance(one.by_rank.values(), ranks),
            dict(one.by_rank),
        )
        for key, one in sums.items()
    ]


def _grow(tree: TreeNode, stack: tuple[Place, ...], samples: int, time: int) -> None:
    node = tree
    node.time += time
    node.samples += samples
    for place in reversed(stack):
        node = node.children.setdefault(place.function, TreeNode(place.function))
        node.time += time
        node.samples += samples
    node.own += time
