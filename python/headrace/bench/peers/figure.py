"""One picture of the shares: small multiples by file system, access and number of ranks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from headrace.bench.peers.judgement import Verdict
from headrace.bench.report import require_writable
from headrace.errors import HeadraceError, unwritable

GROUP = "tile"
# Jobs with one size of pieces, as points beside the lines. group -> marker.
POINTS = {"irregular": "^", "lattice": "D"}

OURS = "Headrace"
# Okabe and Ito's palette, told apart with any kind of colour vision; markers tell the same.
OUR_STYLE = ("#0072B2", "o")
PEER_STYLES = (("#D55E00", "s"), ("#009E73", "v"), ("#CC79A7", "X"), ("#E69F00", "P"))
PANEL_INCHES = (3.1, 2.1)
LEAST_WIDTH_INCHES = 7.6  # for the title, and three entries of the legend in a row
FONT_POINTS = 9


@dataclass(frozen=True)
class Series:
    """One line: (bytes of a piece, share), and its range where it stands for several."""

    name: str
    values: list[tuple[int, float]]
    low: list[float]
    high: list[float]


@dataclass(frozen=True)
class Panel:
    """lines: of tile; points: by group, as many series with a value each."""

    row: str
    column: str
    lines: list[Series]
    points: dict[str, list[Series]]


def panels(verdicts: Sequence[Verdict]) -> list[Panel]:
    """What is drawn, row by row, the same columns in each."""
    shown = [one for one in verdicts if one.share and one.case.group in (GROUP, *POINTS)]
    kinds = dict.fromkeys(one.file_system for one in shown)
    ranks = sorted({one.point.ranks for one in shown})
    result = []
    for kind in kinds:
        for access in ("write", "read"):
            for count in ranks:
                mine = [
                    one
                    for one in shown
                    if (one.file_system, one.access, one.point.ranks) == (kind, access, count)
                ]
                lines = _series([one for one in mine if one.case.group == GROUP])
                points = {
                    group: _series([one for one in mine if one.case.group == group])
                    for group in POINTS
                }
                result.append(Panel(f"{access}s, {kind}", f"{count} ranks", lines, points))
    return result


def _series(verdicts: Sequence[Verdict]) -> list[Series]:
    """Headrace over all MPIs, then each MPI by itself at its best."""
    pieces = sorted({one.case.piece for one in verdicts})
    by_piece = [
        [one.share.median for one in verdicts if one.case.piece == piece and one.share]
        for piece in pieces
    ]
    ours = Series(
        OURS,
        list(zip(pieces, map(median, by_piece), strict=True)),
        list(map(min, by_piece)),
        list(map(max, by_piece)),
    )
    result = [ours] if pieces else []
    for title in dict.fromkeys(one.title for one in verdicts):
        values = sorted(
            (one.case.piece, one.strongest.share.median)
            for one in verdicts
            if one.title == title and one.strongest and one.strongest.share
        )
        result.append(Series(title, values, [], []))
    return result


def require(prefix: Path | None = None) -> None:
    """Raises where a picture cannot be drawn, or written there, before hours are spent on its
    numbers."""
    for file in files_of(prefix) if prefix is not None else ():
        require_writable(str(file))
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise HeadraceError(
            "the figure cannot be drawn",
            "matplotlib is not installed",
            "run 'pip install matplotlib' or leave out --figure",
        ) from error


def draw(verdicts: Sequence[Verdict], prefix: Path) -> list[Path]:
    """Writes PREFIX.svg and PREFIX.png."""
    require()
    all_panels = panels(verdicts)
    if not all_panels:
        raise HeadraceError(
            "the figure cannot be drawn",
            "no cell of tile, irregular or lattice was measured",
            "measure one with --cells",
        )
    return save(lambda: _picture(all_panels), prefix)


def files_of(prefix: Path) -> list[Path]:
    return [prefix.with_name(f"{prefix.name}.{kind}") for kind in ("svg", "png")]


def save(make: Callable[[], Any], prefix: Path) -> list[Path]:
    """Writes the picture that `make` makes as PREFIX.svg and PREFIX.png."""
    files = files_of(prefix)
    import matplotlib

    try:
        with matplotlib.rc_context({"font.size": FONT_POINTS, "svg.hashsalt": "headrace"}):
            picture = make()
            for file in files:
                # Without a date the same numbers make the same file.
                metadata = {"Date": None} if file.suffix == ".svg" else None
                picture.savefig(file, metadata=metadata, dpi=150)
    except OSError as error:
        raise unwritable(file, error, "give another name") from error
    return files


def _picture(all_panels: Sequence[Panel]) -> Any:
    from matplotlib.figure import Figure

    rows = list(dict.fromkeys(panel.row for panel in all_panels))
    columns = list(dict.fromkeys(panel.column for panel in all_panels))
    width = max(PANEL_INCHES[0] * len(columns) + 0.6, LEAST_WIDTH_INCHES)
    size = (width, PANEL_INCHES[1] * len(rows) + 1.1)
    picture = Figure(figsize=size, layout="constrained")
    grid = picture.subplots(len(rows), len(columns), sharex=True, sharey=True, squeeze=False)
    styles = _styles(all_panels)
    for panel in all_panels:
        row, column = rows.index(panel.row), columns.index(panel.column)
        axes = grid[row][column]
        _draw_panel(axes, panel, styles)
        if row == 0:
            axes.set_title(panel.column, fontweight="bold")
        if row == len(rows) - 1:
            axes.set_xlabel("contiguous piece in the file")
        if column == 0:
            axes.set_ylabel(panel.row)
    picture.suptitle("Share of what the same ranks reach contiguously", fontweight="bold")
    _legend(picture, styles, all_panels)
    return picture


def _styles(all_panels: Sequence[Panel]) -> dict[str, tuple[str, str]]:
    """Colour and marker by name, the same in all panels."""
    every = [line for panel in all_panels for line in panel.lines]
    every += [one for panel in all_panels for group in panel.points.values() for one in group]
    peers = sorted({line.name for line in every} - {OURS})
    return {OURS: OUR_STYLE} | {
        name: PEER_STYLES[i % len(PEER_STYLES)] for i, name in enumerate(peers)
    }


def _draw_panel(axes: Any, panel: Panel, styles: dict[str, tuple[str, str]]) -> None:
    from matplotlib.ticker import EngFormatter, PercentFormatter

    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(EngFormatter(unit="B"))
    axes.axhline(1, color="0.4", linewidth=0.8, linestyle=":")
    for line in reversed(panel.lines):  # ours on top
        colour, marker = styles[line.name]
        x, y = zip(*line.values, strict=True) if line.values else ((), ())
        width = 2.2 if line.name == OURS else 1.2
        axes.plot(x, y, color=colour, marker=marker, markersize=4, linewidth=width)
        if line.low:
            axes.fill_between(x, line.low, line.high, color=colour, alpha=0.2, linewidth=0)
    for group, points in panel.points.items():
        for point in points:
            x, y = zip(*point.values, strict=True) if point.values else ((), ())
            colour = styles[point.name][0]
            axes.plot(
                *(x, y),
                linestyle="",
                marker=POINTS[group],
                markersize=7,
                markerfacecolor="none",
                markeredgecolor=colour,
                markeredgewidth=1.4,
            )
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.grid(alpha=0.3, linewidth=0.6)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _legend(picture: Any, styles: dict[str, tuple[str, str]], all_panels: Sequence[Panel]) -> None:
    from matplotlib.lines import Line2D

    handles = []
    for name, (colour, marker) in styles.items():
        text = "Headrace, median and range over the MPIs" if name == OURS else f"{name} at its best"
        width = 2.2 if name == OURS else 1.2
        handles.append(Line2D([], [], color=colour, marker=marker, linewidth=width, label=text))
    for group, marker in POINTS.items():
        if any(panel.points[group] for panel in all_panels):
            style = {"color": "0.3", "linestyle": "", "markerfacecolor": "none"}
            handles.append(Line2D([], [], marker=marker, label=f"{group} (one size)", **style))
    picture.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
