"""Counts of events of programs that know what they make the kernel count."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hosts import AS_ROOT, REPOSITORY, Host
from running import Result, compile_program, launch, work_directory
from test_recorder import report_of

RANKS = 2
PAGES = 20_000
# MPI touches memory of its own meanwhile, and so does Headrace.
MARGIN = 2_000
GROUPS = ("summary", "tlb", "cache", "bandwidth", "stalls", "mix", "vector", "branches")
LINE = "these events are not counted"


def program(host: Host) -> Path:
    compiler = [*host.compilers["c"], "-lpthread"]
    return compile_program(compiler, ["counted.c"], f"counted-{host.name}")


def counted(directory: Path, group: str = "software") -> dict[str, str]:
    return {
        "HEADRACE_RECORD": "1",
        "HEADRACE_LOGPATH": str(directory),
        "HEADRACE_COUNTERS": group,
        "HEADRACE_QUIET": "0",
    }


def touched(output: str) -> dict[int, int]:
    """Pages by rank, as the program says."""
    lines = [line.split() for line in output.splitlines()]
    return {int(words[0]): int(words[2]) for words in lines if words[1:2] == ["pages"]}


def counts(report: dict, event: str) -> dict[int, float | None]:
    (row,) = (one for one in report["profile"]["counters"]["events"] if one["name"] == event)
    return {one["rank"]: one["value"] for one in row["ranks"]}


def metric(report: dict, name: str) -> dict:
    return next(one for one in report["profile"]["counters"]["metrics"] if one["name"] == name)


def run_counted(host: Host, way: str, group: str = "software") -> tuple[Result, Path]:
    directory = work_directory(f"counters-{host.name}-{way or 'plain'}-{group}")
    arguments = [program(host), str(PAGES), *([way] if way else [])]
    result = launch(host, RANKS, arguments, True, counted(directory, group))
    assert result.code == 0, result.explain()
    (record,) = directory.glob("*.hrc")
    return result, record


def check_faults(report: dict, pages: dict[int, int]) -> None:
    faults = counts(report, "minor_faults")
    assert set(faults) == set(pages)
    for rank, own in pages.items():
        assert own <= faults[rank] < own + MARGIN


@pytest.mark.parametrize("way", ["", "threads", "fork"])
def test_page_faults_that_a_program_makes(host: Host, library: Path, way: str) -> None:
    result, record = run_counted(host, way)
    report = report_of(record)
    pages = touched(result.out)
    assert len(pages) == RANKS
    check_faults(report, pages)
    faults = counts(report, "minor_faults")
    row = metric(report, "minor_fault_rate")
    assert max(faults, key=faults.get) == RANKS - 1
    assert row["greatest"] >= row["mean"] >= row["least"] > 0
    assert report["profile"]["samples"] == 0
    assert metric(report, "cores_used")["mean"] > 0
    assert all(value >= 0 for value in counts(report, "voluntary_switches").values())


def test_a_killed_job_keeps_its_counts(host: Host, library: Path) -> None:
    directory = work_directory(f"counters-{host.name}-kill")
    memory = directory / "memory"
    memory.mkdir()
    environment = counted(directory) | {"HEADRACE_RECORD_DIRECTORY": str(memory)}
    result = launch(host, 1, [program(host), str(PAGES), "kill"], True, environment)
    assert result.code != 0
    (images,) = memory.glob("headrace-record-*/*")
    report = report_of(images)
    assert not report["run"]["complete"]
    check_faults(report, {0: PAGES})


@pytest.mark.parametrize("group", GROUPS)
def test_what_the_machine_lacks_is_told_in_one_line(host: Host, library: Path, group: str) -> None:
    result, record = run_counted(host, "", group)
    assert touched(result.out) == {rank: PAGES * (rank + 1) for rank in range(RANKS)}
    found = report_of(record)["profile"]["counters"]
    assert found["group"] == group
    lacking = [one for one in found["events"] if one["not_known_because"]]
    lines = [line for line in result.err.splitlines() if LINE in line]
    assert len(lines) == (1 if lacking else 0)
    assert all(one["name"] in lines[0] for one in lacking)
    assert all(one["least"] is None and one["mean"] is None for one in lacking)
    (clock,) = (one for one in found["events"] if one["name"] == "task_clock")
    assert clock["least"] > 0
    for one in found["metrics"]:
        assert (one["mean"] is None) == bool(one["not_known_because"])


def test_nothing_is_counted_unless_asked(host: Host, library: Path) -> None:
    result, record = run_counted(host, "", "off")
    assert LINE not in result.err
    assert report_of(record)["profile"] is None


def test_the_command(host: Host, library: Path) -> None:
    directory = work_directory(f"counters-{host.name}-command")
    environment = (
        os.environ
        | host.environment
        | AS_ROOT
        | {
            "PYTHONPATH": str(REPOSITORY / "python"),
            "HEADRACE_LIBRARY": str(library),
            "HEADRACE_LOGPATH": str(directory / "records"),
        }
    )
    line = [*map(str, host.launch_line(RANKS)), str(program(host)), str(PAGES)]
    command = [sys.executable, "-m", "headrace", "profile", "--counters", "software", *line]
    done = subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Counters: software" in done.stderr and "minor page faults a second" in done.stderr
    (record,) = (directory / "records").glob("*.hrc")
    check_faults(report_of(record), touched(done.stdout))
