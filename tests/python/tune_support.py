"""Figures as a machine of known costs would give them."""

from headrace.tune.figures import Figure, Measured
from headrace.tune.fit import FIRST_BYTES

KINDS = {
    "append": (512, 4096, 16384, 65536, 1 << 20, 4 << 20),
    "read": (512, 4096, 65536, 1 << 20, 4 << 20),
    "append_cached": (512, 16384, 65536, 262144),
    "read_cached": (512, 16384, 65536, 262144),
}
PATH_SIZES = (1000, 10_000, 65_536, 262_144, 1 << 20, 4 << 20)

# Of a store behind a network, in nanoseconds.
SLOW = {
    "write.call": 200_000.0,
    "write.call_byte": 1.5,
    "write.growth_byte": 0.25,
    "write.window_call": 190_000.0,
    "write.window_byte": 1.4,
    "write.copy_byte": 0.1,
    "read.call": 150_000.0,
    "read.call_byte": 1.2,
    "read.window_call": 140_000.0,
    "read.window_byte": 1.1,
    "read.copy_byte": 0.09,
    "common.joined_piece": 800.0,
    "common.joined_byte": 1.3,
}


def figure(what: str, nanoseconds: float, size: int = 0, ranks: int = 1, **more) -> Figure:
    seconds = [nanoseconds * 1e-9 * factor for factor in (1.0, 0.99, 1.01, 1.0, 1.3, 4.0)]
    fields = {"count": 1, "gap": 0, "path": "", **more}
    return Figure(what=what, ranks=ranks, bytes=size, seconds=seconds, **fields)


def figures(
    costs: dict[str, float] | None = None, ranks: int = 2, gain: float = 1.0, crossing: int = 0
) -> list[Figure]:
    """gain: how many times the rate of one rank all reach. crossing: from pieces of this size on
    direct collective calls are the faster ones; 0: never."""
    costs = costs or SLOW
    found = []
    for what, sizes in KINDS.items():
        direction = "read" if what.startswith("read") else "write"
        kind = "window" if what.endswith("cached") else "call"
        for size in sizes:
            growth = costs["write.growth_byte"] * min(size, FIRST_BYTES)
            time = costs[f"{direction}.{kind}_call" if kind == "window" else f"{direction}.call"]
            time += size * costs[f"{direction}.{kind}_byte"]
            found.append(figure(what, time + (growth if what == "append" else 0), size))
    for direction, what in (("write", "copy_to_slot"), ("read", "copy_from_slot")):
        found.append(figure(what, costs[f"{direction}.copy_byte"] * 65536, 65536))
    for piece, gap in ((2048, 1024), (4096, 2048), (16384, 4096)):
        each = costs["common.joined_piece"] + (piece + gap) * costs["common.joined_byte"]
        found.append(figure("read_joined", each * 400, piece, count=400, gap=gap))
    for what in ("append_together", "read_together"):
        for size in (65536, 1 << 20):
            found.append(figure(what, 100.0 * size, size, 1))
            found.append(figure(what, 100.0 * size * ranks / gain, size, ranks))
    for direction in ("write", "read"):
        for size in PATH_SIZES:
            direct = 0.5 if crossing and size >= crossing else 2.0
            what = f"collective_{direction}"
            found.append(figure(what, 1e6 * direct, size, ranks, path="direct", count=4))
            found.append(figure(what, 1e6, size, ranks, path="staged", count=4))
    return found


def measured(of: list[Figure] | None = None, ranks: int = 2, **more) -> Measured:
    fields = {
        "mpi": "An MPI",
        "ranks": ranks,
        "nodes": 1,
        "node_ranks": ranks,
        "cores": ranks,
        "processor": "A CPU",
        "host": "node1",
        "file_system": "ext4",
        "core_distance": 0.0,
        "coherence_tries": 0,
        "coherence_stale": 0,
        "mount": "/data",
        "date": "2026-11-28",
        "headrace": "0.1.0",
        **more,
    }
    return Measured(figures=figures(ranks=ranks) if of is None else of, **fields)
