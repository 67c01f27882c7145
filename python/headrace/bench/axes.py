"""What the panels of several figures have in common."""

from collections.abc import Sequence
from typing import Any

RING = {"markerfacecolor": "none", "markeredgecolor": "0.3"}


def columns_of(points: Sequence[tuple[int, float]]) -> tuple[list[int], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def circle(axes: Any, points: Sequence[tuple[int, float]]) -> None:
    """Rings around what was taken."""
    axes.plot(*columns_of(points), linestyle="", marker="o", markersize=9, **RING)


def finish(axes: Any) -> None:
    axes.grid(alpha=0.3, linewidth=0.6)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
