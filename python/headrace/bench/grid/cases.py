"""What is measured: the ways in which programs use files, each as a job."""

from collections.abc import Callable
from functools import partial

from headrace.bench.jobs import SIGNATURE, Job, ior_ways
from headrace.bench.peers import grid
from headrace.bench.peers.grid import Case

# Calls in which each rank moves its own bytes without the others.
INDEPENDENT = "independent"
SMALL = 1000
CONTIGUOUS_CALL = 4 << 20


def _case(
    name: str, group: str, title: str, transfer: int, make: Callable[[int, int], Job]
) -> Case:
    return Case(name, group, transfer, title, "", make)


def _collective(block: int, transfer: int) -> Case:
    blocks = f", blocks of {block:,} B" if block != transfer else ""
    title = f"IOR, collective calls of {transfer:,} B{blocks}"
    return _case(f"ior-{transfer}", "ior", title, transfer, partial(grid.ior, block, transfer))


def _contiguous(ranks: int, size: int) -> Job:
    """One block of the file for each rank, by collective calls."""
    share = grid.per_rank("contiguous", grid.bulk_size(size), ranks, CONTIGUOUS_CALL)
    return grid.ior(share, CONTIGUOUS_CALL, ranks, size)


def _independent(block: int, ranks: int, size: int) -> Job:
    """Calls of 1,000 B that no rank makes together with others. block: bytes of a rank before it is
    another's turn in the file, 0: all of them."""
    share = grid.per_rank(INDEPENDENT, grid.bulk_size(size), ranks, SMALL)
    length = block or share
    sizes = ("-s", str(share // length), "-b", str(length), "-t", str(SMALL))
    flags = ("-w", "-r", "-R", "-C", "-g", "-G", str(SIGNATURE), *sizes)
    return Job(
        INDEPENDENT,
        "small independent calls",
        " ".join(["ior -a MPIIO -w -r -C -g", *sizes]),
        "ior",
        ranks,
        flags,
        ior_ways(),
        ("write", "read"),
        share // length * length * ranks,
    )


def _small(name: str, title: str, block: int) -> Case:
    text = f"independent calls of {SMALL:,} B, {title}"
    return _case(name, INDEPENDENT, text, SMALL, partial(_independent, block))


CASES: tuple[Case, ...] = (
    _collective(100_000, 10_000),
    _collective(1_000_000, 1_000_000),
    _collective(1000, 1000),
    _collective(8192, 8192),
    _case("contiguous", "contiguous", "one block for each rank", CONTIGUOUS_CALL, _contiguous),
    *(grid.BY_NAME[name] for name in ("lattice", "tile-1000", "irregular")),
    _small("independent", "each rank its own part", 0),
    _small("independent-turns", "ranks in turn", SMALL),
)
BY_NAME = {case.name: case for case in CASES}
