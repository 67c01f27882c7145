"""`headrace bench collectives --guidelines`: what counts as a violation, tables; the command."""

import json
from pathlib import Path

import pytest
from bench_support import bench_command
from cli_support import Command

from headrace.bench.collectives import guidelines_output as output
from headrace.bench.collectives.findings import read_jobs, to_text
from headrace.bench.collectives.guidelines import (
    GuidelineCell,
    GuidelineJob,
    read_guidelines,
    to_document,
    violations_first,
)
from headrace.errors import HeadraceError

MICRO = 1e-6


def cell(
    plain: float, ours: float, pairs: int = 20, wrong: int = 0, taken: str = "flags"
) -> GuidelineCell:
    """The operation takes `plain` times as long as its emulation, with Headrace `ours` times."""
    others = [(1 + i / 100) * MICRO for i in range(pairs)]
    times = [[one * factor for one in others] for factor in (plain, 1, ours, 1)]
    return GuidelineCell("bcast", "scatter + allgather", 64, 100, wrong, *times, taken)


def job(*cells: GuidelineCell) -> GuidelineJob:
    return GuidelineJob("MPICH 5.0.2", "mpich", 2, 1, "defaults", "2026-11-29", list(cells))


@pytest.mark.parametrize(
    ("plain", "ours", "text"),
    [
        (1.5, 0.5, "plain"),
        (0.5, 1.5, "HEADRACE"),
        (2.0, 2.0, "plain, HEADRACE"),
        (1.02, 1.0, ""),  # too little to count
    ],
)
def test_who_violates(plain: float, ours: float, text: str) -> None:
    assert output.violated(cell(plain, ours)) == text


def test_too_few_pairs_are_no_violation() -> None:
    assert output.violated(cell(2.0, 2.0, pairs=3)) == ""


def test_violations_come_first() -> None:
    cells = [cell(0.5, 0.5), cell(3.0, 0.5), cell(0.5, 1.1), cell(1.0, 1.0), cell(0.5, 1.5)]
    ordered = [one for _, one in violations_first([job(*cells)])]
    assert ordered == [cells[i] for i in (4, 2, 1, 3, 0)]


def test_they_are_counted() -> None:
    text = output.summary([job(cell(1.5, 0.5), cell(0.5, 1.5), cell(2, 2), cell(1, 1))])[0]
    assert text.endswith("in 2 of 4 cells plain, and in 2 with Headrace.")


@pytest.mark.parametrize(
    ("taken", "mark"), [("flags", "*"), ("the MPI library", ""), ("", "")], ids=str
)
def test_what_headrace_carried_out_is_marked(taken: str, mark: str) -> None:
    ((*_, plain, _, ours, _, _),) = output.guideline_table([job(cell(2, 3, taken=taken))]).rows
    assert f"{mark} / " in ours and ours.count("*") == len(mark) and "*" not in plain


def test_a_document_comes_back(tmp_path: Path) -> None:
    file = tmp_path / "g.json"
    jobs = [job(cell(2.0, 1.0), cell(0.5, 0.5)), job()]
    file.write_text(to_document(jobs))
    assert read_guidelines(file) == jobs
    # What was measured of something else is not taken for it.
    with pytest.raises(HeadraceError, match="add --guidelines"):
        read_jobs(file)
    file.write_text(to_text([]))
    with pytest.raises(HeadraceError, match="leave out --guidelines"):
        read_guidelines(file)


@pytest.mark.parametrize("change", [{"plain": []}, {"headrace": [1.0]}, {"plain_emulated": [0.0]}])
def test_unsound_times_are_refused(change: dict[str, list[float]], tmp_path: Path) -> None:
    document = json.loads(to_document([job(cell(2.0, 1.0))]))
    document["jobs"][0]["cells"][0] |= change
    file = tmp_path / "g.json"
    file.write_text(json.dumps(document))
    with pytest.raises(HeadraceError, match="cannot be read"):
        read_guidelines(file)


def test_wrong_results_are_told_first() -> None:
    page = output.page([job(cell(2.0, 1.0, wrong=3))])
    told = "- WRONG: MPICH 5.0.2, 2 ranks, bcast or scatter + allgather, 64 B: 3 elements\n"
    assert page.startswith(told)


@pytest.fixture
def bench(tmp_path: Path) -> Command:
    return bench_command(tmp_path)


# Three ranks do not divide blocks of 1 or 8 elements.
@pytest.mark.parametrize(("mpi", "ranks"), [("mpich", 2), ("openmpi", 3)])
def test_emulations_give_the_same(mpi: str, ranks: int, bench: Command, tmp_path: Path) -> None:
    """The program compares what each of them gives with what the operation must give."""
    file = tmp_path / "g.json"
    flags = ["--guidelines", "--always", "--mpi", mpi, "-n", ranks, "--json", file]
    done = bench("bench", "collectives", *flags, "--most", "64", "--batches", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = read_guidelines(file)
    assert all(one.wrong == 0 and len(one.headrace_emulated) == 2 for one in found.cells)
    barriers = [one for one in found.cells if one.operation == "barrier"]
    others = [one for one in found.cells if one.operation != "barrier"]
    assert [one.bytes for one in barriers] == [0]
    assert [one.bytes for one in others] == [8, 64] * (len(others) // 2)
    assert {one.operation for one in found.cells} == {
        *("barrier", "bcast", "allreduce", "allgather", "allgatherv", "alltoall", "alltoallv"),
        *("reduce_scatter_block", "reduce_scatter", "gather", "gatherv", "scatter", "scatterv"),
        "reduce",
    }
    # The MPI library's, which Headrace does not carry out.
    assert all(one.taken for one in found.cells if one.operation != "reduce")
    shown = bench("bench", "collectives", "--guidelines", "--from", file)
    assert shown.returncode == 0 and "reduce_scatter" in shown.stdout, shown.stderr


def test_guidelines_have_no_figure(bench: Command) -> None:
    done = bench("bench", "collectives", "--guidelines", "--figure", "f")
    assert done.returncode != 0 and "--figure" in done.stderr
