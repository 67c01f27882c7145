"""One picture: estimated rate and locks moved of each method, a panel for each job."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headrace.bench.peers.figure import PANEL_INCHES, require, save
from headrace.simulate.output import MEGA
from headrace.simulate.play import Played

COLOURS = ("#999999", "#D55E00", "#E69F00", "#0072B2", "#56B4E9")


def files(prefix: Path) -> list[Path]:
    """What draw() writes."""
    return [prefix.with_name(f"{prefix.name}.{kind}") for kind in ("svg", "png")]


def draw(played: Sequence[Played], prefix: Path) -> list[Path]:
    """Writes PREFIX.svg and PREFIX.png."""
    require()
    return save(lambda: _picture(played), prefix)


def _picture(played: Sequence[Played]) -> Any:
    from matplotlib.figure import Figure

    width, height = PANEL_INCHES
    shape = (1.5 * width * len(played) + 0.5, 2.4 * height)
    picture = Figure(figsize=shape, layout="constrained")
    panels = picture.subplots(2, len(played), squeeze=False)
    for column, one in enumerate(played):
        job = one.job
        panels[0][column].set_title(f"{job['ranks']:,} ranks, pieces of {job['piece']:,} B")
        _bars(panels[0][column], one, "MB/s, estimated", lambda m: m["bytes_per_second"] / MEGA)
        _bars(panels[1][column], one, "locks moved a call", lambda m, c=job["calls"]: _locks(m, c))
    return picture


def _locks(method: Any, calls: int) -> float:
    return method["lock_transfers"] / calls


def _bars(axes: Any, played: Played, label: str, value: Any) -> None:
    names = [one["method"].replace(", ", ",\n") for one in played.methods]
    bars = axes.bar(names, [value(one) for one in played.methods], color=COLOURS)
    axes.bar_label(bars, fmt="%.3g")
    axes.set_ylabel(label)
    axes.tick_params(axis="x", labelrotation=30)
