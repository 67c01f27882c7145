"""Each rule on samples: a program that triggers it, and one that must not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hosts import AS_ROOT, REPOSITORY, Host
from measuring import measuring
from running import BUILD, PROGRAMS, compile_program, launch, work_directory
from test_recorder import report_of

CASES = re.findall(r'^    \{"([a-z-]+)"', (PROGRAMS / "sampled.c").read_text(), re.MULTILINE)
ON_TWO_RANKS = {"uneven-function", "spinning-in-mpi"}
# A rank that waits is in the system, in sched_yield, for most of the time: perf_event does not see
# that.
BY_TIMER = {"spinning-in-mpi"}
SPINNING = {"OMPI_MCA_mpi_yield_when_idle": "0", "I_MPI_THREAD_YIELD": "0"}
# Rules judge shares of the run, which other programs on the machine make longer. Where ranks had no
# core for much of it, what the cost itself is must tell.
BUSY = 0.4  # of the run without a core
SEEN = 0.1  # seconds


def compiled(host: Host, case: str, is_bad: bool) -> tuple[Path, Path]:
    """The program, and what its compiler says of it."""
    remarks = BUILD / "bin" / f"sampled-{host.name}-{case}-{is_bad}.optinfo"
    level = "-O0" if case == "unoptimised-code" and is_bad else "-O2"
    flags = [level, "-g", "-ftree-vectorize", "-pthread", f"-fopt-info-all={remarks}"]
    compiler = [*host.compilers["c"], "-lm", "-lpthread"]
    return compile_program(compiler, ["sampled.c"], f"sampled-{host.name}", flags), remarks


def sampled(records: Path, case: str) -> dict[str, str]:
    return {
        "HEADRACE_RECORD": "1",
        "HEADRACE_LOGPATH": str(records),
        "HEADRACE_SAMPLING": "1",
        "HEADRACE_SAMPLING_RATE": "1000",
        "HEADRACE_SAMPLING_SOURCE": "timer" if case in BY_TIMER else "best",
        **(SPINNING if case == "spinning-in-mpi" else {}),
    }


def run(host: Host, ranks: int, words: list[Any], records: Path, case: str) -> Path:
    result = launch(host, ranks, words, True, sampled(records, case))
    assert result.code == 0, result.explain()
    (record,) = records.glob("*.hrc")
    return record


def with_remarks(record: Path, remarks: Path) -> dict[str, Any]:
    return report_of(record, Path("--feedback"), remarks)


@pytest.mark.parametrize("is_bad", (True, False), ids=("bad", "not"))
@pytest.mark.parametrize("case", CASES)
def test_the_rule_knows_the_program(host: Host, library, case: str, is_bad: bool) -> None:
    kind = "bad" if is_bad else "not"
    program, remarks = compiled(host, case, is_bad)
    directory = work_directory(f"profile-advice-{host.name}-{case}-{kind}")
    ranks = 2 if case in ON_TWO_RANKS else 1
    record = run(host, ranks, [program, case, kind], directory / "records", case)
    report = with_remarks(record, remarks)
    with measuring():
        told = (report["advice"], report["not_judged"], report["metrics"])
        assert is_right(report, case, is_bad), told
    for one in report["advice"]:
        if one["id"] == case:
            assert one["gain_at_most_lower_seconds"] <= greatest_own(report, case)
            assert 0 < one["gain_at_most_seconds"] <= report["run"]["seconds"]
    assert case not in {one["id"] for one in report["not_judged"]}


def is_right(report: dict[str, Any], case: str, is_bad: bool) -> bool:
    """Whether the advice has the case's rule if the program has its flaw, and only then."""
    if case == "one-thread" and report["metrics"]["cores_per_rank_ratio"] < 2:
        is_bad = False  # the launcher has bound the rank to one core
    if is_bad and report["metrics"]["off_cpu_share"] > BUSY:
        return greatest_own(report, case) > SEEN
    return (case in {one["id"] for one in report["advice"]}) == is_bad


def greatest_own(report: dict[str, Any], case: str) -> float:
    """What the rank with most spends in the matter."""
    names = {
        "unoptimised-code": "unoptimised",
        "unvectorised-loop": "unvectorised",
        "uneven-function": "uneven",
        "kernel-time": "kernel",
        "one-thread": "one_thread",
        "scalar-mathematics": "libm",
        "reference-blas": "reference_blas",
        "spinning-in-mpi": "mpi_cpu",
    }
    return report["metrics"][f"{names.get(case, case)}_greatest_seconds"]


@pytest.mark.parametrize("is_bad", (True, False), ids=("bad", "not"))
def test_the_rule_knows_python(host: Host, library, is_bad: bool) -> None:
    if not host.python:
        pytest.skip("this MPI has no mpi4py here")
    kind = "bad" if is_bad else "not"
    directory = work_directory(f"profile-advice-{host.name}-python-{kind}")
    words = [host.python, PROGRAMS / "sampled.py", kind]
    report = report_of(run(host, 1, words, directory, "python-interpreter"))
    advised = {one["id"] for one in report["advice"]}
    assert ("python-interpreter" in advised) == is_bad, report["metrics"]


def test_the_listing_of_a_real_program(host: Host, library) -> None:
    """In text and page: the hot loop, its letter, the reason, and its source."""
    program, remarks = compiled(host, "unvectorised-loop", True)
    directory = work_directory(f"profile-listing-{host.name}")
    record = run(host, 1, [program, "unvectorised-loop", "bad"], directory, "unvectorised-loop")
    (file,) = with_remarks(record, remarks)["profile"]["feedback"]["files"]
    text = (PROGRAMS / "sampled.c").read_text().split("\n")
    begin = text.index("  for (int i = 0; i < 4096; i++) {") + 1
    lines = {one["line"]: one for one in file["lines"]}
    assert Path(file["file"]).name == "sampled.c"
    assert "v" in lines[begin]["marks"] and lines[begin]["source"] == text[begin - 1]
    hottest = max(file["lines"], key=lambda one: one["share"])
    assert hottest["line"] in (begin, begin + 1) and hottest["share"] > 0.5
    assert hottest["vectorised"] is False and hottest["not_vectorised_because"]
    page = directory / "page.html"
    command = [sys.executable, "-m", "headrace", "report", record, "--feedback", remarks]
    for more in ([], ["-o", page]):
        done = subprocess.run(
            [*command, *more], cwd=REPOSITORY / "python", capture_output=True, text=True, check=True
        )
        told = page.read_text() if more else done.stdout
        assert "not vectorised, because" in told and f"sampled.c:{begin}" in told


def test_the_command_shows_remarks_and_advice(host: Host, library: Path) -> None:
    program, remarks = compiled(host, "unvectorised-loop", True)
    directory = work_directory(f"profile-advice-{host.name}-command")
    environment = os.environ | host.environment | AS_ROOT
    environment |= {
        "PYTHONPATH": str(REPOSITORY / "python"),
        "HEADRACE_LIBRARY": str(library),
        "HEADRACE_LOGPATH": str(directory / "records"),
    }
    words = [sys.executable, "-m", "headrace", "profile", "--feedback", remarks]
    line = [*words, *host.launch_line(1), program, "unvectorised-loop", "bad"]
    done = subprocess.run(
        line, cwd=directory, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "A hot loop was not vectorised: gains at most" in done.stderr
    assert "not vectorised, because" in done.stderr
