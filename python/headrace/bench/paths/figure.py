"""One picture: time for a byte by size of pieces, by both paths, measured and estimated."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headrace.bench.axes import RING, circle, columns_of, finish
from headrace.bench.paths.grid import DIRECT, FORCED, STAGED
from headrace.bench.paths.judgement import Choice, Curve, curves
from headrace.bench.peers.figure import PANEL_INCHES, require, save
from headrace.errors import HeadraceError

STYLES = {DIRECT: ("#D55E00", "s"), STAGED: ("#0072B2", "o")}
PANEL_SCALE = 1.35


def draw(choices: Sequence[Choice], size: int, prefix: Path) -> list[Path]:
    """Writes PREFIX.svg and PREFIX.png. size: that of the grid."""
    require()
    found = curves(choices)
    if not found:
        raise HeadraceError(
            "the figure cannot be drawn",
            "no cell of tile was measured",
            "measure with --cells tile",
        )
    return save(lambda: _picture(found, size), prefix)


def _picture(found: Sequence[Curve], size: int) -> Any:
    from matplotlib.figure import Figure

    rows = list(dict.fromkeys((curve.file_system, curve.ranks, curve.title) for curve in found))
    accesses = list(dict.fromkeys(curve.access for curve in found))
    width, height = (PANEL_SCALE * inches for inches in PANEL_INCHES)
    shape = (width * len(accesses) + 0.6, height * len(rows) + 1.0)
    picture = Figure(figsize=shape, layout="constrained")
    panels = picture.subplots(len(rows), len(accesses), sharex=True, sharey=True, squeeze=False)
    for curve in found:
        row = rows.index((curve.file_system, curve.ranks, curve.title))
        axes = panels[row][accesses.index(curve.access)]
        _draw_panel(axes, curve, size)
        axes.set_title(f"{curve.access}s, {curve.file_system}, {curve.ranks} ranks, {curve.title}")
    for axes in panels[-1]:
        axes.set_xlabel("contiguous piece in the file")
    for line in panels:
        line[0].set_ylabel("ns for a byte")
    _legend(picture)
    return picture


def _draw_panel(axes: Any, curve: Curve, size: int) -> None:
    from matplotlib.ticker import EngFormatter

    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(EngFormatter(unit="B"))
    for path in FORCED:
        colour, marker = STYLES[path]
        axes.plot(*columns_of(curve.measured(path)), color=colour, marker=marker, markersize=4)
        axes.plot(*columns_of(curve.estimated(path, size)), color=colour, linestyle="--", alpha=0.7)
    taken = [
        point
        for path in FORCED
        for point, one in zip(curve.measured(path), curve.choices, strict=True)
        if one.taken == path
    ]
    circle(axes, taken)
    finish(axes)


def _legend(picture: Any) -> None:
    from matplotlib.lines import Line2D

    handles = []
    for path, (colour, marker) in STYLES.items():
        handles.append(Line2D([], [], color=colour, marker=marker, label=f"{path}, measured"))
        handles.append(Line2D([], [], color=colour, linestyle="--", label=f"{path}, estimated"))
    handles.append(Line2D([], [], linestyle="", marker="o", label="the model's choice", **RING))
    picture.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
