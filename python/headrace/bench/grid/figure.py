"""One picture: the default to the best setting in each cell, by MPI."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headrace.bench.axes import finish
from headrace.bench.grid.judgement import LEAST, NEAR, Cell
from headrace.bench.peers.figure import OUR_STYLE, PEER_STYLES, require, save
from headrace.errors import HeadraceError

STYLES = (OUR_STYLE, *PEER_STYLES)
CELL_INCHES = 0.95
PANEL_INCHES = 2.2
HIGHEST = 2.0  # where the default is faster than that, how much does not matter
SPREAD = 0.22  # between the marks of two MPIs, where 1 lies between two patterns


def draw(cells: Sequence[Cell], prefix: Path) -> list[Path]:
    """Writes PREFIX.svg and PREFIX.png."""
    require()
    if not cells:
        raise HeadraceError(
            "the figure cannot be drawn", "no cell was measured", "measure one first"
        )
    return save(lambda: _picture(cells), prefix)


def _picture(cells: Sequence[Cell]) -> Any:
    from matplotlib.figure import Figure

    rows = list(dict.fromkeys((one.file_system, one.point.ranks, one.access) for one in cells))
    patterns = list(dict.fromkeys(one.point.case for one in cells))
    titles = sorted({one.title for one in cells})
    shape = (max(CELL_INCHES * len(patterns) + 1, 7.6), PANEL_INCHES * len(rows) + 1.2)
    picture = Figure(figsize=shape, layout="constrained")
    panels = picture.subplots(len(rows), 1, sharex=True, sharey=True, squeeze=False)
    for (axes,), row in zip(panels, rows, strict=True):
        mine = [one for one in cells if (one.file_system, one.point.ranks, one.access) == row]
        for number, title in enumerate(titles):
            shift = SPREAD * (number - (len(titles) - 1) / 2)
            points = [one for one in mine if one.title == title]
            _draw(axes, points, patterns, shift, STYLES[number % len(STYLES)])
        for level in (NEAR, LEAST):
            axes.axhline(level, color="0.4", linewidth=0.8, linestyle=":")
        axes.axhline(1, color="0.4", linewidth=0.8)
        axes.set_ylim(0, HIGHEST)
        axes.set_title(f"{row[2]}s, {row[0]}, {row[1]} ranks", loc="left")
        finish(axes)
    last = panels[-1][0]
    last.set_xticks(range(len(patterns)), patterns, rotation=20, ha="right")
    picture.suptitle("The default to the best setting found", fontweight="bold")
    _legend(picture, titles)
    return picture


def _draw(
    axes: Any, points: Sequence[Cell], patterns: Sequence[str], shift: float, style: tuple[str, str]
) -> None:
    colour, marker = style
    ratios = [one.best.ratio for one in points]
    places = [patterns.index(one.point.case) + shift for one in points]
    middles = [min(one.median, HIGHEST) for one in ratios]
    below = [max(one - ratio.low, 0) for one, ratio in zip(middles, ratios, strict=True)]
    above = [max(ratio.high - one, 0) for one, ratio in zip(middles, ratios, strict=True)]
    axes.errorbar(
        places,
        middles,
        yerr=(below, above),
        color=colour,
        marker=marker,
        markersize=5,
        linestyle="",
        elinewidth=1,
    )


def _legend(picture: Any, titles: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=colour, marker=marker, linestyle="", label=title)
        for title, (colour, marker) in zip(titles, STYLES * len(titles), strict=False)
    ]
    picture.legend(handles=handles, loc="outside lower center", ncols=len(titles), frameon=False)
