"""Traced functions of a record: their calls and times over all ranks and threads."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from headrace.analysis.generated.verdict_texts import OUTSIDE_RUN
from headrace.analysis.numbers import Balance, balance
from headrace.analysis.paths import UNKNOWN, Frame, Paths
from headrace.analysis.procedures import bytes_of
from headrace.profile.samples import MOST_FRAMES
from headrace.profile.stacks import places
from headrace.record.tables import Node, Record
from headrace.symbols.names import demangled
from headrace.symbols.resolver import Symbols

WAYS = ("slots", "hooks", "nops", "prologue", "-")
BY_SLOTS, BY_HOOKS = 0, 1
COSTLY = 0.1  # of a function's own time, that tracing took itself
OTHERS = "(by name)"  # the group of functions that were asked for by their names
MPI_GROUP = "mpi"
_COLUMNS = ("rank", "function", "path", "region", "calls", "unended", "time", "own", "mpi")
_COLUMNS += ("least", "greatest", "moved")


class Key(NamedTuple):
    """What makes functions of several nodes one."""

    name: str
    group: str
    way: int
    module: str


@dataclass
class Caller:
    """A function, by who called it. calls, time (ns): of the traced function, by this path."""

    name: str
    calls: int = 0
    time: int = 0
    callers: dict[str, "Caller"] = field(default_factory=dict)

    def costliest(self) -> list["Caller"]:
        return sorted(self.callers.values(), key=lambda one: (-one.time, -one.calls, one.name))


@dataclass(frozen=True)
class TracedFunction:
    """Times in ns, without what tracing took where Traced.is_left_out says so. time: what it calls
    included; own: without other traced functions and MPI. least, greatest: of one call; None if
    none ended. balance: of `own` over ranks. by_rank: `own` of those that called it. regions:
    `time` by label, "" outside all. cost: what tracing its calls took."""

    name: str
    group: str
    way: str
    module: str
    calls: int
    unended: int
    time: int
    own: int
    mpi: int
    least: int | None
    greatest: int | None
    moved: int
    balance: Balance
    by_rank: Mapping[int, int]
    regions: dict[str, int]
    callers: Caller
    cost: float

    @property
    def is_costly(self) -> bool:
        """Whether its times say more of tracing than of itself."""
        return self.cost > COSTLY * self.own and self.calls > 0

    @property
    def first_caller(self) -> str:
        """Through which most of its time came."""
        found = self.callers.costliest()
        return found[0].name if found else ""


@dataclass(frozen=True)
class TracedGroup:
    """own: ns outside other traced functions and MPI; of group mpi in MPI calls."""

    name: str
    functions: int
    calls: int
    own: int
    moved: int
    balance: Balance


@dataclass(frozen=True)
class Refused:
    """A function that was to be traced."""

    name: str
    group: str
    way: str
    module: str
    reason: str


@dataclass(frozen=True)
class Traced:
    """functions: those with most own time first; uncalled: how many more were never called.
    costs: ns that a call takes, by way, as measured. left_out: functions beyond
    HEADRACE_TRACE_FUNCTIONS. missed: calls for which there was no room, or that could not be
    traced where they ran. is_left_out: whether times are without what tracing took."""

    functions: tuple[TracedFunction, ...]
    uncalled: int
    groups: tuple[TracedGroup, ...]
    refused: tuple[Refused, ...]
    costs: dict[str, float]
    left_out: int
    missed: int
    is_left_out: bool


@dataclass
class _Sums:
    calls: int = 0
    unended: int = 0
    time: int = 0
    own: int = 0
    mpi: int = 0
    least: int | None = None
    greatest: int | None = None
    moved: int = 0
    by_rank: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    regions: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    by_path: dict[int, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))


class Calls:
    """The rows of tables `functions` and `traced`, added up; `frames` are to be resolved before
    `traced` makes a report of them."""

    def __init__(self, record: Record):
        self.record = record
        self._paths = Paths()
        self.sums: dict[Key, _Sums] = {}
        self.refused: dict[Refused, None] = {}
        for node in record.nodes:
            self._add(node)

    def _add(self, node: Node) -> None:
        if not node["functions"].size:
            return
        numbers = self._paths.add(node)
        keys = [self._key(*row) for row in _functions(node)]
        labels = _labels(node)
        for row in node["traced"].rows(*_COLUMNS):
            rank, function, path, region, *rest = row
            key = keys[function] if function >= 0 else None
            if key is not None:
                number = numbers[path] if path >= 0 else UNKNOWN
                _add_row(self.sums[key], rank, number, labels.get(region, ""), rest)

    def _key(self, name: str, group: str, way: int, module: str, refusal: str) -> Key | None:
        if refusal:
            own = Refused(demangled(name), group, WAYS[way], Path(module).name, refusal)
            self.refused[own] = None
            return None
        key = Key(name, group, way, module)
        self.sums.setdefault(key, _Sums())
        return key

    def refusals(self) -> Iterator[Refused]:
        """But of functions by slots that another rank found: programs of a job may differ."""
        found = {(demangled(key.name), WAYS[key.way]) for key in self.sums if key.way == BY_SLOTS}
        return (one for one in self.refused if (one.name, one.way) not in found)

    def frames_of(self, key: Key, path: int) -> tuple[Frame, ...]:
        """Of who called, innermost first. Hooks are called from within the function."""
        frames = self._paths.frames(path, MOST_FRAMES)
        return frames[1:] if key.way == BY_HOOKS else frames

    def frames(self) -> Iterator[Frame]:
        for key, sums in self.sums.items():
            for path in sums.by_path:
                yield from self.frames_of(key, path)


def _functions(node: Node) -> Iterator[tuple[str, str, int, str, str]]:
    table = node["functions"]
    files = node.texts_of("modules", "file")
    return zip(
        node.texts_of("functions", "name"),
        node.texts_of("functions", "group"),
        table["way"],
        (files[place] if place >= 0 else "" for place in table["module"]),
        node.texts_of("functions", "refusal"),
        strict=True,
    )


def _labels(node: Node) -> dict[int, str]:
    rows = zip(
        node["regions"]["region"],
        node["regions"]["id"],
        node.texts_of("regions", "label"),
        strict=True,
    )
    return {region: label or f"region {own}" for region, own, label in rows}


def _add_row(sums: _Sums, rank: int, path: int, label: str, numbers: Iterable[int]) -> None:
    calls, unended, time, own, mpi, least, greatest, moved = numbers
    sums.calls += calls
    sums.unended += unended
    sums.time += time
    sums.own += own
    sums.mpi += mpi
    sums.moved += moved
    if calls > unended:
        sums.least = least if sums.least is None else min(sums.least, least)
        sums.greatest = max(sums.greatest or 0, greatest)
    sums.by_rank[rank] += own
    sums.regions[label] += time
    of_path = sums.by_path[path]
    of_path[0] += calls
    of_path[1] += time


def traced(found: Calls, symbols: Symbols, ranks: int) -> Traced | None:
    """None where nothing was to be traced. ranks: of the job."""
    if not found.sums and not found.refused:
        return None
    costs = {
        way: _number(found.record, f"trace_cost_{number}") / 1000 for number, way in enumerate(WAYS)
    }
    functions = [
        _function(found, key, sums, symbols, ranks, costs[WAYS[key.way]])
        for key, sums in found.sums.items()
        if sums.calls
    ]
    functions.sort(key=lambda one: (-one.own, -one.calls, one.name))
    return Traced(
        tuple(functions),
        sum(not sums.calls for sums in found.sums.values()),
        (*_groups(found, ranks), _mpi(found.record, ranks)),
        tuple(found.refusals()),
        {way: cost for way, cost in costs.items() if cost},
        int(_number(found.record, "trace_left_out")),
        sum(missed for node in found.record.nodes for missed in _missed(node)),
        any(_number(found.record, f"trace_inner_{number}") for number in range(len(WAYS))),
    )


def _cut(time: int) -> int:
    """Of a sum over rows, which may be below 0: a mean was taken from each call for its tracing."""
    return max(time, 0)


def _missed(node: Node) -> Iterable[int]:
    table = node["ranks"]
    return table.columns.get("untraced", ())


def _number(record: Record, fact: str) -> float:
    """Of a fact, which may be any text; 0 if it is no number."""
    text = record.facts.get(fact, "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0.0


def _function(
    found: Calls, key: Key, sums: _Sums, symbols: Symbols, ranks: int, cost: float
) -> TracedFunction:
    regions = sorted(sums.regions.items(), key=lambda item: (-item[1], item[0]))
    by_rank = {rank: _cut(own) for rank, own in sums.by_rank.items()}
    return TracedFunction(
        demangled(key.name) or "(unknown)",
        key.group,
        WAYS[key.way],
        Path(key.module).name,
        sums.calls,
        sums.unended,
        _cut(sums.time),
        _cut(sums.own),
        sums.mpi,
        sums.least,
        sums.greatest,
        sums.moved,
        balance(by_rank.values(), ranks),
        by_rank,
        {label: _cut(time) for label, time in regions},
        _callers(found, key, sums, symbols),
        cost * sums.calls,
    )


def _callers(found: Calls, key: Key, sums: _Sums, symbols: Symbols) -> Caller:
    """From the function outwards."""
    tree = Caller(key.name)
    for path, (calls, time) in sums.by_path.items():
        node = tree
        node.calls += calls
        node.time += time
        frames = found.frames_of(key, path)
        for place in places(frames, symbols) if frames else ():
            node = node.callers.setdefault(place.function, Caller(place.function))
            node.calls += calls
            node.time += time
    _cut_tree(tree)
    return tree


def _cut_tree(tree: Caller) -> None:
    left = [tree]
    while left:
        one = left.pop()
        one.time = _cut(one.time)
        left.extend(one.callers.values())


def _groups(found: Calls, ranks: int) -> list[TracedGroup]:
    by_group: dict[str, list[_Sums]] = defaultdict(list)
    for key, sums in found.sums.items():
        by_group[key.group or OTHERS].append(sums)
    made = []
    for name, own in by_group.items():
        by_rank: dict[int, int] = defaultdict(int)
        for sums in own:
            for rank, time in sums.by_rank.items():
                by_rank[rank] += time
        made.append(
            TracedGroup(
                name,
                sum(sums.calls > 0 for sums in own),
                sum(sums.calls for sums in own),
                _cut(sum(sums.own for sums in own)),
                sum(sums.moved for sums in own),
                balance([_cut(time) for time in by_rank.values()], ranks),
            )
        )
    return sorted(made, key=lambda one: (-one.own, one.name))


def _mpi(record: Record, ranks: int) -> TracedGroup:
    """What the recorder counts of MPI between MPI_Init and MPI_Finalize."""
    names, calls, moved = set(), 0, 0
    by_rank: dict[int, int] = defaultdict(int)
    for node in record.nodes:
        procedures = node.texts_of("calls", "procedure")
        rows = node["calls"].rows("rank", "calls", "sent", "received", "time")
        for name, (rank, count, sent, received, time) in zip(procedures, rows, strict=True):
            if name not in OUTSIDE_RUN:
                names.add(name)
                calls += count
                moved += bytes_of(name, sent, received)
                by_rank[rank] += time
    spread = balance(by_rank.values(), ranks)
    return TracedGroup(MPI_GROUP, len(names), calls, spread.total, moved, spread)
