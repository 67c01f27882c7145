"""`headrace tune collectives`: from times to a table."""

import random
import tomllib
from pathlib import Path

import pytest
from bench_support import bench_command

from headrace.bench.collectives.findings import Cell, Job, to_text
from headrace.bench.collectives.table import LEAST_GAIN, gains, ranges, to_toml

FLAGS = "flags"
LIBRARY = "the MPI library"


def cell(
    factor: float,
    size: int,
    taken: str = FLAGS,
    wrong: int = 0,
    pairs: int = 20,
    operation: str = "bcast",
) -> Cell:
    """Headrace is `factor` times as fast."""
    plain = [(1 + i / 100) * 1e-6 for i in range(pairs)]
    return Cell(operation, size, 10, wrong, plain, [one / factor for one in plain], taken)


def job(*cells: Cell, kind: str = "mpich", ranks: int = 2, nodes: int = 1) -> Job:
    return Job("An MPI", kind, ranks, nodes, 'defaults "quoted"', "2026-11-28", list(cells))


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({}, []),
        ({8: 1.5}, [(1, 8, 1.5)]),
        ({0: 2.0}, [(0, 0, 2.0)]),
        ({8: 1.0, 64: 2.0}, [(64, 64, 2.0)]),
        ({8: 1.5, 64: 1.2, 512: 0.9, 4096: 3.0}, [(1, 64, 1.2), (4096, 4096, 3.0)]),
        ({64: 1.2, 8: 1.5}, [(1, 64, 1.2)]),
        ({8: LEAST_GAIN - 0.001}, []),
    ],
)
def test_ranges(sizes: dict[int, float], expected: list[tuple[int, int, float]]) -> None:
    assert ranges(sizes) == expected


def test_ranges_hold_winning_sizes_and_no_others() -> None:
    draws = random.Random(3)
    for _ in range(300):
        sizes = {8**i: draws.choice((0.0, 0.9, 1.02, 1.1, 2.0)) for i in range(1, 8)}
        found = ranges(sizes)
        for size, gain in sizes.items():
            inside = [one for one in found if one[0] <= size <= one[1]]
            assert bool(inside) == (gain >= LEAST_GAIN)
            assert all(one[2] <= gain for one in inside)


def test_only_what_surely_wins_in_all_jobs_is_taken() -> None:
    jobs = [
        job(cell(2.0, 8), cell(2.0, 64), cell(2.0, 512, LIBRARY), cell(2.0, 4096, wrong=1)),
        job(cell(1.5, 8), cell(0.9, 64), cell(2.0, 512), cell(2.0, 4096), ranks=4),
        job(cell(2.0, 8, pairs=3), kind="intel"),
    ]
    found = gains(jobs)
    assert found["mpich", "one", "bcast"] == pytest.approx({8: 1.5, 64: 0.9, 512: 0, 4096: 0})
    assert found["intel", "one", "bcast"] == {8: 0}


def test_the_table_is_toml() -> None:
    jobs = [job(cell(1.5, 8), cell(1.0, 64), cell(2.25, 512)), job(cell(3.0, 8), nodes=2)]
    read = tomllib.loads(to_toml(jobs, 'a "machine"\n'))
    assert read["origin"]["machine"] == 'a "machine"\n' and read["origin"]["date"] == "2026-11-28"
    (one, several) = (read["mpich"][nodes]["bcast"] for nodes in ("one", "several"))
    assert one in ("1-8 1.5, 512-512 2.25", "1-8 1.49, 512-512 2.24")
    assert several in ("1-8 3", "1-8 2.99")


@pytest.mark.parametrize("operation", ["gatherv", "scatterv", "alltoallv", "alltoallw"])
def test_without_a_common_size_all_sizes_must_win(operation: str) -> None:
    """The core knows no size of these, and so asks for 0 bytes."""
    cells = [cell(factor, 8**i, operation=operation) for i, factor in enumerate((2.0, 1.5, 3.0), 1)]
    (text,) = tomllib.loads(to_toml([job(*cells)], "m"))["mpich"]["one"].values()
    assert text in ("0-0 1.5", "0-0 1.49")
    cells.append(cell(0.9, 4096, operation=operation))
    assert "mpich" not in tomllib.loads(to_toml([job(*cells)], "m"))


def test_nothing_to_take_is_an_empty_table() -> None:
    assert set(tomllib.loads(to_toml([job(cell(0.5, 8))], "m"))) == {"origin"}


def test_takes_earlier_times(tmp_path: Path) -> None:
    times, table = tmp_path / "c.json", tmp_path / "table.toml"
    times.write_text(to_text([job(cell(2.0, 8))]))
    done = bench_command(tmp_path)("tune", "collectives", "--from", times, table)
    assert done.returncode == 0, done.stderr
    assert "bcast" in table.read_text() and "HEADRACE_COLL_TABLE" in done.stderr
