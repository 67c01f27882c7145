"""The heat map of reads and writes: lines of text for a terminal, pictures for the page."""

from collections import defaultdict
from collections.abc import Sequence

from markupsafe import Markup

from headrace.analysis.analyse import Findings
from headrace.analysis.heat_map import HeatLine, HeatMap
from headrace.report.pictures import LEVELS, MOST_CELLS, level_of
from headrace.report.table import Table
from headrace.report.units import seconds, size

MOST_LINES = 8
CELLS = 32  # of a line, for each direction
SHADES = ".:+#@"


def heat_table(found: Findings) -> Table:
    """A line for neighbouring ranks, a character for a part of the run; none without I/O."""
    heat = found.heat_map
    if heat is None or not heat.rows:
        return Table("Reads and writes over time", (), [])
    step = -(-heat.bins // CELLS)
    lines = [
        (one, _joined(one.read, step), _joined(one.written, step)) for one in heat.lines(MOST_LINES)
    ]
    greatest = max(max(*read, *written) for _, read, written in lines)
    rows = [
        (_ranks(one), f"|{_text(read, greatest)}|", f"|{_text(written, greatest)}|")
        for one, read, written in lines
    ]
    note = (
        f"a character stands for {seconds(heat.width * step)}; @ is {size(greatest)}, and each of "
        f"{' '.join(reversed(SHADES[:-1]))} a quarter of that before it or less"
    )
    return Table("Reads and writes over time", ("ranks ", "read ", "written "), rows, note)


def _joined(sizes: Sequence[int], step: int) -> list[int]:
    return [sum(sizes[at : at + step]) for at in range(0, len(sizes), step)]


def _text(sizes: Sequence[int], greatest: int) -> str:
    return "".join(SHADES[level_of(one, greatest)] if one else " " for one in sizes)


def _ranks(one: HeatLine) -> str:
    return str(one.rank) if one.ranks == 1 else f"{one.rank}-{one.rank + one.ranks - 1}"


def heat_pictures(found: Findings) -> list[tuple[str, Markup]]:
    """One for each direction in which something was moved, with what stands below it."""
    heat = found.heat_map
    if heat is None or not heat.rows:
        return []
    lines = heat.lines(MOST_CELLS)
    directions = (
        ("Bytes read", [one.read for one in lines]),
        ("Bytes written", [one.written for one in lines]),
    )
    made = []
    for what, rows in directions:
        greatest = max(map(max, rows))
        if greatest:
            most = f"darkest in light, lightest in dark: {size(greatest)} in one cell"
            text = f"{what}: time across, in bins of {seconds(heat.width)}, ranks down; {most}."
            made.append((text, _picture(heat, rows, greatest, f"{what} {_told(heat, rows)}")))
    return made


def _told(heat: HeatMap, rows: Sequence[Sequence[int]]) -> str:
    """What the picture shows, in words."""
    by_bin = [sum(bins) for bins in zip(*rows, strict=True)]
    busiest = by_bin.index(max(by_bin))
    return (
        f"by {heat.ranks} ranks over time: {size(sum(by_bin))} in all, most from "
        f"{seconds(busiest * heat.width)} to {seconds((busiest + 1) * heat.width)}"
    )


def _picture(heat: HeatMap, rows: Sequence[Sequence[int]], greatest: int, label: str) -> Markup:
    levels: dict[int, list[str]] = defaultdict(list)
    for down, bins in enumerate(rows):
        for across, moved in enumerate(bins):
            if moved:
                levels[level_of(moved, greatest)].append(f"M{across} {down}h1v1h-1z")
    paths = Markup("").join(
        Markup('<path class="shade{level}" d="{d}"/>').format(level=level, d="".join(levels[level]))
        for level in range(LEVELS)
        if level in levels
    )
    return Markup(
        '<svg class="heat" viewBox="0 0 {width} {height}" preserveAspectRatio="none" role="img" '
        'aria-label="{label}" shape-rendering="crispEdges"><path class="back" '
        'd="M0 0h{width}v{height}H0z"/>{paths}</svg>'
    ).format(width=heat.bins, height=len(rows), label=label, paths=paths)
