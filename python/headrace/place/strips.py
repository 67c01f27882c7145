"""Orders of grids that keep blocks of neighbours on a node, found from the grid's shape alone.

Blocks: W. Gropp, Using node and socket information to implement MPI Cartesian topologies, Parallel
Computing 85 (2019). Cuts and strips: S. Hunold et al., Efficient process-to-node mapping
algorithms for stencil computations, arXiv 2005.09521.
"""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from headrace.place.grid import Grid

MOST_BLOCKS = 4
MOST_WIDTHS = 4  # of a strip, in one dimension


def candidates(grid: Grid, sizes: Sequence[int]) -> Iterator[tuple[str, np.ndarray]]:
    """Orders of a grid's ranks, each with how it was made. sizes: the ranks of each node."""
    if len(set(sizes)) == 1:
        for shape in _blocks(grid, sizes[0]):
            yield "blocks of " + "x".join(map(str, shape)), block_order(grid, shape)
    yield "cuts", cut_order(grid, sizes)
    for along, widths in _strips(grid, max(sizes)):
        shown = "x".join("*" if axis == along else str(w) for axis, w in enumerate(widths))
        yield f"strips of {shown}", strip_order(grid, along, widths)


def _blocks(grid: Grid, size: int) -> list[tuple[int, ...]]:
    """Shapes of `size` ranks that tile the grid, those with the least surface first."""

    def surface(shape: tuple[int, ...]) -> int:
        cut = [part for part, extent in zip(shape, grid.extents, strict=True) if part < extent]
        return sum(size // part for part in cut)

    return sorted(_factorings(size, grid.extents), key=surface)[:MOST_BLOCKS]


def _factorings(size: int, extents: Sequence[int]) -> Iterator[tuple[int, ...]]:
    if not extents:
        if size == 1:
            yield ()
        return
    for part in range(1, min(size, extents[0]) + 1):
        if size % part == 0 and extents[0] % part == 0:
            for rest in _factorings(size // part, extents[1:]):
                yield (part, *rest)


def block_order(grid: Grid, shape: Sequence[int]) -> np.ndarray:
    """Block by block, in the blocks and of the blocks in the grid's own order."""
    coordinates = grid.coordinates()
    parts = np.asarray(shape)[:, None]
    return _sorted_by([*(coordinates // parts), *(coordinates % parts)])


def cut_order(grid: Grid, sizes: Sequence[int]) -> np.ndarray:
    """Cuts the longest side in two, such that whole nodes fit on either side, and so on."""
    coordinates = grid.coordinates()
    parts: list[np.ndarray] = []
    ahead = [(np.arange(grid.ranks), list(sizes))]
    while ahead:
        cells, nodes = ahead.pop()
        if len(nodes) == 1:
            parts.append(np.sort(cells))
            continue
        here = coordinates[:, cells]
        longest = int(np.argmax(here.max(axis=1) - here.min(axis=1)))
        others = [axis for axis in range(len(here)) if axis != longest]
        cells = cells[_sorted_by([here[longest], *here[others]])]
        middle = len(nodes) // 2
        at = sum(nodes[:middle])
        ahead.append((cells[at:], nodes[middle:]))
        ahead.append((cells[:at], nodes[:middle]))
    return np.concatenate(parts)


def _strips(grid: Grid, size: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Dimensions that strips follow, with their widths in the others: about as wide as a cube of
    `size` ranks."""
    side = size ** (1 / max(len(grid.extents), 1))
    for along in range(len(grid.extents)):
        choices = [
            (1,) if axis == along else _widths(extent, side)
            for axis, extent in enumerate(grid.extents)
        ]
        for widths in itertools.product(*choices):
            yield along, widths


def _widths(extent: int, side: float) -> tuple[int, ...]:
    near = {min(max(round(side * scale), 1), extent) for scale in (0.75, 1, 1.3)}
    whole = [part for part in range(1, extent + 1) if extent % part == 0]
    near.add(min(whole, key=lambda part: abs(math.log(part / side))))
    return tuple(sorted(near))[:MOST_WIDTHS]


def strip_order(grid: Grid, along: int, widths: Sequence[int]) -> np.ndarray:
    """Strip by strip, each from one end to the other and the next one back."""
    coordinates = grid.coordinates()
    others = [axis for axis in range(len(grid.extents)) if axis != along]
    strip = np.zeros(grid.ranks, dtype=np.int64)
    for axis in others:
        count = -(-grid.extents[axis] // widths[axis])
        number = coordinates[axis] // widths[axis]
        strip = strip * count + np.where(strip % 2, count - 1 - number, number)
    step = np.where(strip % 2, grid.extents[along] - 1 - coordinates[along], coordinates[along])
    return _sorted_by([strip, step, *coordinates[others]])


def _sorted_by(keys: Sequence[np.ndarray]) -> np.ndarray:
    """Places sorted by the first key, where it is equal by the next, and so on."""
    return np.lexsort(tuple(reversed(keys)))
