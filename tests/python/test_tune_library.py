"""`headrace tune collectives --library`: from times of a library's algorithms to what is taken."""

import json
import random
import signal
import subprocess
import time
import tomllib
from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from bench_support import bench_command, started

from headrace.algorithms.generated.table import KNOBS
from headrace.algorithms.knob import MOST_BYTES, Choice
from headrace.algorithms.table import table_of
from headrace.algorithms.variables import knob_of
from headrace.bench.collectives.findings import Cell
from headrace.bench.collectives.library_choice import (
    candidates,
    confirmed,
    headrace_jobs,
    table_lines,
    taken,
    without_losers,
    worth_another_try,
)
from headrace.bench.collectives.library_output import page, summary
from headrace.bench.collectives.library_times import (
    AlgorithmCell,
    LibraryJob,
    read_library_jobs,
    to_document,
)
from headrace.bench.collectives.table import to_toml
from headrace.bench.turns import turns
from headrace.errors import HeadraceError
from headrace.statistics import rounds_needed

SIZES = (8, 64, 512, 4096)
ROUNDS = 8


def cell(
    operation: str,
    size: int,
    algorithm: str,
    factor: float,
    rounds: int = ROUNDS,
    wrong: int = 0,
    spread: float = 0.01,
) -> AlgorithmCell:
    """The algorithm is `factor` times as fast, give or take `spread`."""
    own = [1e-6 * (1 + i / 10) for i in range(rounds)]
    factors = [factor * (1 + spread * (2 * i / (rounds - 1) - 1)) for i in range(rounds)]
    chosen = [one / by for one, by in zip(own, factors, strict=True)]
    return AlgorithmCell(operation, size, algorithm, wrong, own, chosen)


def cells(
    operation: str, algorithm: str, *factors: float, rounds: int = ROUNDS
) -> list[AlgorithmCell]:
    """One of each of SIZES."""
    return [
        cell(operation, size, algorithm, factor, rounds)
        for size, factor in zip(SIZES, factors, strict=True)
    ]


def shown(choices: list[Choice]) -> list[tuple[str, int, int]]:
    return [(one.algorithm, one.least, one.most) for one in choices]


# Candidates, by a few launches.


def test_by_size_the_best_algorithm_is_a_candidate() -> None:
    screened = [
        *cells("bcast", "chain", 1.5, 1.2, 1.01, 2.0, rounds=3),
        *cells("bcast", "knomial", 1.1, 1.1, 1.02, 2.5, rounds=3),
        *cells("bcast", "pipeline", 0.5, 0.5, 0.50, 0.5, rounds=3),
    ]
    found = candidates("openmpi", {4: screened}, 4)
    assert shown(found) == [("chain", 1, 64), ("knomial", 4096, 4096)]


def test_what_is_wrong_is_no_candidate() -> None:
    screened = [cell("bcast", 8, "chain", 3.0, 3, wrong=1), cell("bcast", 8, "knomial", 1.2, 3)]
    assert shown(candidates("openmpi", {2: screened}, 2)) == [("knomial", 1, 8)]


def test_where_all_sizes_must_be_covered_none_may_lose() -> None:
    first = cells("bcast", "preset_1", 1.5, 1.2, 0.80, 0.7, rounds=3)
    second = cells("bcast", "preset_2", 1.1, 1.1, 0.99, 0.7, rounds=3)
    third = cells("bcast", "preset_3", 0.5, 0.5, 0.90, 0.98, rounds=3)
    found = candidates("intel", {2: [*first, *second, *third]}, 2)
    ranges = [("preset_1", 0, 511), ("preset_2", 512, 4095), ("preset_3", 4096, MOST_BYTES)]
    assert shown(found) == ranges
    assert not candidates("intel", {2: [*first, *second]}, 2)
    assert not candidates("intel", {2: third}, 2)


def test_for_all_sizes_it_may_lose_nowhere() -> None:
    screened = [
        *cells("allgather", "ring", 3.0, 3.0, 3.0, 0.7, rounds=3),
        *cells("allgather", "brucks", 1.2, 1.0, 1.0, 0.98, rounds=3),
        *cells("allgather", "k_brucks", 1.3, 1.1, 1.0, 1.0, rounds=3),
        *cells("allgather", "recursive_doubling", 1.0, 1.0, 1.0, 1.0, rounds=3),
    ]
    assert shown(candidates("mpich", {2: screened}, 2)) == [("k_brucks", 0, 0)]


def test_a_choice_for_all_communicators_needs_all_their_sizes() -> None:
    """MPICH's counts for communicators of 2 and 3 of a job's 4 ranks, too."""
    good = cells("allgather", "ring", 1.5, 1.5, 1.5, 1.5, rounds=3)
    bad = cells("allgather", "ring", 1.5, 1.5, 1.5, 0.9, rounds=3)
    assert shown(candidates("mpich", {2: good, 3: good, 4: good}, 4)) == [("ring", 0, 0)]
    assert shown(candidates("mpich", {2: bad, 3: good}, 3)) == []
    assert shown(candidates("mpich", {2: good, 4: good}, 4)) == []
    assert shown(candidates("mpich", {2: good, 4: bad}, 2)) == [("ring", 0, 0)]
    assert shown(candidates("mpich", {2: bad}, 2)) == [("ring", 0, 0)]  # launches will confirm it
    assert shown(candidates("intel", {4: cells("bcast", "preset_1", *[1.5] * 4)}, 4)) == []
    # Open MPI can tell communicators apart.
    by_ranks = {4: cells("barrier", "tree", 1.5, 1.5, 1.5, 1.5, rounds=3)}
    assert shown(candidates("openmpi", by_ranks, 4)) == [("tree", 0, 0)]


# What is confirmed.


def test_only_what_surely_wins_is_taken() -> None:
    found = confirmed(
        "openmpi",
        [
            cell("bcast", 8, "chain", 1.5),
            cell("bcast", 64, "chain", 1.2),
            cell("bcast", 512, "", 5.0),  # the library's own choice both ways
            cell("bcast", 4096, "chain", 1.5),
            cell("allreduce", 8, "basic_linear", 1.5, spread=0.6),  # its interval holds 1
            cell("allreduce", 64, "basic_linear", 1.5, rounds=5),  # too few launches
            cell("allreduce", 512, "basic_linear", 1.035),  # its lower end is below 1.03
            cell("allreduce", 4096, "basic_linear", 1.5, wrong=1),
        ],
    )
    assert shown(found) == [("chain", 1, 64), ("chain", 4096, 4096)]
    assert 1.18 < found[0].gain < 1.2


def test_neighbours_with_other_algorithms_are_ranges_of_their_own() -> None:
    found = confirmed(
        "openmpi",
        [
            cell("bcast", 8, "chain", 1.5),
            cell("bcast", 64, "knomial", 1.4),
            cell("bcast", 512, "knomial", 1.3),
        ],
    )
    assert shown(found) == [("chain", 1, 8), ("knomial", 64, 512)]


@pytest.mark.parametrize(("last", "is_taken"), [(1.0, True), (0.98, True), (0.94, False)])
def test_what_covers_all_sizes_is_taken_whole_or_not(last: float, is_taken: bool) -> None:
    found = confirmed(
        "intel",
        [
            cell("bcast", 8, "preset_1", 1.5),
            cell("bcast", 64, "preset_2", 1.0),
            cell("bcast", 512, "preset_2", last),
        ],
    )
    ranges = [("preset_1", 0, 63), ("preset_2", 64, MOST_BYTES)]
    assert shown(found) == (ranges if is_taken else [])


@pytest.mark.parametrize(
    ("factors", "is_taken"),
    [
        ((1.2, 1.0, 1.0, 1.0), True),
        ((1.2, 1.0, 1.0, 0.98), True),
        ((1.2, 1.0, 1.0, 0.94), False),
        ((1.02, 1.0, 1.0, 1.0), False),
    ],
)
def test_one_choice_for_all_sizes_wins_somewhere_and_loses_nowhere(
    factors: tuple[float, ...], is_taken: bool
) -> None:
    found = confirmed("mpich", cells("allgather", "ring", *factors))
    assert shown(found) == ([("ring", 0, 0)] if is_taken else [])


def test_what_loses_somewhere_is_tried_again_with_others() -> None:
    def screened(operation: str, first: str, second: str) -> list[AlgorithmCell]:
        return [*cells(operation, first, *[1.5] * 4), *cells(operation, second, *[1.1] * 4)]

    tried = [cell("bcast", 8, "preset_1", 1.5), cell("bcast", 64, "preset_1", 0.5)]
    assert worth_another_try("intel", tried) == {"bcast"}
    assert not worth_another_try("intel", tried[:1]) and not worth_another_try("intel", tried[1:])
    left = without_losers("intel", screened("bcast", "preset_1", "preset_2"), tried)
    ranges = [("preset_1", 0, 63), ("preset_2", 64, 511), ("preset_1", 512, MOST_BYTES)]
    assert shown(candidates("intel", {2: left}, 2)) == ranges
    # One algorithm for all sizes is out at all of them.
    tried = [cell("allgather", 8, "ring", 1.5), cell("allgather", 64, "ring", 0.5)]
    left = without_losers("mpich", screened("allgather", "ring", "brucks"), tried)
    assert shown(candidates("mpich", {2: left}, 2)) == [("brucks", 0, 0)]


def test_no_algorithm_is_taken_where_none_is_faster() -> None:
    """Equal algorithms in noise: candidates by chance, of which next to none is confirmed."""
    chance = random.Random(11)

    def noisy(size: int, algorithm: str, rounds: int) -> AlgorithmCell:
        own, chosen = ([chance.lognormvariate(0, 0.2) for _ in range(rounds)] for _ in range(2))
        return AlgorithmCell("bcast", size, algorithm, 0, own, chosen)

    names = list(knob_of("openmpi", "bcast").algorithms)
    proposed = kept = 0
    for _ in range(100):
        screened = [noisy(size, name, 3) for name in names for size in SIZES]
        found = candidates("openmpi", {2: screened}, 2)
        at = {
            size: one.algorithm for one in found for size in SIZES if one.least <= size <= one.most
        }
        again = [noisy(size, at.get(size, ""), ROUNDS) for size in SIZES]
        proposed += len(at)
        kept += sum(
            one.most >= size >= one.least for one in confirmed("openmpi", again) for size in SIZES
        )
    assert proposed > 300
    assert kept <= 0.03 * proposed


# Turns.


@pytest.mark.parametrize("count", [2, 3, 5, 8])
def test_either_of_two_comes_first_equally_often(count: int) -> None:
    orders = [turns(count, number) for number in range(4 * count)]
    assert all(sorted(order) == list(range(count)) for order in orders)
    for one, other in combinations(range(count), 2):
        first = sum(order.index(one) < order.index(other) for order in orders)
        assert first == len(orders) / 2
    places = Counter(place for order in orders for place in enumerate(order))
    assert set(places.values()) == {4}
    behind = Counter(pair for order in orders for pair in pairwise(order))
    assert len(behind) == count * (count - 1) and set(behind.values()) == {4}


# Tables and pages.


def job(confirmed_cells: list[AlgorithmCell], kind: str = "openmpi", ranks: int = 2) -> LibraryJob:
    plain = [1e-6 * (1 + i / 10) for i in range(12)]
    ours = [Cell("bcast", 8, 10, 0, plain, [one / 2 for one in plain], "flags")]
    setup = ("An MPI 1.2", kind, ranks, 1, "defaults", "2026-11-29", "1.2.3")
    return LibraryJob(*setup, [], confirmed_cells, ours)


def test_the_table_has_what_is_taken() -> None:
    won = job([cell("bcast", 8, "chain", 1.5), cell("bcast", 64, "", 1.0)])
    lost = job([cell("bcast", 8, "chain", 0.9)], ranks=4)
    jobs = [won, lost]
    text = to_toml(headrace_jobs(jobs), "here", table_lines(jobs))
    found = table_of(tomllib.loads(text))
    assert found.problems == () and set(found.sections) == {("openmpi", 2)}
    section = found.sections["openmpi", 2]
    assert section.version == "1.2.3" and shown(list(section.choices)) == [("chain", 1, 8)]
    # Headrace is carried out where it is faster than that, too.
    assert tomllib.loads(text)["openmpi"]["one"]["2"]["bcast"] == "1-8 2"


def test_several_measurements_are_one_section() -> None:
    """Of what wins in all of them."""
    some = cells("bcast", "chain", 1.5, 1.2, 1.4, 0.9)
    others = cells("bcast", "chain", 1.3, 1.4, 1.0, 1.5)
    presets = cells("bcast", "preset_1", 1.5, 1.5, 1.5, 1.5)
    jobs = [
        job([*some, *cells("barrier", "tree", 1.5, 1.5, 1.5, 1.5)]),
        job([*others, *cells("barrier", "tree", 1.3, 1.3, 1.3, 1.3)]),
        job(presets, kind="intel"),
        job(presets, kind="intel"),
    ]
    text = to_toml(headrace_jobs(jobs), "here", table_lines(jobs))
    found = table_of(tomllib.loads(text))
    assert found.problems == ()
    of_both = found.sections["openmpi", 2].choices
    assert sorted(shown(list(of_both))) == [("chain", 1, 64), ("tree", 0, 0)]
    assert [one.gain for one in of_both if one.operation == "bcast"] == [
        pytest.approx(1.18, abs=0.02)
    ]
    assert shown(list(found.sections["intel", 2].choices)) == [("preset_1", 0, MOST_BYTES)]
    torn = cells("bcast", "preset_2", 1.5, 1.5, 1.5, 1.5)
    assert table_lines([job(presets, kind="intel"), job(torn, kind="intel")]) == []


def test_a_table_is_of_one_version_of_a_library() -> None:
    one = job([cell("bcast", 8, "chain", 1.5)])
    with pytest.raises(HeadraceError, match=r"of both openmpi 1\.2\.3 and 1\.3"):
        table_lines([one, replace(one, version="1.3")])


def test_a_table_without_algorithms_has_no_section() -> None:
    assert table_lines([job([cell("bcast", 8, "chain", 0.9)])]) == []


def test_the_page_has_losses_first_and_says_what_is_chance() -> None:
    one = job(
        [
            cell("bcast", 8, "chain", 1.5),
            cell("bcast", 64, "chain", 0.9),
            cell("bcast", 512, "", 1.2),
            cell("bcast", 4096, "", 1.0),
        ]
    )
    text = page([one])
    assert text.index("LOST") < text.index("| yes |")
    first, second = summary([one])
    assert "Of 2 cells with a candidate, 1 certainly gain" in first
    assert "In 1 of these, Headrace" in first
    assert "Of 2 cells without a candidate" in second and "1 appear to differ" in second


def test_wrong_results_are_told_and_not_taken(tmp_path: Path) -> None:
    times, table = tmp_path / "times.json", tmp_path / "table.toml"
    times.write_text(to_document([job([cell("bcast", 8, "chain", 2.0, wrong=3)])]))
    done = bench_command(tmp_path)("tune", "collectives", "--from", times, table)
    assert done.returncode == 1 and "WRONG" in done.stdout + done.stderr
    assert not table_of(tomllib.loads(table.read_text())).sections


def test_takes_earlier_times_of_both_kinds(tmp_path: Path) -> None:
    times, table, again = (tmp_path / name for name in ("times.json", "table.toml", "again.json"))
    one = job([cell("bcast", 8, "chain", 2.0)])
    times.write_text(to_document([one]))
    flags = ("--from", times, "--json", again, table)
    done = bench_command(tmp_path)("tune", "collectives", *flags)
    assert done.returncode == 0, done.stderr
    assert json.loads(again.read_text()) == json.loads(times.read_text())
    found = table_of(tomllib.loads(table.read_text()))
    assert shown(found.sections["openmpi", 2].choices) == shown(taken(one)) == [("chain", 1, 8)]


def test_an_algorithm_of_the_users_is_not_taken_for_the_librarys(tmp_path: Path) -> None:
    command = bench_command(tmp_path)
    flags = ("--library", "--minutes", "0.1", "--most", "8", "--mpi", "mpich")
    own = {"MPIR_CVAR_BCAST_INTRA_ALGORITHM": "binomial"}
    done = command("tune", "collectives", *flags, tmp_path / "table.toml", **own)
    assert (
        done.returncode != 0 and "MPIR_CVAR_BCAST_INTRA_ALGORITHM in the environment" in done.stderr
    )


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_leaves_nothing(tmp_path: Path, by: signal.Signals) -> None:
    command = bench_command(tmp_path)
    command.environ["TMPDIR"] = str(tmp_path)
    flags = ("--library", "--mpi", "openmpi", "--most", "64")
    with (tmp_path / "said").open("w+") as said:
        child = started(command, "tune", "collectives", *flags, "table.toml", by=by, stderr=said)
        end = time.monotonic() + 120
        while "round 1, launch 2" not in (tmp_path / "said").read_text():
            assert child.poll() is None and time.monotonic() < end, (tmp_path / "said").read_text()
            time.sleep(0.05)
        child.send_signal(by)
        assert child.wait(60) != 0
    assert not list(tmp_path.glob("headrace-*")) and not list(tmp_path.glob("*.toml"))
    # Open MPI's ranks are told by its launcher, and end a moment later.
    look = ["pgrep", "-f", f"{tmp_path}/headrace-"]
    end = time.monotonic() + 20
    while (left := subprocess.run(look, capture_output=True, text=True).stdout) and (
        time.monotonic() < end
    ):
        time.sleep(0.1)
    assert not left


def test_measures_and_writes_a_table(tmp_path: Path) -> None:
    """All of it, on few sizes."""
    flags = ("--library", "--mpi", "openmpi", "--most", "64", "--minutes", "0.1", "--batches", "6")
    done = bench_command(tmp_path)("tune", "collectives", *flags, "--json", "t.json", "table.toml")
    assert done.returncode == 0, done.stderr
    (one,) = read_library_jobs(tmp_path / "t.json")
    measured = {(cell.operation, cell.algorithm) for cell in one.screened}
    knobs = [knob for knob in KNOBS if knob.library == "openmpi"]
    assert measured == {(knob.operation, name) for knob in knobs for name in knob.algorithms}
    assert {cell.bytes for cell in one.screened if cell.operation == "bcast"} == {8, 64}
    assert all(cell.wrong == 0 for cell in (*one.screened, *one.confirmed))
    assert all(len(cell.own) >= rounds_needed() for cell in one.confirmed)
    found = table_of(tomllib.loads((tmp_path / "table.toml").read_text()))
    assert found.problems == ()
    sections = [sorted(shown(list(section.choices))) for section in found.sections.values()]
    assert sections in ([], [sorted(shown(taken(one)))])
