"""How long ranks of a node wait for each other is what the program itself took down."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hosts import Host
from running import Result, compile_program, launch, work_directory
from test_languages import FORTRAN, fortran_program
from test_recorder import report_of

RANKS = (2, 3, 4, 8)
ROUNDS = 3
# Between the program's own clock and the layer's lies what each call takes besides, with more ranks
# than cores also other ranks' work.
SHARE, SECONDS = 0.05, 0.012


def run_waited(host: Host, ranks: int, label: str, **settings: str) -> tuple[dict, Result]:
    program = compile_program(host.compilers["c"], ["waited.c"], f"waited-{host.name}")
    directory = work_directory(f"waits-{label}-{host.name}-{ranks}")
    given = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(directory), **settings}
    result = launch(host, ranks, [program], True, given)
    assert result.code == 0, result.explain()
    (record,) = directory.glob("*.hrc")
    return report_of(record), result


def truth(result: Result) -> tuple[dict[str, tuple[float, float]], dict[int, float]]:
    waits = re.findall(r"^wait (\S+) (\d+) (\S+) (\S+)$", result.out, re.MULTILINE)
    awaited = re.findall(r"^awaited (\d+) (\S+)$", result.out, re.MULTILINE)
    return (
        {name: (float(least), float(most)) for name, _, least, most in waits},
        {int(rank): float(seconds) for rank, seconds in awaited},
    )


def is_near(found: float, true: float) -> bool:
    return abs(found - true) <= SHARE * true + SECONDS


@pytest.mark.parametrize("ranks", RANKS)
def test_waits_are_those_of_the_program(host: Host, ranks: int, library: Path) -> None:
    report, result = run_waited(host, ranks, "all")
    waits, awaited = truth(result)
    procedures = {one["name"]: one for one in report["mpi"]["procedures"]}
    assert len(waits) == 14
    for name, (least, most) in waits.items():
        found = procedures[name]["wait_seconds"]
        assert is_near(found["least"], least) and is_near(found["most"], most), (name, least, most)
    assert report["mpi"]["wait_known_share"] == 1
    found_awaited = {one["rank"]: one["seconds"] for one in report["mpi"]["awaited"]}
    assert set(found_awaited) <= set(range(ranks))
    for rank, seconds in awaited.items():
        assert is_near(found_awaited.get(rank, 0), seconds), (rank, seconds)


def test_all_ranks_waits_are_known_to_the_nanosecond_or_not_at_all(
    host: Host, library: Path
) -> None:
    """In calls of which all ranks need all, there is no interval."""
    report, _ = run_waited(host, 2, "exact")
    procedures = {one["name"]: one for one in report["mpi"]["procedures"]}
    for name in ("MPI_Barrier", "MPI_Allreduce", "MPI_Alltoall"):
        assert procedures[name]["wait_seconds"]["least"] == procedures[name]["wait_seconds"]["most"]
    report, result = run_waited(host, 2, "off", HEADRACE_RECORD_WAITS="0")
    waits, _ = truth(result)
    assert report["mpi"]["wait_known_share"] == 0 and report["mpi"]["awaited"] == []
    for one in report["mpi"]["procedures"]:
        if one["name"] in waits:
            wait = one["wait_seconds"]
            assert wait["least"] <= waits[one["name"]][0] + SECONDS
            assert wait["most"] >= waits[one["name"]][0] - SECONDS


def test_barriers_before_calls_have_the_waiting(host: Host, library: Path) -> None:
    report, result = run_waited(host, 4, "sync", HEADRACE_COLL_SYNC="bcast,allreduce")
    waits, _ = truth(result)
    procedures = {one["name"]: one for one in report["mpi"]["procedures"]}
    for name in ("MPI_Bcast", "MPI_Allreduce"):
        barrier = procedures[f"{name}(sync)"]["wait_seconds"]
        assert is_near(barrier["least"], waits[name][1]), (name, waits[name], barrier)
        assert procedures[name]["wait_seconds"]["most"] < barrier["least"] / 2


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
    assert mpi["wait_known_share"] == 1
    # Rank 0 comes 20 ms late ten times, unless rank 1 is held up itself.
    assert 0.15 < procedure["wait_seconds"]["least"] <= in_calls
    assert mpi["awaited"][0]["rank"] == 0
