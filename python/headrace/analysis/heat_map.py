"""Table `heat`: when which ranks read and wrote, on one time for all."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from headrace.record.tables import Record

LAYERS = ("mpi", "own")  # asked for by MPI-IO; by calls of POSIX and on streams of C
MOST_BINS = 64
MOST_ROWS = 256  # neighbouring ranks of larger jobs are one row


@dataclass
class HeatRow:
    """`ranks` ranks from `rank` on: bytes by layer and bin."""

    rank: int
    ranks: int
    read: dict[str, list[int]]
    written: dict[str, list[int]]


@dataclass(frozen=True)
class HeatMap:
    """width: ns of a bin; the first begins when MPI ran on the first rank. ranks: of the job. rows:
    by rank; ranks that moved nothing have none."""

    width: int
    bins: int
    ranks: int
    rows: tuple[HeatRow, ...] = ()

    @property
    def is_joined(self) -> bool:
        return self.ranks > MOST_ROWS

    def lines(self, most: int) -> list["HeatLine"]:
        """All ranks, in `most` lines at most."""
        count = max(1, min(most, self.ranks))
        ends = [first_of(line, count, self.ranks) for line in range(count + 1)]
        made = [
            HeatLine(first, end - first, [0] * self.bins, [0] * self.bins)
            for first, end in pairwise(ends)
        ]
        for row in self.rows:
            line = made[min(row.rank * count // max(1, self.ranks), count - 1)]
            for layer in LAYERS:
                for at in range(self.bins):
                    line.read[at] += row.read[layer][at]
                    line.written[at] += row.written[layer][at]
        return made


@dataclass
class HeatLine:
    """Bytes of neighbouring ranks by bin, whoever asked for them."""

    rank: int
    ranks: int
    read: list[int]
    written: list[int]


def first_of(group: int, groups: int, ranks: int) -> int:
    """The first rank whose rank * groups // ranks is `group`."""
    return -(-group * ranks // groups)


@dataclass(frozen=True)
class _Source:
    """A row of the table; begin: ns since the job's begin."""

    rank: int
    layer: str
    begin: int
    width: int
    read: int
    written: int


def heat_map(record: Record, ranks: int) -> HeatMap | None:
    """None if the version that made the record did not measure it. Clocks of nodes are taken as
    they are."""
    if "heat" in record.missing:
        return None
    zero, elapsed = _times(record)
    sources = list(_sources(record, zero))
    widest = max((one.width for one in sources), default=1)
    width = max(1, -(-elapsed // MOST_BINS), widest if widest < elapsed else elapsed)
    bins = max(1, min(MOST_BINS, -(-elapsed // width)))
    grid = HeatMap(width, bins, ranks)
    rows: dict[int, HeatRow] = {}
    for one in sources:
        group = _group_of(one.rank, ranks)
        row = rows.setdefault(group, _row(group, grid))
        end = max(min(one.begin + one.width, elapsed), one.begin + 1)
        _spread(row.read[one.layer], one.begin, end, one.read, width)
        _spread(row.written[one.layer], one.begin, end, one.written, width)
    return replace(grid, rows=tuple(rows[group] for group in sorted(rows)))


def _group_of(rank: int, ranks: int) -> int:
    """As the core joins them."""
    return rank if ranks <= MOST_ROWS else min(rank * MOST_ROWS // ranks, MOST_ROWS - 1)


def _row(group: int, grid: HeatMap) -> HeatRow:
    first, end = group, group + 1
    if grid.is_joined:
        first, end = (first_of(at, MOST_ROWS, grid.ranks) for at in (group, group + 1))
    read, written = ({layer: [0] * grid.bins for layer in LAYERS} for _ in range(2))
    return HeatRow(first, end - first, read, written)


def _times(record: Record) -> tuple[int, int]:
    """When MPI ran on the first rank, in ns since 1970, and how long it was until the last one
    ended."""
    spans = [
        (start, start + run)
        for node in record.nodes
        for start, run in node["ranks"].rows("start", "run")
    ]
    zero = min((start for start, _ in spans), default=0)
    return zero, max((end for _, end in spans), default=zero) - zero


def _sources(record: Record, zero: int) -> Iterator[_Source]:
    for node in record.nodes:
        table = node["heat"].rows("rank", "layer", "begin", "width", "read", "written")
        for rank, layer, begin, width, read, written in table:
            yield _Source(rank, LAYERS[layer], max(0, begin - zero), max(1, width), read, written)


def _spread(into: list[int], begin: int, end: int, size: int, width: int) -> None:
    """Adds `size` bytes, which were moved from `begin` to `end`, evenly over that time: no byte is
    lost, and none is added. What lies behind the last bin is in it."""
    if not size:
        return
    last = min((end - 1) // width, len(into) - 1)
    counted = 0
    for at in range(min(begin // width, last), last):
        until = size * ((at + 1) * width - begin) // (end - begin)
        into[at] += until - counted
        counted = until
    into[last] += size - counted
