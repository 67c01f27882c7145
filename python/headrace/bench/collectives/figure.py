"""One picture: how many times as fast, by size; a panel for each operation, a line for each job."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headrace.bench.axes import circle, finish
from headrace.bench.collectives.findings import Job
from headrace.bench.peers.figure import (
    LEAST_WIDTH_INCHES,
    OUR_STYLE,
    PANEL_INCHES,
    PEER_STYLES,
    require,
    save,
)
from headrace.errors import HeadraceError

STYLES = (OUR_STYLE, *PEER_STYLES)
COLUMNS = 4
# Where an operation without a size is drawn.
NO_SIZE = 1


def draw(jobs: Sequence[Job], prefix: Path) -> list[Path]:
    """Writes PREFIX.svg and PREFIX.png."""
    require()
    if not any(job.cells for job in jobs):
        raise HeadraceError(
            "the figure cannot be drawn", "nothing was measured", "measure some operations"
        )
    return save(lambda: _picture(jobs), prefix)


def _picture(jobs: Sequence[Job]) -> Any:
    from matplotlib.figure import Figure

    operations = list(dict.fromkeys(cell.operation for job in jobs for cell in job.cells))
    columns = min(COLUMNS, len(operations))
    rows = -(-len(operations) // columns)
    width = max(PANEL_INCHES[0] * columns + 0.6, LEAST_WIDTH_INCHES)
    picture = Figure(figsize=(width, PANEL_INCHES[1] * rows + 1.0), layout="constrained")
    panels = picture.subplots(rows, columns, sharey=True, squeeze=False)
    for axes in panels.flat[len(operations) :]:
        axes.set_visible(False)
    for axes, operation in zip(panels.flat, operations, strict=False):
        _draw_panel(axes, jobs, operation)
        axes.set_title(operation)
    for line in panels:
        line[0].set_ylabel("times as fast")
    handles, labels = panels[0][0].get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return picture


def _draw_panel(axes: Any, jobs: Sequence[Job], operation: str) -> None:
    from matplotlib.ticker import EngFormatter

    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(EngFormatter(unit="B"))
    axes.axhline(1, color="0.4", linewidth=0.8)
    for number, job in enumerate(jobs):
        colour, marker = STYLES[number % len(STYLES)]
        cells = sorted(
            (cell for cell in job.cells if cell.operation == operation), key=lambda one: one.bytes
        )
        places = [cell.bytes or NO_SIZE for cell in cells]
        ratios = [cell.speedup for cell in cells]
        middle = [one.median for one in ratios]
        spread = [
            [one.median - one.low for one in ratios],
            [one.high - one.median for one in ratios],
        ]
        axes.errorbar(
            places, middle, spread, color=colour, marker=marker, markersize=4, label=job.title
        )
        ours = [(cell.bytes or NO_SIZE, cell.speedup.median) for cell in cells if cell.by_layer]
        circle(axes, ours)
    finish(axes)
