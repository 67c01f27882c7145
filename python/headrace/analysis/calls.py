"""The rows of table `calls`, added up in the ways that the report asks for."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from headrace.analysis.generated.verdict_texts import OUTSIDE_RUN
from headrace.analysis.paths import UNKNOWN, Paths
from headrace.analysis.procedures import bytes_of
from headrace.record.tables import Node, Record

BINS = ("<16 B", "<256 B", "<4 KiB", "<64 KiB", "<1 MiB", "<16 MiB", ">=16 MiB")
_BIN_COLUMNS = tuple(f"bin{place}" for place in range(len(BINS)))
_COLUMNS = (
    *("rank", "procedure", "class", "path", "communicator", "calls", "failed", "sent", "received"),
    *("time", "least", "greatest", "region"),
)


@dataclass
class Sums:
    """Of one procedure, or of one procedure at one call path. Times in ns. failed, greatest: None
    if not measured; bins: empty then."""

    calls: int = 0
    failed: int | None = 0
    bytes: int = 0
    time: int = 0
    greatest: int | None = 0
    bins: list[int] = field(default_factory=lambda: [0] * len(BINS))
    by_rank: dict[int, int] = field(default_factory=lambda: defaultdict(int))


@dataclass(frozen=True)
class Shape:
    """What rows over ranks have in common that may be one communicator. kind -1: unknown."""

    kind: int
    size: int
    name: str


RegionKey = tuple[int, str]
"""What the program calls a region: its number and its label."""

NO_SHAPE = Shape(-1, 0, "")


@dataclass
class RankTime:
    """One rank's part of a row that is matched over ranks. Of known_calls, which took known_time,
    the record has the wait: between known_least and known_most."""

    calls: int = 0
    time: int = 0
    least: int = -1
    known_calls: int = 0
    known_time: int = 0
    known_least: int = 0
    known_most: int = 0


@dataclass
class KnownWait:
    """Of a rank's calls of which the record has the wait: between least and most."""

    calls: int = 0
    time: int = 0
    least: int = 0
    most: int = 0


@dataclass
class Totals:
    """`classes`: time in MPI of each rank by class. `in_run`: time in MPI of each rank between
    MPI_Init and MPI_Finalize. `matched`: by procedure, shape and path, then by rank.
    `messages`: waits in point-to-point calls, by procedure and rank. `regions`: by region, then by
    procedure."""

    procedures: dict[str, Sums] = field(default_factory=lambda: defaultdict(Sums))
    sites: dict[tuple[str, int], Sums] = field(default_factory=lambda: defaultdict(Sums))
    classes: dict[int, dict[int, int]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(int))
    )
    in_run: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    matched: dict[tuple[str, Shape, int], dict[int, RankTime]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(RankTime))
    )
    messages: dict[str, dict[int, KnownWait]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(KnownWait))
    )
    regions: dict[RegionKey, dict[str, Sums]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Sums))
    )
    paths: Paths = field(default_factory=Paths)


def add_up(record: Record, matched: set[str]) -> Totals:
    """All rows; those of the procedures in `matched` also by communicator and rank."""
    totals = Totals()
    for node in record.nodes:
        _add_node(totals, node, matched)
    return totals


def _add_node(totals: Totals, node: Node, matched: set[str]) -> None:
    table = node["calls"]
    paths = totals.paths.add(node)
    shapes = _shapes(node)
    regions = _regions(node)
    bins = table.rows(*_BIN_COLUMNS)
    for row, sizes in zip(table.rows(*_COLUMNS), bins, strict=True):
        rank, name, kind, path, communicator, calls, failed, sent, received = row[:9]
        time, least, greatest, region = row[9:]
        procedure = node.text(name) or "?"
        place = paths[path] if path >= 0 else UNKNOWN
        moved = bytes_of(procedure, sent, received)
        together = [totals.procedures[procedure], totals.sites[procedure, place]]
        if region in regions:
            together.append(totals.regions[regions[region]][procedure])
        for sums in together:
            sums.calls += calls
            sums.failed += failed
            sums.bytes += moved
            sums.time += time
            if greatest > sums.greatest:
                sums.greatest = greatest
            sums.by_rank[rank] += time
        if any(sizes):
            of_all = totals.procedures[procedure].bins
            of_site = totals.sites[procedure, place].bins
            for at, count in enumerate(sizes):
                if count:
                    of_all[at] += count
                    of_site[at] += count
        if procedure not in OUTSIDE_RUN:
            totals.classes[kind][rank] += time
            totals.in_run[rank] += time
        if procedure in matched:
            shape = shapes[communicator] if communicator >= 0 else NO_SHAPE
            one = totals.matched[procedure, shape, place][rank]
            one.least = min(one.least, least) if one.calls else least
            one.calls += calls
            one.time += time
    _add_open(totals, node, paths)
    if matched:
        _add_waits(totals, node, matched, paths, shapes)


def _add_open(totals: Totals, node: Node, paths: Sequence[int]) -> None:
    """The time of calls that had not ended, which do not count."""
    columns = ("rank", "thread", "procedure", "class", "path", "open", "time")
    recorded = _recorded_of_open(node)
    for rank, thread, name, kind, path, is_open, whole in node["last_calls"].rows(*columns):
        procedure = node.text(name) or "?"
        if not is_open or procedure in OUTSIDE_RUN:
            continue
        time = recorded(rank, thread, whole)
        place = paths[path] if path >= 0 else UNKNOWN
        for sums in (totals.procedures[procedure], totals.sites[procedure, place]):
            sums.time += time
            sums.by_rank[rank] += time
            sums.greatest = max(sums.greatest, time)
        totals.classes[kind][rank] += time
        totals.in_run[rank] += time


def _recorded_of_open(node: Node) -> Callable[[int, int, int], int]:
    """A function that has, of a call that a rank's thread had not ended and of all of its time,
    what counts. The record does not tell what part of that time recording was off. All of it counts
    if the thread's other calls leave room for it in the time when recording was on. Else recording
    was off for a part of it, and only what surely went by while it was on counts."""
    times = {
        rank: (max(0, run - off), off)
        for rank, run, off in node["ranks"].rows("rank", "run", "off")
        if off > 0
    }
    spent: dict[tuple[int, int], int] = defaultdict(int)
    for rank, thread, name, time in node["calls"].rows("rank", "thread", "procedure", "time"):
        if rank in times and node.text(name) not in OUTSIDE_RUN:
            spent[rank, thread] += time

    def recorded(rank: int, thread: int, whole: int) -> int:
        run, off = times.get(rank, (whole, 0))
        if whole <= run - spent[rank, thread]:
            return whole
        return min(run, max(0, whole - off))

    return recorded


def _add_waits(
    totals: Totals, node: Node, matched: set[str], paths: Sequence[int], shapes: Sequence[Shape]
) -> None:
    columns = ("rank", "procedure", "path", "communicator", "calls", "time", "most", "least")
    for rank, name, path, communicator, calls, time, most, least in node["waits"].rows(*columns):
        most = min(most, time)
        least = min(least, most)
        procedure = node.text(name) or "?"
        if procedure not in matched:
            known = totals.messages[procedure][rank]
            known.calls += calls
            known.time += time
            known.least += least
            known.most += most
            continue
        shape = shapes[communicator] if communicator >= 0 else NO_SHAPE
        place = paths[path] if path >= 0 else UNKNOWN
        one = totals.matched.get((procedure, shape, place), {}).get(rank)
        if one is None or one.known_calls + calls > one.calls:
            continue  # nothing of a run that was recorded, or no longer
        one.known_calls += calls
        one.known_time += time
        one.known_least += least
        one.known_most += most


def _regions(node: Node) -> dict[int, RegionKey]:
    """By the numbers that the node's calls have."""
    keys = zip(node["regions"]["id"], node.texts_of("regions", "label"), strict=True)
    return dict(zip(node["regions"]["region"], keys, strict=True))


def _shapes(node: Node) -> list[Shape]:
    names = node.texts_of("communicators", "name")
    table = node["communicators"].rows("kind", "size")
    return [Shape(kind, size, name) for (kind, size), name in zip(table, names, strict=True)]
