"""Phases that a program marks: what is recorded of each is what the program itself tallied."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from conftest import absent
from hosts import REPOSITORY, Host
from running import PROGRAMS, compile_program, launch, work_directory
from test_languages import FORTRAN, PYTHON, fortran_program
from test_recorder import report_of

INCLUDE = REPOSITORY / "python" / "headrace" / "include"
RANKS = (1, 2, 4)
Counts = Counter[tuple[str, str, str]]


def c_program(host: Host) -> Path:
    flags = ["-O1", "-g", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}"]
    compiler = [*host.compilers["c"], "-lpthread", "-ldl"]
    return compile_program(compiler, ["regions.c"], f"regions-{host.name}", flags)


def recorded(directory: Path) -> dict[str, str]:
    return {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(directory)}


def report_in(directory: Path) -> dict:
    (record,) = directory.glob("*.hrc")
    report = report_of(record)
    assert report["run"]["complete"]
    return report


def counted(report: dict) -> Counts:
    """Calls and bytes by region and procedure. The rest is outside all regions."""
    found: Counts = Counter()
    for own in report["mpi"]["procedures"]:
        found["-", own["name"], "calls"] += own["calls"]
        found["-", own["name"], "bytes"] += own["bytes"]
    for region in report["regions"]:
        for own in region["calls"]:
            for what in ("calls", "bytes"):
                found[region["label"], own["procedure"], what] += own[what]
                found["-", own["procedure"], what] -= own[what]
    return Counter({key: count for key, count in found.items() if count})


def tallied(file: Path) -> Counts:
    found: Counts = Counter()
    for own in file.parent.glob(f"{file.name}.*"):
        for line in own.read_text().splitlines():
            region, procedure, calls, size = line.split("|")
            found[region, procedure, "calls"] += int(calls)
            found[region, procedure, "bytes"] += int(size)
    return Counter({key: count for key, count in found.items() if count})


def by_label(report: dict) -> dict[str, dict]:
    return {one["label"]: one for one in report["regions"]}


@pytest.mark.parametrize("ranks", RANKS)
def test_calls_are_kept_by_region(host: Host, library: Path, ranks: int) -> None:
    directory = work_directory(f"regions-{host.name}-{ranks}")
    tally = directory / "tally"
    result = launch(host, ranks, [c_program(host), tally], True, recorded(directory))
    assert result.code == 0, result.explain()
    assert result.out.split() == ["noted", "1"]
    report = report_in(directory)
    assert counted(report) == tallied(tally)
    regions = by_label(report)
    assert {label: one["entries"] for label, one in regions.items()} == {
        "whole": ranks,
        "solve": 7 * ranks,
        "halo": 6 * ranks,
        "by CrayPat's names": ranks,
    }
    assert all(one["ranks"] == ranks for one in regions.values())
    assert report["quality"]["mismatched_regions"] == 2 * ranks
    assert report["quality"]["off_seconds"] >= 0.05


def test_a_region_s_time_has_that_of_the_regions_in_it(host: Host, library: Path) -> None:
    directory = work_directory(f"regions-time-{host.name}")
    command = [c_program(host), directory / "tally"]
    result = launch(host, 2, command, True, recorded(directory))
    assert result.code == 0, result.explain()
    report = report_in(directory)
    regions = by_label(report)
    slept = 2 * 5 * 0.002
    assert regions["halo"]["own"]["seconds"] >= slept
    assert regions["solve"]["seconds"] >= regions["halo"]["seconds"]
    assert regions["whole"]["seconds"] >= regions["solve"]["seconds"]
    for one in regions.values():
        assert one["seconds"] >= one["own"]["seconds"]
        assert one["seconds"] <= 2 * report["run"]["seconds"] * 1.001
        assert one["own"]["seconds"] * 1.001 >= one["in_mpi"]["seconds"]


def test_each_thread_is_in_regions_of_its_own(host: Host, library: Path) -> None:
    directory = work_directory(f"regions-threads-{host.name}")
    tally = directory / "tally"
    command = [c_program(host), tally, "threads"]
    result = launch(host, 2, command, True, recorded(directory))
    assert result.code == 0, result.explain()
    report = report_in(directory)
    assert counted(report) == tallied(tally)
    entries = {label: one["entries"] for label, one in by_label(report).items()}
    assert entries == {
        "whole": 2,
        "solve": 2,
        "threads": 2 * 2 * 4,
        **{f"thread {i}": 2 * 2 * 10 * (i + 1) for i in range(4)},
    }
    assert report["quality"]["mismatched_regions"] == 0


@pytest.mark.parametrize("way", ["plain", "disabled", "not recorded"])
def test_a_program_runs_without_being_recorded(host: Host, library: Path, way: str) -> None:
    directory = work_directory(f"regions-{way.replace(' ', '-')}-{host.name}")
    settings = {
        "plain": {},
        "disabled": recorded(directory) | {"HEADRACE_DISABLE": "1"},
        "not recorded": {"HEADRACE_RECORD": "0"},
    }[way]
    command = [c_program(host), directory / "tally"]
    result = launch(host, 2, command, way != "plain", settings)
    assert result.code == 0, result.explain()
    assert result.out.split() == ["noted", "0"]
    assert not list(directory.glob("*.hrc"))


def test_regions_can_be_switched_off_alone(host: Host, library: Path) -> None:
    directory = work_directory(f"regions-off-{host.name}")
    command = [c_program(host), directory / "tally"]
    settings = recorded(directory) | {"HEADRACE_REGIONS": "0"}
    result = launch(host, 2, command, True, settings)
    assert result.code == 0, result.explain()
    assert result.out.split() == ["noted", "0"]
    report = report_in(directory)
    assert not report["regions"]
    assert report["quality"]["off_seconds"] == report["quality"]["mismatched_regions"] == 0
    # What the program left out by switching recording off is there, too.
    calls = {own["name"]: own["calls"] for own in report["mpi"]["procedures"]}
    told = Counter(tallied(directory / "tally"))
    for procedure in calls:
        named = sum(n for (_, own, what), n in told.items() if (own, what) == (procedure, "calls"))
        assert calls[procedure] >= named


@pytest.mark.parametrize(("name", "binding"), [(host.name, b) for host, b in FORTRAN])
def test_fortran(name: str, binding: str, library: Path) -> None:
    host, program = fortran_program(name, binding, "regions.F90", [INCLUDE / "headrace.f90"])
    directory = work_directory(f"regions-{name}-{binding}")
    plain = launch(host, 2, [program], False)
    assert (plain.code, plain.out.split()) == (0, ["noted", "0"]), plain.explain()
    result = launch(host, 2, [program], True, recorded(directory))
    assert (result.code, result.out.split()) == (0, ["noted", "1"]), result.explain()
    assert counted(report_in(directory)) == {
        ("whole", "MPI_Comm_rank", "calls"): 2,
        ("solve", "MPI_Allreduce", "calls"): 10,
        ("solve", "MPI_Allreduce", "bytes"): 400,
        ("whole", "MPI_Pcontrol", "calls"): 2,
        ("whole", "MPI_Barrier", "calls"): 2,
        ("-", "MPI_Barrier", "calls"): 2,
        ("-", "MPI_Finalize", "calls"): 2,
    }


@pytest.mark.parametrize("host", PYTHON, ids=[host.name for host in PYTHON])
def test_python(host: Host, library: Path) -> None:
    if host.missing:
        absent(host.missing)
    directory = work_directory(f"regions-python-{host.name}")
    command = [host.python, "-u", "-m", "mpi4py", PROGRAMS / "regions_program.py"]
    settings = {"PYTHONPATH": str(REPOSITORY / "python")}
    plain = launch(host, 2, command, False, settings)
    assert (plain.code, plain.out.split()) == (0, ["noted", "0"]), plain.explain()
    result = launch(host, 2, command, True, settings | recorded(directory))
    assert (result.code, result.out.split()) == (0, ["noted", "1"]), result.explain()
    report = report_in(directory)
    (record,) = directory.glob("*.hrc")
    assert record.name.startswith("regions_program."), "the script's name, not the interpreter's"
    found = {
        (region, procedure): count
        for (region, procedure, what), count in counted(report).items()
        if what == "calls" and procedure in ("MPI_Allreduce", "MPI_Barrier")
    }
    assert found == {
        ("solve", "MPI_Allreduce"): 10,
        ("halo", "MPI_Barrier"): 6,
        ("failing", "MPI_Barrier"): 2,
        ("-", "MPI_Barrier"): 2,
    }
    assert by_label(report)["halo"]["id"] == 7


def test_more_regions_than_there_is_room_for_are_counted_together(
    library: Path, host: Host
) -> None:
    source = "many_regions.c"
    flags = ["-O1", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}"]
    compiler = [*host.compilers["c"], "-ldl"]
    program = compile_program(compiler, [source], f"many_regions-{host.name}", flags)
    directory = work_directory(f"regions-many-{host.name}")
    result = launch(host, 2, [program], True, recorded(directory))
    assert result.code == 0, result.explain()
    regions = report_in(directory)["regions"]
    (other,) = [one for one in regions if one["id"] is None]
    assert (len(regions), other["label"], other["entries"]) == (1001, "(other regions)", 2 * 500)
    assert sum(one["calls"] for own in regions for one in own["calls"]) == 2 * 1500
    assert sum(one["calls"] for one in other["calls"]) == 2 * 500
