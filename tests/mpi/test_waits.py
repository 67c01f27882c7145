"""How long ranks of a node wait for each other is what the program itself took down."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hosts import Host
from measuring import measuring
from running import Result, compile_program, launch, work_directory
from test_languages import FORTRAN, fortran_program
from test_recorder import report_of

RANKS = (2, 3, 4, 8)
# Between the program's own clock and the layer's lies what each call takes besides, with more ranks
# than cores also other ranks' work.
SHARE, SECONDS = 0.05, 0.012


def run_recorded(
    host: Host, source: str, ranks: int, label: str, *words: str, **settings: str
) -> tuple[dict, Result]:
    """The report of a run of the program with these words, and the run."""
    name = f"{Path(source).stem}-{host.name}"
    program = compile_program(host.compilers["c"], [source], name)
    directory = work_directory(f"{name}-{label}-{ranks}")
    given = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(directory), **settings}
    result = launch(host, ranks, [program, *words], True, given)
    assert result.code == 0, result.explain()
    (record,) = directory.glob("*.hrc")
    return report_of(record), result


def run_waited(
    host: Host, ranks: int, label: str, *words: str, **settings: str
) -> tuple[dict, Result]:
    return run_recorded(host, "waited.c", ranks, label, *words, **settings)


def truth(result: Result) -> tuple[dict[str, tuple[float, float]], dict[int, float]]:
    waits = re.findall(r"^wait (\S+) (\d+) (\S+) (\S+)$", result.out, re.MULTILINE)
    awaited = re.findall(r"^awaited (\d+) (\S+)$", result.out, re.MULTILINE)
    return (
        {name: (float(least), float(most)) for name, _, least, most in waits},
        {int(rank): float(seconds) for rank, seconds in awaited},
    )


def is_near(found: float, true: float) -> bool:
    return abs(found - true) <= SHARE * true + SECONDS


def differences(found: dict, true: dict) -> dict:
    """What is not near the truth, and the truth."""
    return {
        name: (found.get(name, 0), seconds)
        for name, seconds in true.items()
        if not is_near(found.get(name, 0), seconds)
    }


@pytest.mark.parametrize("ranks", RANKS)
def test_waits_are_those_of_the_program(host: Host, ranks: int, library: Path) -> None:
    report, result = run_waited(host, ranks, "all")
    waits, awaited = truth(result)
    assert len(waits) == 14
    found, true = {}, {}
    for one in report["mpi"]["procedures"]:
        if one["name"] in waits:
            found |= {(one["name"], end): one["wait_seconds"][end] for end in ("least", "most")}
    for name, (least, most) in waits.items():
        true |= {(name, "least"): least, (name, "most"): most}
    assert {one["late_to"] for one in report["mpi"]["awaited"]} == {"collective call"}
    found |= {one["rank"]: one["seconds"] for one in report["mpi"]["awaited"]}
    with measuring():
        assert report["mpi"]["wait_known_share"] == 1  # unless a rank had no core for long
        assert not differences(found, true | awaited)


def test_all_ranks_waits_are_known_to_the_nanosecond_or_not_at_all(
    host: Host, library: Path
) -> None:
    """In calls of which all ranks need all, there is no interval."""
    report, _ = run_waited(host, 2, "exact")
    procedures = {one["name"]: one for one in report["mpi"]["procedures"]}
    for name in ("MPI_Barrier", "MPI_Allreduce", "MPI_Alltoall"):
        assert procedures[name]["wait_seconds"]["least"] == procedures[name]["wait_seconds"]["most"]


def check_intervals(report: dict, result: Result) -> None:
    """The truth lies between both ends."""
    waits, _ = truth(result)
    ends = {one["name"]: one["wait_seconds"] for one in report["mpi"]["procedures"]}
    for name, (needed, _) in waits.items():
        assert ends[name]["most"] >= needed - SECONDS, name
    with measuring():  # a rank that has no core for long is not waiting for another one
        for name, (needed, _) in waits.items():
            assert ends[name]["least"] <= needed + SECONDS, name


@pytest.mark.parametrize("late", ["in turn", "first"])
def test_an_interval_holds_the_truth(host: Host, late: str, library: Path) -> None:
    words = [late] if late == "first" else []
    report, result = run_waited(host, 2, "off", *words, HEADRACE_RECORD_WAITS="0")
    assert report["mpi"]["wait_known_share"] == 0 and report["mpi"]["awaited"] == []
    check_intervals(report, result)


def test_barriers_before_calls_have_the_waiting(host: Host, library: Path) -> None:
    report, result = run_waited(host, 4, "sync", HEADRACE_COLL_SYNC="bcast,allreduce")
    waits, _ = truth(result)
    found = {one["name"]: one["wait_seconds"] for one in report["mpi"]["procedures"]}
    names = ("MPI_Bcast", "MPI_Allreduce")
    in_syncs = {name: found[f"{name}(sync)"]["least"] for name in names}
    with measuring():
        assert not differences(in_syncs, {name: waits[name][1] for name in names})
        # Who came late has not waited for it; ranks leave the barrier nearly at once.
        assert all(found[name]["most"] <= in_syncs[name] / 2 for name in names)


@pytest.mark.parametrize(("name", "binding"), [(host.name, b) for host, b in FORTRAN])
def test_fortran(name: str, binding: str, library: Path) -> None:
    host, program = fortran_program(name, binding, "waited.F90")
    directory = work_directory(f"waits-{name}-{binding}")
    settings = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(directory)}
    result = launch(host, 2, [program], True, settings)
    assert result.code == 0, result.explain()
    in_calls = float(re.search(r"in calls +(\S+)", result.out).group(1))
    (record,) = directory.glob("*.hrc")
    mpi = report_of(record)["mpi"]
    (procedure,) = (one for one in mpi["procedures"] if one["name"] == "MPI_Allreduce")
    # Rank 0 comes 20 ms late ten times, unless rank 1 is held up itself.
    with measuring():
        assert mpi["wait_known_share"] == 1
        assert 0.15 < procedure["wait_seconds"]["least"] <= in_calls
        assert mpi["awaited"][0]["rank"] == 0
