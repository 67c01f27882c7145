"""`headrace bench collectives`: how times become findings, tables and pictures; the command."""

import json
import random
from pathlib import Path

import pytest
from bench_support import bench_command
from cli_support import Command

from headrace.bench.collectives import output
from headrace.bench.collectives.findings import Cell, Job, losing_first, read_jobs, to_text
from headrace.bench.collectives.running import Told, told
from headrace.errors import HeadraceError
from headrace.mpi.installed import find_all

MICRO = 1e-6
SHOWN = """headrace: barrier on 2 ranks: by flags (HEADRACE_COLL_USE=always)
headrace: allreduce on 2 ranks, from 8 B: by each for itself (measured to be at least 1.5 times as \
fast as the MPI library with 2 ranks on one node)
headrace: allreduce on 4 ranks, from 64 B: by shared (HEADRACE_COLL_USE=always)
headrace: allreduce on 2 ranks, from 4 KiB: by the MPI library (it was not measured to be slower)
headrace: allgatherv on 2 ranks, from 1 KiB: by a node's memory
headrace: bcast on 2 ranks, from 4 MiB: by the MPI library (another rank left it to the library)
headrace: bcast on 2 ranks, from 4 MiB: by a node's memory
headrace: alltoallv on 2 ranks: by rows
headrace: gather on 2 ranks, from 8 B: by slots
headrace: scatter on 2 ranks: by the MPI library (the communicator's first calls)
headrace: scatter on 2 ranks: by the MPI library (it was not measured to be slower)
headrace: allgather on 2 ranks, from 8 B: by ring of nodes (12 messages between nodes; \
measured to be at least 1.5 times as fast as the MPI library on 4 nodes of 2 ranks)
headrace: reduce on 2 ranks, from 64 B: by tree of nodes (1 message between nodes; \
HEADRACE_COLL_USE=always)
"""


def cell(factor: float, operation: str = "bcast", wrong: int = 0, size: int = 64) -> Cell:
    """Headrace is `factor` times as fast."""
    plain = [(1 + i / 100) * MICRO for i in range(20)]
    return Cell(operation, size, 100, wrong, plain, [one / factor for one in plain], "flags")


def job(*cells: Cell) -> Job:
    return Job("MPICH 5.0.2", "mpich", 2, 1, "defaults", "2026-11-28", list(cells))


def test_losses_come_first() -> None:
    found = job(cell(2.0), cell(0.5), cell(0.99), cell(1.0))
    order = [one.speedup.median for _, one in losing_first([found])]
    assert order == pytest.approx([0.5, 0.99, 1.0, 2.0])
    assert [one.is_lost for _, one in losing_first([found])] == [True, False, False, False]
    assert (
        "surely loses more than 3% in 1 of 4 cells, and surely wins 1" in output.summary([found])[0]
    )


def test_too_few_pairs_are_no_loss() -> None:
    few = Cell("bcast", 8, 1, 0, [MICRO] * 3, [2 * MICRO] * 3)
    assert not few.is_lost and not few.speedup.is_confident


@pytest.mark.parametrize(
    ("operation", "size", "way"),
    [
        ("barrier", 0, "flags"),
        ("allreduce", 8, "each for itself"),
        ("scatter", 64, "the MPI library"),
        ("allreduce", 15, "each for itself"),
        ("allreduce", 64, ""),  # told of other ranks only
        ("allreduce", 4096, "the MPI library"),
        ("allgatherv", 512, "a node's memory"),
        ("bcast", 4 << 20, "a node's memory"),
        ("alltoall", 8, ""),
        ("alltoallv", 64, "rows"),
        ("gather", 8, "slots"),
    ],
)
def test_what_was_taken(operation: str, size: int, way: str) -> None:
    assert told(SHOWN, operation, size, 2).way == way


@pytest.mark.parametrize(
    ("operation", "size", "found"),
    [
        ("allgather", 8, Told("ring of nodes", 12)),
        ("reduce", 64, Told("tree of nodes", 1)),
        ("gather", 8, Told("slots", None)),
        ("allreduce", 4096, Told("the MPI library", None)),
    ],
)
def test_planned_messages_are_told(operation: str, size: int, found: Told) -> None:
    assert told(SHOWN, operation, size, 2) == found


def test_a_document_comes_back(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    jobs = [job(cell(2.0), cell(0.5, "barrier", size=0)), job()]
    file.write_text(to_text(jobs))
    assert read_jobs(file) == jobs


def test_other_documents_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    whole = to_text([job(cell(2.0))])
    draws = random.Random(5)
    bad = ["", "[]", "{}", "1", '{"format": "other", "jobs": []}', "[" * 100_000]
    bad += [whole[: draws.randrange(len(whole) - 1)] for _ in range(50)]
    for change in ({"plain": [0.0] * 20}, {"plain": []}, {"plain": ["x"] * 20}, {"plain": [1.0]}):
        document = json.loads(whole)
        document["jobs"][0]["cells"][0] |= change
        bad.append(json.dumps(document))
    for text in bad:
        file.write_text(text)
        with pytest.raises(HeadraceError, match="cannot be read"):
            read_jobs(file)


def test_wrong_results_are_told_first() -> None:
    page = output.page([job(cell(2.0, wrong=3), cell(1.0))])
    assert page.startswith("- WRONG: MPICH 5.0.2, 2 ranks, bcast, 64 B: 3 elements\n")
    assert "| flags |" in page


@pytest.fixture
def bench(tmp_path: Path) -> Command:
    return bench_command(tmp_path)


def test_measures_and_shows(bench: Command, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    v_forms = ["allgatherv", "gatherv", "scatterv", "alltoallv", "alltoallw"]
    operations = ["reduce_scatter", "gather", "scatter", *v_forms]
    flags = ["--operations", ",".join(["barrier", *operations]), "--most", "64", "--batches", "3"]
    done = bench("bench", "collectives", *flags, "--always", "--json", file)
    assert done.returncode == 0, done.stderr
    (found,) = read_jobs(file)
    assert [(one.operation, one.bytes) for one in found.cells] == [
        ("barrier", 0),
        *((operation, size) for operation in operations for size in (8, 64)),
    ]
    assert all(one.wrong == 0 and len(one.plain) == 3 for one in found.cells)
    assert all(one.by_layer for one in found.cells), [one.taken for one in found.cells]
    shown = bench("bench", "collectives", "--from", file)
    assert shown.returncode == 0 and "allgatherv" in shown.stdout, shown.stderr


def test_an_mpi_below_a_folder_of_our_name_is_found(bench: Command, tmp_path: Path) -> None:
    mpich = next(one.prefix for one in find_all(bench.environ) if one.kind == "mpich")
    place = tmp_path / "headrace" / "mpich"
    place.parent.mkdir()
    place.symlink_to(mpich)
    flags = ("--operations", "barrier", "--batches", "1")
    done = bench("bench", "collectives", *flags, HEADRACE_MPI_PATH=str(place))
    assert done.returncode == 0, done.stderr


def test_blocks_that_cannot_be_called_are_left_out(bench: Command, tmp_path: Path) -> None:
    """Their places, in bytes, are no ints."""
    sizes = ("--least", "1g", "--most", "1g", "--batches", "1")
    file = tmp_path / "c.json"
    operations = ("--operations", "barrier,alltoallw")
    done = bench("bench", "collectives", *operations, *sizes, "--json", file)
    assert done.returncode == 0, done.stderr
    assert "alltoallw of 1073741824 bytes is left out (MPI's counts" in done.stderr
    assert [one.operation for one in read_jobs(file)[0].cells] == ["barrier"]
    sizes = ("--least", "16g", "--most", "16g")
    done = bench("bench", "collectives", "--operations", "bcast", *sizes)
    assert done.returncode == 1 and "make --least and --most smaller" in done.stderr


def test_bad_requests_are_named(bench: Command) -> None:
    for flags, word in ((["--operations", "bcats"], "bcats"), (["--least", "9"], "multiples of 8")):
        result = bench("bench", "collectives", *flags, "--most", "64")
        assert result.returncode != 0 and word in result.stderr
