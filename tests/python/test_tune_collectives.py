"""`headrace tune collectives`: from times to a table."""

import random
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from bench_support import bench_command
from cli_support import ROOT

from headrace.bench.collectives.findings import Cell, Job, to_text
from headrace.bench.collectives.nodes import SPARES_BYTES, Nodes
from headrace.bench.collectives.table import LEAST_GAIN, gains, ranges, to_toml, told

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
    """ranks: of the job; as many on each node."""
    settings = 'defaults "quoted"'
    shape = {"node_ranks": -(-ranks // nodes)}
    return Job("An MPI", kind, ranks, nodes, settings, "2026-11-28", list(cells), **shape)


def on(nodes: int, ranks: int, *cells: Cell) -> Job:
    """ranks: of each node."""
    return job(*cells, ranks=nodes * ranks, nodes=nodes)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({}, []),
        ({8: 1.5}, [(1, 8, 1.5)]),
        ({0: 2.0}, [(0, 0, 2.0)]),
        ({8: 1.0, 64: 2.0}, [(64, 64, 2.0)]),
        ({64: 2.0, 512: 2.5}, [(64, 512, 2.0)]),
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
    four = Nodes(1, 4)
    assert found["mpich", four, "bcast"] == pytest.approx({8: 1.5, 64: 0.9, 512: 0, 4096: 0})
    assert found["mpich", Nodes(1, 2), "bcast"] == pytest.approx({8: 2, 64: 2, 512: 0, 4096: 0})
    assert found["intel", Nodes(1, 2), "bcast"] == {8: 0}


def test_the_table_is_toml() -> None:
    jobs = [job(cell(1.5, 8), cell(1.0, 64), cell(2.25, 512)), on(4, 2, cell(3.0, 8))]
    read = tomllib.loads(to_toml(jobs, 'a "machine"\n'))
    assert read["origin"]["machine"] == 'a "machine"\n' and read["origin"]["date"] == "2026-11-28"
    one, several = read["mpich"]["one"]["2"]["bcast"], read["mpich"]["several"]["4x2"]["bcast"]
    assert one in ("1-8 1.5, 512-512 2.25", "1-8 1.49, 512-512 2.24")
    assert several in ("1-8 3", "1-8 2.99")


@pytest.mark.parametrize("operation", ["gatherv", "scatterv", "alltoallv", "alltoallw"])
def test_without_a_common_size_all_sizes_must_win(operation: str) -> None:
    """The core knows no size of these, and so asks for 0 bytes."""
    cells = [cell(factor, 8**i, operation=operation) for i, factor in enumerate((2.0, 1.5, 3.0), 1)]
    (text,) = tomllib.loads(to_toml([job(*cells)], "m"))["mpich"]["one"]["2"].values()
    assert text in ("0-0 1.5", "0-0 1.49")
    cells.append(cell(0.9, 4096, operation=operation))
    assert "mpich" not in tomllib.loads(to_toml([job(*cells)], "m"))


@pytest.mark.parametrize(
    ("measured", "other", "holds", "holds_without_bytes"),
    [
        ((1, 2), (1, 8), False, False),
        ((1, 8), (1, 8), True, True),
        ((1, 8), (1, 2), True, True),
        ((1, 8, True), (1, 2), False, False),
        ((1, 8, True), (1, 4, True), True, True),
        ((4, 2, True), (4, 2), False, False),
        ((1, 2), (2, 2), False, False),
        ((4, 2), (1, 8), False, False),
        ((4, 2), (4, 2), True, True),
        ((4, 2), (2, 2), True, False),
        ((4, 2), (4, 16), True, False),
        ((4, 2), (5, 2), False, False),
        ((4, 2), (4, 1), False, False),
    ],
)
def test_on_which_nodes_a_row_holds(
    measured: tuple[int, ...], other: tuple[int, ...], holds: bool, holds_without_bytes: bool
) -> None:
    """As tests/unit/collective_measured_nodes_test.cc has it."""
    one, two = Nodes(*measured), Nodes(*other)
    assert one.holds_on(two, "allgather") == one.holds_on(two, "bcast") == holds
    for operation in ("gather", "gatherv", "scatter", "scatterv", "alltoallv", "alltoallw"):
        assert one.holds_on(two, operation) == holds_without_bytes


def test_a_row_wins_in_all_jobs_on_which_it_would_count() -> None:
    jobs = [
        on(4, 2, cell(2.0, 8), cell(2.0, 64), cell(3.0, 512)),
        on(2, 2, cell(1.5, 8), cell(0.9, 64), cell(2.0, 32)),
        on(4, 8, cell(4.0, 8), cell(4.0, 64), cell(1.0, 512)),
        on(8, 2, cell(0.5, 8), cell(1.2, 64)),
    ]
    found = gains(jobs)
    of = {(nodes.nodes, nodes.ranks): sizes for (_, nodes, _), sizes in found.items()}
    assert of[4, 2] == pytest.approx({8: 1.5, 64: 0.9, 512: 1.0})
    assert of[2, 2] == pytest.approx({8: 1.5, 64: 0.9, 32: 2.0})
    assert of[4, 8] == pytest.approx({8: 4.0, 64: 4.0, 512: 1.0})
    assert of[8, 2] == pytest.approx({8: 0.5, 64: 0.9, 512: 1.0})
    read = tomllib.loads(to_toml(jobs, "m"))["mpich"]["several"]
    assert set(read) == {"2x2", "4x2", "4x8"}
    assert read["4x2"]["bcast"].startswith("1-8 1.") and "," not in read["4x2"]["bcast"]


def test_a_size_that_loses_elsewhere_parts_a_range() -> None:
    jobs = [on(4, 2, cell(2.0, 8), cell(2.0, 512)), on(2, 4, cell(0.5, 64))]
    read = tomllib.loads(to_toml(jobs, "m"))["mpich"]["several"]["4x2"]["bcast"]
    assert [part.split()[0] for part in read.split(", ")] == ["1-8", "512-512"]


def test_says_where_a_table_counts() -> None:
    jobs = [
        on(4, 2, cell(2.0, 8)),
        on(2, 1, cell(0.5, 8)),
        job(cell(2.0, 8)),
        job(cell(2.0, 8), kind="other"),
    ]
    assert told(jobs) == [
        "what was measured of mpich on one node of 2 ranks counts on one node with at most 2 ranks",
        "nothing that was measured of mpich on 2 nodes of 1 rank is surely faster, so it is left "
        "to the library there",
        "what was measured of mpich on 4 nodes of 2 ranks counts on 2 to 4 nodes with at least "
        "2 ranks each",
        "'An MPI' is left out (tables have intel, mpich, openmpi alone)",
    ]
    assert set(tomllib.loads(to_toml(jobs, "m"))) == {"origin", "mpich"}


def test_with_more_ranks_than_cores_a_row_counts_there_alone() -> None:
    crowded = replace(job(cell(2.0, 8), ranks=4), crowded=True)
    jobs = [job(cell(0.5, 8), ranks=4), crowded]
    assert set(tomllib.loads(to_toml(jobs, "m"))["mpich"]["one"]) == {"4"}
    assert "[mpich.one.4.crowded]" in to_toml(jobs, "m")
    assert told(jobs)[-1] == (
        "what was measured of mpich on one node of 4 ranks with fewer cores counts on one node "
        "with at most 4 ranks and fewer cores"
    )


def test_says_so_where_a_table_counts_on_such_nodes_alone() -> None:
    assert told([on(4, 2, cell(2.0, 8, operation="gatherv"))]) == [
        "what was measured of mpich on 4 nodes of 2 ranks counts on 4 nodes of 2 ranks alone"
    ]


def test_uneven_nodes_are_left_out() -> None:
    """No row could name them, and one of their largest would not count on the same job."""
    jobs = [job(cell(2.0, 8), ranks=8, nodes=3), on(2, 2, cell(2.0, 8))]
    assert set(tomllib.loads(to_toml(jobs, "m"))["mpich"]["several"]) == {"2x2"}
    assert told(jobs)[-1].startswith("An MPI, 8 ranks on 3 nodes are left out (")


def test_headrace_and_its_library_agree_on_what_spares_bytes() -> None:
    source = (ROOT / "src" / "collective" / "measured_nodes.cc").read_text()
    text = source[source.index("bool spares_bytes") : source.index("return true")]
    assert re.findall(r"case Operation::(\w+)", text) == [*SPARES_BYTES]


def test_nothing_to_take_is_an_empty_table() -> None:
    assert set(tomllib.loads(to_toml([job(cell(0.5, 8))], "m"))) == {"origin"}


def test_takes_earlier_times(tmp_path: Path) -> None:
    times, table = tmp_path / "c.json", tmp_path / "table.toml"
    times.write_text(to_text([job(cell(2.0, 8))]))
    done = bench_command(tmp_path)("tune", "collectives", "--from", times, table)
    assert done.returncode == 0, done.stderr
    assert "bcast" in table.read_text() and "HEADRACE_COLL_TABLE" in done.stderr


def earlier(tmp_path: Path) -> Path:
    path = tmp_path / "c.json"
    path.write_text(to_text([job(cell(2.0, 8))]))
    return path


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("app.c",), "does not begin as a table of headrace tune collectives does"),
        (("t.toml", "--json", "app.c"), "does not begin as a file of such times does"),
        (("t.toml", "--markdown", "app.c"), "does not begin as a page of headrace tune"),
        (("t.toml", "--markdown", "notes.md"), "does not begin as a page of headrace tune"),
        (("c.json",), "'c.json' is not replaced (it is what is read), name another file"),
        (("t.toml", "--json", "same.json"), "'same.json' is not replaced (it is what is read)"),
        (("t.toml", "--json", "t.toml"), "are one file"),
        (("-", "--json", "-"), "are one file"),
        (("no/such/t.toml",), "'no/such/t.toml' cannot be written (No such file or directory)"),
        (
            ("no/such/t.toml", "-n", "2"),
            "-n has no meaning here, --from measures nothing",
        ),
        (
            ("t.toml", "--mpi", "openmpi"),
            "--mpi has no meaning here, --from measures nothing",
        ),
        (
            ("t.toml", "--minutes", "5"),
            "--minutes has no meaning here, --from measures nothing",
        ),
    ],
)
def test_nothing_of_the_users_is_replaced_or_ignored(
    tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    times = earlier(tmp_path)
    (tmp_path / "same.json").symlink_to(times)
    (tmp_path / "app.c").write_text("int main;\n")
    (tmp_path / "notes.md").write_text("- mine\n")
    before = times.read_text()
    done = bench_command(tmp_path)("tune", "collectives", "--from", times, *words)
    assert done.returncode != 0 and told in done.stderr, done.stderr
    assert times.read_text() == before and not (tmp_path / "t.toml").exists()
    assert (tmp_path / "app.c").read_text() == "int main;\n"
    assert (tmp_path / "notes.md").read_text() == "- mine\n"


def test_minutes_are_of_the_librarys_algorithms(tmp_path: Path) -> None:
    done = bench_command(tmp_path)("tune", "collectives", "--minutes", "1", "t.toml")
    assert (
        done.returncode == 2 and "--minutes has no meaning here, it is of --library" in done.stderr
    )


def test_a_table_is_replaced_and_its_times_are_written(tmp_path: Path) -> None:
    times, table = earlier(tmp_path), tmp_path / "table.toml"
    flags = ("--from", times, table, "--json", "again.json", "--markdown", "page.md")
    for _ in range(2):
        done = bench_command(tmp_path)("tune", "collectives", *flags)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "again.json").read_text() == times.read_text()
    assert "| bcast |" in (tmp_path / "page.md").read_text()
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"again.json", "c.json", "page.md", "table.toml"}


def test_a_table_on_standard_output_stands_alone(tmp_path: Path) -> None:
    done = bench_command(tmp_path)("tune", "collectives", "--from", earlier(tmp_path), "-")
    assert done.returncode == 0 and "bcast" in done.stderr
    assert "mpich" in tomllib.loads(done.stdout) and "'-'" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("tune", "collectives", "table.toml"),
        ("bench", "collectives", "--json", "c2.json", "--markdown", "page.md"),
    ],
)
def test_files_are_written_though_nobody_reads_the_tables(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    line = [sys.executable, "-m", "headrace", *words, "--from", earlier(tmp_path)]
    environ = bench_command(tmp_path).environ
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            line, env=environ, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode != 0 and b"output cannot be written (No space left" in done.stderr
    files = [word for word in words if "." in word]
    assert all((tmp_path / name).stat().st_size > 0 for name in files)
