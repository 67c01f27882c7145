"""The profile of programs whose costs are known: what they measured of themselves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from hosts import AS_ROOT, REPOSITORY, Host
from measuring import measuring
from running import compile_program, launch, work_directory
from test_languages import FORTRAN, fortran_program
from test_recorder import report_of

INCLUDE = REPOSITORY / "python" / "headrace" / "include"
RANKS = 2
SECONDS = "2"
# Shares of at least 1,000 samples: four standard deviations, and the ticks of the kernel.
NEAR = 0.06
SOURCES = {"perf": "perf_event", "timer": "CPU timer"}


def program(host: Host) -> Path:
    flags = ["-O2", "-g", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}"]
    compiler = [*host.compilers["c"], "-lm", "-lpthread", "-ldl"]
    return compile_program(compiler, ["profile.c"], f"profile-{host.name}", flags)


def sampled(directory: Path, source: str = "best") -> dict[str, str]:
    return {
        "HEADRACE_RECORD": "1",
        "HEADRACE_LOGPATH": str(directory),
        "HEADRACE_SAMPLING": "1",
        "HEADRACE_SAMPLING_RATE": "1000",
        "HEADRACE_SAMPLING_SOURCE": source,
    }


def measured(output: str) -> dict[str, float]:
    """What the ranks printed of their functions, added up."""
    found: dict[str, float] = defaultdict(float)
    for line in output.splitlines():
        words = line.split()
        # Launchers write of ranks that end early.
        if len(words) == 3 and words[0].isdigit():
            found[words[1]] += float(words[2])
    return found


def run_sampled(
    host: Host, way: str = "", source: str = "best", ranks: int = RANKS
) -> tuple[dict, dict[str, float]]:
    """The report, and what the ranks measured themselves."""
    directory = work_directory(f"profile-{host.name}-{way or 'plain'}-{source}")
    arguments = [program(host), SECONDS, *([way] if way else [])]
    result = launch(host, ranks, arguments, True, sampled(directory, source))
    assert result.code == 0, result.explain()
    (record,) = directory.glob("*.hrc")
    return report_of(record), measured(result.out)


def function(report: dict, name: str) -> dict:
    return next(one for one in report["profile"]["functions"] if one["name"] == name)


def own_seconds(report: dict, name: str) -> float:
    return sum(one["seconds"] for one in report["profile"]["functions"] if one["name"] == name)


def share(report: dict, name: str) -> float:
    return sum(one["share"] for one in report["profile"]["functions"] if one["name"] == name)


def branches(report: dict) -> list[tuple[tuple[str, ...], float]]:
    """All of the tree, from the outside in, with their seconds."""
    return [(tuple(one["path"]), one["seconds"]) for one in report["profile"]["tree"]]


def callers_of(report: dict, name: str) -> tuple[str, ...]:
    """The functions that lead to this one, of the branch with most time."""
    leading = [(seconds, path) for path, seconds in branches(report) if path[-1] == name]
    return max(leading)[1][:-1]


@pytest.mark.parametrize("source", SOURCES)
def test_shares_and_callers(host: Host, library: Path, source: str) -> None:
    report, spent = run_sampled(host, "", source)
    profile = report["profile"]
    sources = {one["source"] for one in profile["threads"]}
    assert sources <= set(SOURCES.values())
    assert profile["samples"] > 500
    whole = sum(spent.values())
    seconds = dict(branches(report))
    # Without what ranks spend waiting for each other in MPI.
    own = seconds["main", "work"] + seconds["main", "heavy"]
    with measuring():
        for name in ("heavy", "light", "last_call"):
            assert own_seconds(report, name) / own == pytest.approx(spent[name] / whole, abs=NEAR)
        assert seconds["main", "work", "step", "library_caller"] / own == pytest.approx(
            spent["library_caller"] / whole, abs=NEAR
        )
    assert callers_of(report, "heavy")[0] == "main"
    assert callers_of(report, "light") == ("main", "work", "step", "array_caller")
    assert callers_of(report, "last_call") == ("main", "work", "step")
    inside = ("main", "work", "step", "library_caller")
    assert any(path[:4] == inside and len(path) > 4 for path, _ in branches(report))
    heavy = function(report, "heavy")
    assert heavy["greatest_seconds"] == max(heavy["rank_seconds"]) == heavy["rank_seconds"][-1]
    assert heavy["imbalance_percent"] > 10
    (hottest, *_) = profile["lines"]
    assert hottest["file"].endswith("profile.c") and hottest["function"] == "heavy"
    assert hottest["inlined"] == "spin"


def test_threads_that_never_call_mpi(host: Host, library: Path) -> None:
    report, spent = run_sampled(host, "threads")
    profile = report["profile"]
    with measuring():
        assert own_seconds(report, "in_thread") == pytest.approx(spent["in_thread"], rel=0.1)
    assert callers_of(report, "in_thread")[-1] == "run_thread"
    busy = [one for one in profile["threads"] if one["caller"] is None and one["samples"] > 100]
    assert len(busy) >= RANKS


@pytest.mark.parametrize("source", SOURCES)
def test_regions_and_a_record_that_is_off(host: Host, library: Path, source: str) -> None:
    report, _ = run_sampled(host, "regions", source)
    regions = {one["label"]: one["share"] for one in report["profile"]["regions"]}
    with measuring():
        # Both take half of SECONDS on each rank; what lies outside is waiting.
        assert regions["first"] == pytest.approx(share(report, "heavy"), abs=NEAR)
        assert regions["third"] == pytest.approx(share(report, "last_call"), abs=NEAR)
        assert min(regions["first"], regions["third"]) > 0.2
        assert regions.get("second", 0) < NEAR and share(report, "light") < NEAR


@pytest.mark.parametrize("way", ["profiler", "blocked", "taken", "forks", "jumps"])
@pytest.mark.parametrize("source", SOURCES)
def test_programs_that_use_signals(host: Host, library: Path, way: str, source: str) -> None:
    report, spent = run_sampled(host, way, source, ranks=1)
    assert report["run"]["complete"]
    if way == "profiler":
        assert spent["signals"] > 50
    if way in ("profiler", "forks", "jumps"):
        with measuring():
            assert share(report, "heavy") > 0.15
    if way == "jumps":
        assert callers_of(report, "in_handler")[:1] == ("main",)


@pytest.mark.parametrize("way", ["abort", "kill"])
def test_what_was_sampled_outlives_the_program(host: Host, library: Path, way: str) -> None:
    directory = work_directory(f"profile-{host.name}-{way}")
    memory = directory / "memory"
    memory.mkdir()
    environment = sampled(directory) | {"HEADRACE_RECORD_DIRECTORY": str(memory)}
    result = launch(host, 1, [program(host), SECONDS, way], True, environment)
    assert result.code != 0
    (images,) = memory.glob("headrace-record-*/*")
    report = report_of(images)
    assert not report["run"]["complete"]
    whole = sum(measured(result.out).values())
    with measuring():
        assert report["profile"]["seconds"] > 0.7 * whole
        assert share(report, "heavy") > 0.2


@pytest.mark.parametrize(
    ("name", "binding"),
    [(host.name, binding) for host, binding in FORTRAN],
    ids=[f"{host.name}-{binding}" for host, binding in FORTRAN],
)
def test_fortran_on_threads(name: str, binding: str, library: Path) -> None:
    host, _ = fortran_program(name, binding, "profile.F90")
    macro = {"mpif.h": "MPIF_H", "mpi": "MPI", "mpi_f08": "MPI_F08"}[binding]
    flags = ["-cpp", f"-DBINDING_{macro}", "-O2", "-g", "-fopenmp", "-fno-inline"]
    target = f"profile-threads-{binding}-{name}"
    own = compile_program(host.compilers[binding], ["profile.F90"], target, flags)
    directory = work_directory(target)
    result = launch(host, 1, [own], True, sampled(directory))
    assert result.code == 0, result.explain()
    (record,) = directory.glob("*.hrc")
    report = report_of(record)
    kernels = [one for one in report["profile"]["functions"] if one["name"].endswith("kernel")]
    with measuring():
        # The rest is OpenMP's waiting, where cores are short.
        assert sum(one["share"] for one in kernels) > 0.4
    callers = callers_of(report, kernels[0]["name"])
    assert "outer" in callers[-1] and any("_omp_fn" in one for one in callers)
    busy = [one for one in report["profile"]["threads"] if one["samples"] > 100]
    assert len(busy) == 2


def test_the_command(host: Host, library: Path) -> None:
    directory = work_directory(f"profile-{host.name}-command")
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
    line = [sys.executable, "-m", "headrace", "profile", *host.launch_line(RANKS)]
    done = subprocess.run(
        [*line, program(host), "1"],
        cwd=directory, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Profile by function" in done.stderr and "heavy" in done.stderr
    (record,) = (directory / "records").glob("*.hrc")
    output = directory / "out.json"
    export = [sys.executable, "-m", "headrace", "record", "export", record, "--speedscope", output]
    subprocess.run(export, env=environment, check=True)
    exported = json.loads(output.read_text())
    assert {"heavy", "spin"} <= {one["name"] for one in exported["shared"]["frames"]}
    assert len(exported["profiles"]) >= RANKS
