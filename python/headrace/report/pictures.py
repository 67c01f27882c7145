"""Pictures of the page, as SVG. Each is drawn in a bounded number of shapes, whatever the record
has, and by the page's own classes for colours, so that they follow light and dark."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from headrace.analysis.analyse import Findings
from headrace.analysis.files import Edge
from headrace.analysis.run import Run
from headrace.profile.profile import Profile
from headrace.texts import shown

MOST_BARS = 256
MOST_CELLS = 64  # of a matrix, on each side
LEVELS = 5


def strip(found: Findings) -> Markup:
    """Each rank's time outside MPI or in I/O, as a bar of the run's time."""
    return _strip(found.rank_times.times, found.run.elapsed, f"Time {found.rank_times.what}")


def hottest(found: Profile | None, run: Run) -> Markup:
    """The time of the function with most samples on each rank, as a bar of the greatest."""
    if found is None or not found.functions or not found.functions[0].by_rank:
        return Markup("")
    first = found.functions[0]
    times = [first.by_rank.get(one.rank, 0) for one in run.ranks]
    return _strip(times, first.balance.greatest, f"CPU time in {shown(first.name)}")


def _strip(times: Sequence[int], whole: int, what: str) -> Markup:
    """More than MOST_BARS ranks: the longest of as many neighbours, and in it the shortest."""
    if not whole or not times:
        return Markup("")
    group = -(-len(times) // MOST_BARS)
    heights = [max(times[at : at + group]) / whole for at in range(0, len(times), group)]
    least = [min(times[at : at + group]) / whole for at in range(0, len(times), group)]
    width = 720 / len(heights)
    bars = _bars(heights, width)
    inner = _bars(least, width)
    mean = 100 * (1 - sum(times) / len(times) / whole)
    return Markup(
        '<svg class="strip" viewBox="0 0 720 100" preserveAspectRatio="none" role="img" '
        'aria-label="{label}"><path class="back" d="M0 0H720V100H0z"/>'
        '<path class="bar-max" d="{bars}"/><path class="bar-min" d="{inner}"/>'
        '<path class="mean" d="M0 {mean}H720"/></svg>'
    ).format(
        label=f"{what} of {len(times)} ranks; the table has the numbers",
        bars=bars,
        inner=inner,
        mean=f"{mean:.1f}",
    )


def _bars(heights: Sequence[float], width: float) -> str:
    gap = 1.0 if width > 4 else 0.0
    return "".join(
        f"M{at * width:.1f} 100v{-100 * height:.1f}h{width - gap:.1f}V100z"
        for at, height in enumerate(heights)
    )


def level_of(size: int, greatest: int) -> int:
    """The shade of so many bytes: each is for a quarter of those of the next darker one."""
    level = LEVELS - 1
    while level and size * 4 ** (LEVELS - level) <= greatest:
        level -= 1
    return level


def matrix(edges: Iterable[Edge], ranks: int) -> Markup:
    """Bytes from rank (row) to rank (column), in LEVELS shades by their logarithm."""
    cells: dict[tuple[int, int], int] = defaultdict(int)
    side = max(1, min(ranks, MOST_CELLS))
    for one in edges:
        if 0 <= one.receiver < ranks and 0 <= one.sender < ranks:
            cells[one.sender * side // ranks, one.receiver * side // ranks] += one.bytes
    greatest = max(cells.values(), default=0)
    if not greatest:
        return Markup("")
    levels: dict[int, list[str]] = defaultdict(list)
    for (row, column), size in sorted(cells.items()):
        levels[level_of(size, greatest)].append(f"M{column} {row}h1v1h-1z")
    paths = Markup("").join(
        Markup('<path class="shade{level}" d="{d}"/>').format(level=level, d="".join(shapes))
        for level, shapes in sorted(levels.items())
    )
    return Markup(
        '<svg class="matrix" viewBox="0 0 {side} {side}" role="img" aria-label="{label}" '
        'shape-rendering="crispEdges"><path class="back" d="M0 0h{side}v{side}H0z"/>{paths}</svg>'
    ).format(
        side=side,
        paths=paths,
        label=f"Bytes of messages between {ranks} ranks; the table has the heaviest pairs",
    )
