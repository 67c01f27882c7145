"""Traced functions of records, whose sums are known."""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_support import ROOT
from record_support import MILLISECOND, Job, NodeTables
from rich.console import Console
from schema_support import check
from test_profile import sampled_job

from headrace.advice.judging import judge
from headrace.advice.rules import collect
from headrace.analysis.analyse import analyse
from headrace.commands._findings import job_of
from headrace.errors import HeadraceError
from headrace.profile.traced import Calls, Traced, traced
from headrace.record.reader import read
from headrace.report.document import document
from headrace.report.page import page
from headrace.report.terminal import show
from headrace.report.traced_tables import traced_tables
from headrace.symbols.resolver import Symbols, resolve_frames

SCHEMA = json.loads((ROOT / "docs" / "reference" / "report.schema.json").read_text())
RULES = collect(())
MS = MILLISECOND
HOSTILE = "bad\n<script>alert(1)</script>[bold]"


def path(node: NodeTables, *functions: str) -> int:
    """The outermost first. Their frames need no file to be looked into."""
    place = -1
    for line, name in enumerate(functions, 1):
        module = node.add("modules", file=f"/src/{name}.py")
        place = node.add("paths", caller=place, module=module, function=name, line=line)
    return place


def traced_job(ranks: int = 2) -> Job:
    """dgemm_ by slots, from solve: 3 calls of 30 ms on rank 0 and one of 10 on rank 1, and once
    from check; work by hooks: its path has itself; one refused."""
    facts = {"ranks": str(ranks), "nodes": str(ranks), "trace_left_out": "7"}
    facts |= {"trace_cost_0": "20000", "trace_cost_1": "50000", "trace_cost_2": "", "other": "x"}
    job = Job(facts=facts)
    for rank in range(ranks):
        node = job.node()
        node.add("ranks", rank=rank, host="n0", state=1, run=1000 * MS, threads=2)
        node.add("regions", rank=rank, thread=0, region=1, id=3, label="solve", entries=1)
        blas = node.add("modules", file="/opt/libopenblas.so.0", build_id="ab")
        app = node.add("modules", file="/opt/app", build_id="cd")
        gemm = node.add("functions", name="dgemm_", group="blas", way=0, module=blas, offset=16)
        work = node.add("functions", name="_Z4workv", group="", way=1, module=app, offset=32)
        node.add("functions", name="idle", group="blas", way=0, module=blas)
        node.add("functions", name="gone", way=3, module=app, refusal="its code is not as planned")
        solve, checked = path(node, "main", "solve"), path(node, "main", "check")
        hooked = path(node, "main", "work")
        calls = 3 - 2 * rank
        node.add(
            "traced", rank=rank, thread=0, function=gemm, path=solve, region=1, calls=calls,
            time=10 * MS * calls, own=10 * MS * calls, least=(9 + rank) * MS, greatest=11 * MS,
            moved=100,
        )  # fmt: skip
        node.add(
            "traced", rank=rank, thread=1, function=gemm, path=checked, calls=2, unended=1,
            time=5 * MS, own=4 * MS, mpi=1 * MS, least=5 * MS, greatest=5 * MS,
        )  # fmt: skip
        node.add(
            "traced", rank=rank, thread=0, function=work, path=hooked, calls=100_000, time=40 * MS,
            own=6 * MS, least=1, greatest=2 * MS,
        )  # fmt: skip
        node.call(rank, "MPI_Init", 4, calls=1, time=200 * MS)
        node.call(rank, "MPI_Send", 0, calls=4, sent=400, time=(1 + rank) * MS)
    return job


def traced_of(file: Path, ranks: int = 2) -> Traced:
    calls = Calls(read(file))
    made = traced(calls, resolve_frames(set(calls.frames())), ranks)
    assert made is not None
    return made


def test_calls_are_added_up(tmp_path: Path) -> None:
    made = traced_of(traced_job().write(tmp_path))
    gemm, work = (next(one for one in made.functions if one.group == own) for own in ("blas", ""))
    assert (gemm.name, gemm.way, gemm.module) == ("dgemm_", "slots", "libopenblas.so.0")
    assert (gemm.calls, gemm.unended) == (3 + 2 + 1 + 2, 2)
    assert (gemm.time, gemm.own, gemm.mpi) == (50 * MS, 48 * MS, 2 * MS)
    assert (gemm.least, gemm.greatest, gemm.moved) == (5 * MS, 11 * MS, 200)
    assert gemm.by_rank == {0: 34 * MS, 1: 14 * MS}
    # CrayPat's: greatest - average, and (greatest - average) / greatest x ranks / (ranks - 1)
    assert gemm.balance.imbalance == 10 * MS
    assert gemm.balance.imbalance_percent == pytest.approx(100 * 10 / 34 * 2)
    assert gemm.regions == {"solve": 40 * MS, "": 10 * MS}
    assert (work.name, work.calls, made.uncalled, made.left_out) == ("work()", 200_000, 1, 7)


def test_callers(tmp_path: Path) -> None:
    """By hooks the innermost frame is the function's own, and no caller."""
    made = traced_of(traced_job().write(tmp_path))
    gemm, work = sorted(made.functions, key=lambda one: one.name)
    assert gemm.first_caller == "solve"
    solve, checked = gemm.callers.costliest()
    assert (solve.name, solve.calls, solve.time) == ("solve", 4, 40 * MS)
    assert (checked.name, checked.calls, checked.time) == ("check", 4, 10 * MS)
    assert [one.name for one in solve.costliest()] == ["main"]
    assert [one.name for one in work.callers.costliest()] == ["main"]


def test_groups_have_mpi_beside_them(tmp_path: Path) -> None:
    made = traced_of(traced_job().write(tmp_path))
    groups = {one.name: one for one in made.groups}
    assert list(groups) == ["blas", "(by name)", "mpi"]
    assert (groups["blas"].functions, groups["blas"].calls, groups["blas"].own) == (1, 8, 48 * MS)
    mpi = groups["mpi"]
    assert (mpi.functions, mpi.calls, mpi.own, mpi.moved) == (1, 8, 3 * MS, 800)


def test_the_cost_of_tracing(tmp_path: Path) -> None:
    made = traced_of(traced_job().write(tmp_path))
    gemm, work = sorted(made.functions, key=lambda one: one.name)
    assert made.costs == {"slots": 20.0, "hooks": 50.0}
    assert (gemm.cost, gemm.is_costly) == (8 * 20, False)
    assert (work.cost, work.is_costly) == (200_000 * 50, True)
    (table, *_) = traced_tables(made)
    assert [row[-1] for row in table.rows] == [
        "2 did not end",
        "tracing dominates",
    ]
    assert "do not trace the function" in table.note


@pytest.mark.parametrize(("cost", "is_left_out"), [(None, False), ("0", False), ("7000", True)])
def test_whether_times_have_that_cost(tmp_path: Path, cost: str | None, is_left_out: bool) -> None:
    """They have it if it was not measured."""
    job = traced_job()
    if cost is not None:
        job.facts["trace_inner_0"] = cost
    made = traced_of(job.write(tmp_path))
    (table, *_) = traced_tables(made)
    assert made.is_left_out == is_left_out == ("in none of the times" in table.note)


def test_rows_below_0_are_added_up_before_they_are_cut(tmp_path: Path) -> None:
    """Of small functions, of which more than they took may be taken for tracing."""
    job = Job(facts={"ranks": "2", "nodes": "1"})
    node = job.node()
    small = node.add("functions", name="small", group="g", way=0)
    tiny = node.add("functions", name="tiny", group="g", way=0)
    ways = [path(node, "main", name) for name in ("a", "b", "c")]
    for thread, (way, time) in enumerate(zip(ways, (50, -30, -5), strict=True)):
        rows = {"path": way, "thread": thread, "calls": 10, "time": time, "own": time - 1}
        node.add("traced", rank=0, function=small, **rows)
    node.add("traced", rank=1, function=small, path=ways[0], calls=10, time=-7, own=-7)
    node.add("traced", rank=1, function=tiny, path=ways[0], calls=10, time=-40, own=-40)
    made = traced_of(job.write(tmp_path))
    functions = {one.name: one for one in made.functions}
    one = functions["small"]
    assert (one.time, one.own) == (50 - 30 - 5 - 7, 49 - 31 - 6 - 7)
    assert one.by_rank == {0: 49 - 31 - 6, 1: 0}
    assert one.regions == {"": 8}
    assert {caller.name: caller.time for caller in one.callers.costliest()} == {
        "a": 43, "b": 0, "c": 0,
    }  # fmt: skip
    assert (functions["tiny"].time, functions["tiny"].own) == (0, 0)
    assert next(group.own for group in made.groups if group.name == "g") == 0


@pytest.mark.parametrize("cost", ["-1", "9" * 400, "nan", "1e9", "٣", ""])
def test_costs_that_are_none(tmp_path: Path, cost: str) -> None:
    job = traced_job()
    job.facts["trace_cost_0"] = job.facts["trace_left_out"] = cost
    made = traced_of(job.write(tmp_path))
    assert "slots" not in made.costs and made.left_out == 0


def test_refusals_have_their_reasons(tmp_path: Path) -> None:
    made = traced_of(traced_job().write(tmp_path))
    (gone,) = made.refused  # of both nodes, once
    assert (gone.name, gone.way, gone.reason) == ("gone", "prologue", "its code is not as planned")


def test_json_text_and_page(tmp_path: Path) -> None:
    job = traced_job()
    node = job.nodes[0]
    module = node.add("modules", file=f"/x/{HOSTILE}")
    name = node.add("functions", name=HOSTILE, group=HOSTILE, way=2, module=module)
    node.add("functions", name=HOSTILE, way=2, refusal=HOSTILE)
    node.add("traced", rank=0, function=name, path=path(node, HOSTILE), calls=1, time=1, own=MS)
    file = job.write(tmp_path)
    found, made = analyse(read(file)), traced_of(file)
    judged = judge(RULES, found.metrics)
    told = json.loads(json.dumps(document(found, Symbols(), judged, traced=made)))
    check(told, SCHEMA)
    (gemm,) = (one for one in told["profile"]["traced"]["functions"] if one["name"] == "dgemm_")
    assert (gemm["calls"], gemm["seconds"], gemm["bytes"]) == (8, 0.05, 200)
    assert (gemm["own_seconds"], gemm["mpi_seconds"]) == (0.048, 0.002)
    assert gemm["callers"][0] == {"path": ["solve"], "calls": 4, "seconds": 0.04}
    assert gemm["callers"][1]["path"] == ["solve", "main"]
    out = Console(width=400)
    with out.capture() as text:
        show(out, found, Symbols(), judged, traced=made)
    shown = text.get()
    for title in ("Traced functions", "Callers of traced functions", "Traced groups"):
        assert title in shown
    assert "Functions that are not traced" in shown and "its code is not as planned" in shown
    assert "tracing a call takes 20 ns by slots, 50 ns by hooks" in shown
    assert "bad\\u000a<script>" in shown and "[bold]" in shown
    written = page(found, Symbols(), judged, traced=made)
    assert "Traced functions" in written and "<script" not in written


def test_a_record_without_them(tmp_path: Path) -> None:
    job = Job(facts={"ranks": "1", "nodes": "1"})
    job.node().add("ranks", rank=0, host="n0", state=1, run=1000 * MS, threads=1)
    assert traced(Calls(read(job.write(tmp_path))), Symbols(), 1) is None


def test_calls_without_a_function_or_path(tmp_path: Path) -> None:
    job = traced_job(1)
    node = job.nodes[0]
    node.add("traced", rank=0, function=-1, calls=5, time=MS)
    node.add("traced", rank=0, function=0, path=-1, region=99, calls=1, time=MS, own=MS)
    made = traced_of(job.write(tmp_path), 1)
    (gemm,) = (one for one in made.functions if one.name == "dgemm_")
    assert gemm.calls == 3 + 2 + 1
    assert gemm.callers.calls == 6


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("functions", {"way": 5}),
        ("functions", {"way": -1}),
        ("functions", {"module": 99}),
        ("functions", {"name": 9999}),
        ("traced", {"function": 99}),
        ("traced", {"path": 9999}),
        ("traced", {"rank": 1 << 31}),
        ("traced", {"calls": -1}),
        ("traced", {"mpi": -5}),
        ("traced", {"moved": -(1 << 63)}),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, table: str, row: dict[str, int]) -> None:
    job = traced_job()
    job.nodes[1].add(table, **row)
    with pytest.raises(HeadraceError, match=f"{table}\\."):
        read(job.write(tmp_path))


def test_huge_numbers_are_shown(tmp_path: Path) -> None:
    job = traced_job()
    huge = (1 << 63) - 1
    job.nodes[0].add(
        "traced", rank=0, function=0, calls=huge, unended=huge, time=huge, own=huge, mpi=huge,
        least=huge, greatest=huge, moved=huge,
    )  # fmt: skip
    made = traced_of(job.write(tmp_path))
    assert all(table.rows for table in traced_tables(made))


MANY = 3_000_000


@pytest.mark.parametrize("make", [sampled_job, traced_job])
def test_memory_is_of_the_ranks_that_are_there(tmp_path: Path, make: Callable[[], Job]) -> None:
    """The record tells a number of ranks, and has two of them."""
    job = make()
    job.facts["ranks"] = str(MANY)
    file = job.write(tmp_path)
    tracemalloc.start()
    try:
        read_job = job_of([file])
        found, made = read_job.findings, (read_job.profile, None, None, read_job.traced)
        judged = judge(RULES, found.metrics)
        told = document(found, Symbols(), judged, *made)
        page(found, Symbols(), judged, *made)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 4 * MANY, "a half of one number for each"
    profile = told["profile"]
    functions = profile["functions"] if make is sampled_job else profile["traced"]["functions"]
    expected = {"hot": [0.03, 0.01], "main": [], "dgemm_": [0.034, 0.014]}
    for one in functions:
        if one["name"] in expected:
            assert one["rank_seconds"] == expected[one["name"]]
            average = sum(expected[one["name"]]) / MANY
            assert one["average_seconds"] == pytest.approx(average)
