"""What the recorder keeps of handles never shows: programs see their MPI, and counts are theirs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hosts import Host
from running import Result, compile_program, launch, work_directory
from test_recorder import report_of


def build(host: Host) -> Path:
    name = f"recorded-h-{host.name}"
    return compile_program(host.compilers["c"], ["recorded_handles.c"], name)


def record(
    host: Host,
    way: str,
    ranks: int,
    objects: list[Path] | None = None,
    options: list[str] | None = None,
) -> tuple[Result, dict]:
    directory = work_directory(f"recorded-handles-{host.name}-{way}-{bool(objects)}")
    settings = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(directory)}
    files = directory / "files"
    files.mkdir()
    command = [build(host), way, files, *(options or [])]
    result = launch(host, ranks, command, True, settings, objects=objects)
    assert result.code == 0, result.explain()
    (path,) = directory.glob("*.hrc")
    return result, report_of(path)


def calls_of(report: dict) -> dict[str, int]:
    return {own["name"]: own["calls"] for own in report["mpi"]["procedures"]}


def bytes_of(report: dict) -> dict[str, int]:
    return {own["name"]: own["bytes"] for own in report["mpi"]["procedures"]}


@pytest.mark.parametrize("freed_by", ["program", "tool"])
def test_a_handle_is_used_again(host: Host, library: Path, freed_by: str) -> None:
    """Counts lie at the end of a page: who reads more than there are ends the program."""
    objects = None
    if freed_by == "tool":
        flags = ["-shared", "-fPIC", "-O1", "-Wall"]
        name = f"freeing_tool-{host.name}"
        tool = compile_program(host.compilers["c"], ["freeing_tool.c"], name, flags)
        objects = [tool, library]
    _, report = record(host, "reused", 2, objects)
    assert bytes_of(report)["MPI_Reduce_scatter"] == 2 * 20 * 4
    assert calls_of(report)["MPI_Reduce_scatter"] == 2 * 20
    matrix = {(own["from"], own["to"]): own["messages"] for own in report["mpi"]["matrix"]}
    assert matrix == {(0, 0): 20, (1, 1): 20}


def test_the_last_calls_come_late(host: Host, library: Path) -> None:
    """From exit handlers and destructors of threads, when a thread's variables have gone."""
    _, report = record(host, "late", 1)
    found = calls_of(report)
    assert found["MPI_Comm_rank"] == 1 + 100 * 12 + 240
    assert found["MPI_Comm_size"] == 100 * 12 + 240
    assert report["run"]["lacks"] == []


@pytest.mark.parametrize("way", ["null", "errors", "old-errors", "handler"])
def test_a_program_sees_the_same_errors(host: Host, library: Path, way: str) -> None:
    # MPI_Waitall of Open MPI 4.1 waits for ever where a request had failed before.
    options = ["without-waitall"] if host.name == "debian-openmpi" else []
    plain = launch(host, 2, [build(host), way, "-", *options], False)
    assert plain.code == 0, plain.explain()
    recorded, report = record(host, way, 2, options=options)
    assert sorted(recorded.out.splitlines()) == sorted(plain.out.splitlines())
    if way.endswith("errors"):
        assert bytes_of(report)["MPI_Isend"] == 2 * 10 * 30
        # What came after an error in the same call is not known.
        assert bytes_of(report)["MPI_Irecv"] >= 2 * 10 * 50


def test_what_was_removed_is_counted(host: Host, library: Path) -> None:
    """In MPI-3; libraries go on having it."""
    sources = ["recorded_removed.c"]
    program = compile_program(host.compilers["c"], sources, f"recorded-removed-{host.name}")
    plain = launch(host, 1, [program], False)
    assert plain.code == 0, plain.explain()
    if not plain.out:
        pytest.skip(f"{host.name} has none of it")
    directory = work_directory(f"recorded-removed-{host.name}")
    settings = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(directory)}
    recorded = launch(host, 1, [program], True, settings)
    assert recorded.code == 0, recorded.explain()
    assert recorded.out == plain.out
    (path,) = directory.glob("*.hrc")
    names = ["MPI_Address", *(f"MPI_Errhandler_{what}" for what in ("create", "get", "set"))]
    kinds = ("extent", "hindexed", "hvector", "lb", "struct", "ub")
    names += [f"MPI_Type_{what}" for what in kinds]
    assert calls_of(report_of(path)) == dict.fromkeys([*names, "MPI_Finalize"], 1)


def test_an_error_ends_a_wait_for_others(host: Host, library: Path) -> None:
    if not host.name.endswith("openmpi"):
        pytest.skip(f"{host.name} itself waits for the others")
    plain = launch(host, 2, [build(host), "pending"], False)
    assert plain.code == 0, plain.explain()
    recorded, report = record(host, "pending", 2)
    assert recorded.out == plain.out
    assert report["quality"]["unsized_receives"] >= 1


def test_requests_that_need_the_library_s_wait(host: Host, library: Path) -> None:
    recorded, report = record(host, "own-wait", 2)
    if host.name == "mpich":
        assert recorded.out == "code 0, value 9\n"
    if recorded.out:
        assert report["quality"]["unsized_receives"] == 1


def test_a_handler_that_is_taken_back(host: Host, library: Path) -> None:
    """Only what it could have been told of has no bytes: 10 receives under MPICH, none elsewhere.
    Open MPI 4.1 has no MPI_ERRORS_ABORT."""
    _, report = record(host, "taken-back", 1)
    unsized = report["quality"]["unsized_receives"]
    assert unsized == (0 if host.name.endswith("openmpi") else 10)
    assert bytes_of(report)["MPI_Irecv"] == (30 - unsized) * 1000


def test_bytes_of_threads_that_receive_at_once(host: Host, library: Path) -> None:
    result, report = record(host, "threads", 1)
    (expected,) = (int(line.split()[1]) for line in result.out.splitlines())
    paths = {own["name"]: own for own in report["mpi"]["procedures"]}
    assert paths["MPI_Irecv"]["bytes"] == expected
    assert paths["MPI_Isend"]["bytes"] == expected
    sites = [own for own in report["mpi"]["paths"] if own["procedure"] == "MPI_Irecv"]
    assert sum(own["bytes"] for own in sites if own["frames"]) == expected


def test_bytes_that_another_thread_completes(host: Host, library: Path) -> None:
    """They have no call path: only that thread knows of them."""
    result, report = record(host, "handed", 1)
    (expected,) = (int(line.split()[1]) for line in result.out.splitlines())
    assert bytes_of(report)["MPI_Irecv"] == expected
    assert calls_of(report)["MPI_Irecv"] == 50


def test_names_leave_room_for_calls(host: Host, library: Path) -> None:
    """Of more files than are kept apart nothing is lost, and call paths are still told apart."""
    result, report = record(host, "files", 1)
    (calls,) = (int(line.split()[1]) for line in result.out.splitlines())
    files = {own["name"]: own["opens"] for own in report["io"]["files"] if own["mpi"]}
    assert sum(files.values()) == 1500
    assert files["(other files)"] == 1500 - (len(files) - 1)
    assert len(files) > 1000
    found = calls_of(report)
    assert found["MPI_Comm_rank"] == 1 + calls
    assert report["quality"]["folded_calls"] == report["quality"]["lost_calls"] == 0
    assert found["MPI_File_open"] == found["MPI_File_close"] == 1500
