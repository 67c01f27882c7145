"""The grid as data: what is measured at each of its points, and the sizes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from headrace.bench.jobs import (
    BY_POSIX,
    LIMIT,
    POSIX,
    SIGNATURE,
    THE_LIMIT,
    Job,
    Way,
    ior_job,
    ior_ways,
    kernel_job,
    lattice_job,
)
from headrace.errors import HeadraceError

# Bytes that all ranks together move in a call, or in a loop of calls.
USUAL_SIZE = 64_000_000

# From pieces of so many bytes on opening would count as much as moving, and a cell moves more.
# Peers take ten seconds for 64 MB of smaller ones.
BULK_FROM_PIECE = 64

# POSIX, a call for each piece, is an alternative from here on; below it only takes time.
POSIX_FROM_PIECE = 1000

CALL_BYTES = {"checkpoint-20k": 20_000, "checkpoint-1m": 1_000_000}
SMALL_CALL = 100_000
VARIABLES = 4
LATTICE_AREA = (32, 16, 16)
SITE_BYTES = 576
# Ranks -> process grid; each leaves runs of 16 sites.
LATTICE_GRIDS = {1: "1,1,1,1", 2: "2,1,1,1", 4: "2,2,1,1", 8: "2,2,2,1", 16: "2,2,2,2"}
LATTICE_RUN = 16 * SITE_BYTES
OPENINGS_MEASURED = "20"


@dataclass(frozen=True)
class Case:
    """What is moved. name: "tile-1000", of the group "tile"; piece: bytes of a contiguous piece in
    the file, 0 where none is told; reference: the key of the way of which Headrace reaches a share,
    empty where there is none; make: the job for a number of ranks and of bytes of all together."""

    name: str
    group: str
    piece: int
    title: str
    reference: str
    make: Callable[[int, int], Job]


@dataclass(frozen=True)
class Point:
    """A case on so many ranks under an MPI ("mpich") in a directory."""

    case: str
    ranks: int
    mpi: str
    directory: str


def per_rank(case: str, size: int, ranks: int, unit: int) -> int:
    """The largest number of bytes of a rank that is a multiple of `unit`."""
    share = size // ranks // unit * unit
    if share == 0:
        raise HeadraceError(
            f"{case} does not fit into {size} bytes",
            f"{ranks} ranks move {ranks * unit} bytes at least",
            "give a larger --size or leave it out of --cells",
        )
    return share


def bulk_size(size: int) -> int:
    """Bytes where they move fast: 64 MB come from the page cache in 2 to 10 ms, and opening takes
    up to 1, with more ranks than cores more."""
    return 4 * size


def loop_size(call: int, size: int, ranks: int) -> int:
    """Bytes of a loop of calls of `call` bytes. Small calls of more than two ranks move fewer: with
    more ranks than cores, ranks that spin make each call of some MPIs tens of milliseconds long."""
    if call >= SMALL_CALL or ranks <= 2:
        return bulk_size(size)
    return bulk_size(size) // ranks**2


def tile(piece: int, ranks: int, size: int) -> Job:
    share = per_rank(f"tile-{piece}", size, ranks, piece)
    sizes = {"--piece": str(piece), "--size": str(share)}
    ways = (BY_POSIX, THE_LIMIT) if piece >= POSIX_FROM_PIECE else (THE_LIMIT,)
    return kernel_job(
        "tile", f"tile of pieces of {piece} B", ranks, (), sizes, ranks * share, *ways
    )


def irregular(mean: int, ranks: int, size: int) -> Job:
    pieces = per_rank(f"irregular-{mean}", bulk_size(size), ranks, mean) // mean
    sizes = {"--pieces": str(pieces), "--mean": str(mean)}
    largest = ranks * pieces * mean * 3 // 2
    ways = (BY_POSIX, THE_LIMIT)
    return kernel_job("irregular", "random disjoint pieces", ranks, (), sizes, largest, *ways)


def _checkpoint(name: str, ranks: int, size: int) -> Job:
    call = CALL_BYTES[name]
    steps = per_rank(name, loop_size(call, size, ranks), ranks, call * VARIABLES) // (
        call * VARIABLES
    )
    sizes = {"--piece": "1000", "--size": call, "--steps": steps, "--variables": VARIABLES}
    words = {key: str(value) for key, value in sizes.items()}
    largest = ranks * call * VARIABLES * steps
    ways = (BY_POSIX, THE_LIMIT)
    return kernel_job("checkpoint", "a loop of small calls", ranks, (), words, largest, *ways)


def lattice(ranks: int, size: int) -> Job:
    if ranks not in LATTICE_GRIDS:
        raise HeadraceError(
            f"the lattice cannot be divided among {ranks} ranks",
            f"it has grids for {', '.join(map(str, LATTICE_GRIDS))} ranks",
            "leave it out of --cells or change --np",
        )
    slice_bytes = SITE_BYTES * LATTICE_AREA[0] * LATTICE_AREA[1] * LATTICE_AREA[2]
    extent = per_rank("lattice", bulk_size(size), 1, 2 * slice_bytes) // slice_bytes
    job = lattice_job(ranks, ("--grid", LATTICE_GRIDS[ranks]), (*LATTICE_AREA, extent))
    return replace(job.with_ways(BY_POSIX, THE_LIMIT), largest_file=slice_bytes * extent)


def ior(block: int, transfer: int, ranks: int, size: int) -> Job:
    segments = per_rank(f"ior-{block}", loop_size(transfer, size, ranks), ranks, block) // block
    flags = ("-s", str(segments), "-b", str(block), "-t", str(transfer))
    return replace(ior_job(ranks, flags), largest_file=segments * block * ranks)


def _alone(transfer: int, ranks: int, size: int) -> Job:
    """A file for each rank on MPI_COMM_SELF, beside POSIX calls."""
    block = per_rank(f"self-{transfer}", bulk_size(size), ranks, transfer)
    flags = ("-s", "1", "-b", str(block), "-t", str(transfer), "-F")
    return replace(
        ior_job(ranks, flags),
        title="a file for each rank, independent calls",
        line=" ".join(["ior -a MPIIO -w -r -C -g", *flags]),
        ways=ior_ways(),
        largest_file=block * ranks,
        file_for_each_rank=True,
    )


def _openings(ranks: int, _size: int) -> Job:
    """Opening and closing a shared file of eight bytes a rank; MPIs only, as POSIX opens alone."""
    line = ("-w", "-r", "-C", "-g", "-s", "1", "-b", "8", "-t", "8", "-i", OPENINGS_MEASURED)
    return Job(
        "open",
        "opening and closing a shared file",
        " ".join(["ior -a MPIIO", *line]),
        "ior",
        ranks,
        (*line, "-G", str(SIGNATURE)),
        tuple(way for way in ior_ways("-c") if way.key != POSIX),
        ("create", "open"),
        8 * ranks,
    )


def _tile_case(piece: int) -> Case:
    title = f"tile, pieces of {piece:,} B"

    def make(ranks: int, size: int) -> Job:
        return tile(piece, ranks, bulk_size(size) if piece >= BULK_FROM_PIECE else size)

    return Case(f"tile-{piece}", "tile", piece, title, LIMIT, make)


def _ior_case(block: int, transfer: int) -> Case:
    title = f"IOR, blocks of {block:,} B by calls of {transfer:,} B"
    make = partial(ior, block, transfer)
    return Case(f"ior-{block}", "ior", transfer, title, POSIX, make)


def _alone_case(transfer: int) -> Case:
    title = f"MPI_COMM_SELF, calls of {transfer:,} B"
    return Case(f"self-{transfer}", "self", 0, title, POSIX, partial(_alone, transfer))


def _checkpoint_case(name: str) -> Case:
    title = f"checkpoint, pieces of 1,000 B, calls of {CALL_BYTES[name]:,} B a rank"
    return Case(name, "checkpoint", 1000, title, LIMIT, partial(_checkpoint, name))


CASES: tuple[Case, ...] = (
    *map(_tile_case, (8, 64, 100, 1000, 10_000, 100_000, 1_000_000)),
    Case("irregular", "irregular", 100, "irregular, about 100 B", LIMIT, partial(irregular, 100)),
    Case("lattice", "lattice", LATTICE_RUN, "4-D lattice, runs of 9,216 B", LIMIT, lattice),
    *map(_checkpoint_case, CALL_BYTES),
    _ior_case(100_000, 10_000),
    _ior_case(1_000_000, 1_000_000),
    *map(_alone_case, (65_536, 1 << 20)),
    Case("open", "open", 0, "opening and closing a shared file", "", _openings),
)
BY_NAME = {case.name: case for case in CASES}


def select(words: Sequence[str], cases: Sequence[Case] = CASES) -> list[Case]:
    """The cases of these names or groups, in the grid's order; all where none is named."""
    known = {word for case in cases for word in (case.name, case.group)}
    unknown = [word for word in words if word not in known]
    if unknown:
        raise HeadraceError(
            f"there is no cell '{unknown[0]}'",
            "cells are " + ", ".join(case.name for case in cases),
            "give one of them, or a kind: "
            + ", ".join(dict.fromkeys(case.group for case in cases)),
        )
    return [case for case in cases if not words or case.name in words or case.group in words]


def hand_set_keys(ways: Sequence[Way]) -> list[str]:
    """Those of plain MPI with an expert's settings."""
    return [way.key for way in ways if way.variables and not way.preload]
