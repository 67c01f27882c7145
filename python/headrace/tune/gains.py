"""For which calls measured costs count: those of which a gain was measured. Pure."""

from collections.abc import Collection, Mapping, Sequence
from math import ceil, floor, sqrt

from headrace.tune.patterns import DIRECTIONS, SHAPES, Choice, Pattern

SIZES = tuple(sorted(size for size, _ in SHAPES))
# By direction: pieces of so many bytes, from the first to the last of each pair.
Ranges = Mapping[str, Sequence[tuple[int, int]]]
EVERYWHERE: Ranges = {direction: [(0, 10**15)] for direction in DIRECTIONS}


def ranges(kept: Collection[Pattern]) -> Ranges:
    """The pieces that are closer to the size of a pattern of `kept` than to that of another one, by
    their ratio. None smaller than the smallest size that was measured, or larger than the largest.
    """
    return {
        direction: _of_sizes({one.bytes for one in kept if one.direction == direction})
        for direction in DIRECTIONS
    }


def _of_sizes(kept: set[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for place, size in enumerate(SIZES):
        if size not in kept:
            continue
        first = ceil(sqrt(SIZES[place - 1] * size)) if place > 0 else size
        last = floor(sqrt(size * SIZES[place + 1])) if place + 1 < len(SIZES) else size
        if found and SIZES[place - 1] in kept:
            first = found.pop()[0]
        found.append((first, last))
    return found


def range_text(pairs: Sequence[tuple[int, int]]) -> str:
    return ", ".join(f"{first} to {last}" for first, last in pairs) or "none"


def to_confirm(choices: Sequence[Choice]) -> list[Choice]:
    """Of the choices that were measured to gain, the one that gains most, and the one that gains
    least."""
    proven = sorted(
        (one for one in choices if one.is_proven),
        key=lambda one: one.gain.low if one.gain else 0,
        reverse=True,
    )
    return proven if len(proven) < 2 else [proven[0], proven[-1]]
