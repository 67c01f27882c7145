"""What is measured: calls in which one path wins or the other, each way once."""

from dataclasses import replace
from functools import partial

from headrace.bench.jobs import HEADRACE, LIMIT, Job, Way, kernel_job
from headrace.bench.peers import grid
from headrace.bench.peers.grid import Case, Point
from headrace.bench.peers.session import Session

DIRECT = "direct"
STAGED = "staged"
FORCED = (DIRECT, STAGED)
ACCESSES = ("write", "read")

PIECES = (8, 64, 1000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 4_000_000, 32_000_000)
# By name: pieces of a rank in a call, and the bytes of each.
SMALL_CALLS = {"call-2x64": (2, 64), "call-20x1000": (20, 1000)}
STEPS = 500
VARIABLES = 4

# A call for each piece takes about a microsecond, so small pieces are not moved by the million.
MOST_PIECES = 200_000


def forced_way(access: str, path: str) -> str:
    """The key of the way that forces the path of one access. The other access takes the model's:
    files that were written in large parts lie in larger parts of memory, and are read faster."""
    return f"{access}-{path}"


def _way(key: str, label: str, paths: dict[str, str]) -> Way:
    variables = tuple(
        (f"HEADRACE_{access.upper()}_PATH", paths.get(access, "automatic")) for access in ACCESSES
    )
    return Way(key, label, ("--way", "mpiio"), preload=True, variables=variables)


WAYS = (
    *(
        _way(forced_way(access, path), f"{access} {path} by force", {access: path})
        for access in ACCESSES
        for path in FORCED
    ),
    _way(HEADRACE, "the model", {}),
)
KEYS = tuple(way.key for way in WAYS)


def _tile(piece: int, ranks: int, size: int) -> Job:
    return grid.tile(piece, ranks, min(size, MOST_PIECES * piece * ranks))


def _small_calls(name: str, ranks: int, _size: int) -> Job:
    pieces, piece = SMALL_CALLS[name]
    call = pieces * piece
    sizes = {"--piece": piece, "--size": call, "--steps": STEPS, "--variables": VARIABLES}
    words = {key: str(value) for key, value in sizes.items()}
    largest = ranks * call * VARIABLES * STEPS
    return kernel_job("checkpoint", "a loop of small calls", ranks, (), words, largest)


def _tile_case(piece: int) -> Case:
    title = f"tile, pieces of {piece:,} B"
    return Case(f"tile-{piece}", "tile", piece, title, LIMIT, partial(_tile, piece))


def _small_case(name: str) -> Case:
    pieces, piece = SMALL_CALLS[name]
    title = f"calls of {pieces} pieces of {piece:,} B a rank"
    return Case(name, "call", piece, title, LIMIT, partial(_small_calls, name))


_MEASURED_AS_BY_PEERS = [case for case in grid.CASES if case.group in ("irregular", "lattice")]
CASES = (
    *map(_tile_case, PIECES),
    *_MEASURED_AS_BY_PEERS,
    *map(_small_case, SMALL_CALLS),
)
BY_NAME = {case.name: case for case in CASES}


class PathSession(Session):
    """Measures these cases, each by both paths and by the model."""

    def job(self, point: Point) -> Job:
        return replace(BY_NAME[point.case].make(point.ranks, self.size), ways=WAYS)
