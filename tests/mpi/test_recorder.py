"""The record of a program is what the program itself tallied."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path

import pytest
from hanging import PATIENCE
from hosts import REPOSITORY, Host, host_named
from running import compile_program, launch, shared_object, work_directory
from test_languages import FORTRAN, fortran_program

from headrace.launch.gather import find_job
from headrace.settings.resolver import resolve_run

RANKS = (1, 2, 3, 4, 8)


def report_of(*records: Path, command: str = "report") -> dict:
    command = [sys.executable, "-m", "headrace", command, *map(str, records), "--json"]
    done = subprocess.run(
        command, cwd=REPOSITORY / "python", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def tallied(file: Path) -> tuple[dict[str, list[int]], dict[tuple[int, int], list[int]]]:
    """Calls, bytes and bins by procedure, and messages and bytes by sender and receiver."""
    calls: dict[str, list[int]] = defaultdict(lambda: [0] * 9)
    messages: dict[tuple[int, int], list[int]] = {}
    lines = [
        line
        for own in file.parent.glob(f"{file.name}.tally.*")
        for line in own.read_text().splitlines()
    ]
    for line in lines:
        kind, *words = line.split()
        if kind == "call":
            own = calls[words[1]]
            calls[words[1]] = [a + int(b) for a, b in zip(own, words[2:], strict=True)]
        elif kind == "message":
            numbers = [int(word) for word in words]
            messages[numbers[0], numbers[1]] = numbers[2:]
    return calls, messages


def check_tally(report: dict, file: Path) -> None:
    """Whether a report has what the program that wrote `file` tallied."""
    calls, messages = tallied(file)
    found = {
        own["name"]: [own["calls"], own["bytes"], *own["bins"]]
        for own in report["mpi"]["procedures"]
    }
    assert found == calls
    matrix = {
        (own["from"], own["to"]): [own["messages"], own["bytes"]] for own in report["mpi"]["matrix"]
    }
    assert matrix == messages


def check_exact(host: Host, directory: Path, ranks: int, objects: list[Path] | None = None) -> None:
    program = compile_program(
        host.compilers["c"], ["recorded.c", "recorded_tally.c"], f"recorded-{host.name}"
    )
    settings = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(directory)}
    result = launch(host, ranks, [program, directory / "file"], True, settings, objects=objects)
    assert result.code == 0, result.explain()
    (record,) = directory.glob("*.hrc")
    report = report_of(record)
    check_tally(report, directory / "file")
    assert report["run"]["ranks"] == ranks and report["run"]["complete"]


@pytest.mark.parametrize("ranks", RANKS)
def test_counts_are_exact(host: Host, library: Path, ranks: int) -> None:
    check_exact(host, work_directory(f"recorder-{host.name}-{ranks}"), ranks)


@pytest.mark.parametrize("first", ["tool", "layer"])
def test_a_tool_s_own_calls_are_not_counted(host: Host, library: Path, first: str) -> None:
    flags = ["-shared", "-fPIC", "-O1", "-Wall"]
    name = f"calling_tool-{host.name}"
    tool = compile_program(host.compilers["c"], ["calling_tool.c"], name, flags)
    objects = [tool, library] if first == "tool" else [library, tool]
    check_exact(host, work_directory(f"recorder-{name}-{first}"), 2, objects)


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
@pytest.mark.parametrize(("name", "binding"), [(host.name, b) for host, b in FORTRAN])
def test_fortran(name: str, binding: str, ranks: int, library: Path) -> None:
    """Whatever the MPI library's Fortran layer calls in C for itself is not counted."""
    flags = ["-fallow-argument-mismatch"]  # MPI_IN_PLACE in the place of an array
    tally = [Path("recorded_tally.c")]
    host, program = fortran_program(name, binding, "recorded.F90", tally, flags)
    directory = work_directory(f"recorder-{name}-{binding}-{ranks}")
    settings = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(directory)}
    result = launch(host, ranks, [program, directory / "file"], True, settings)
    assert result.code == 0, result.explain()
    (record,) = directory.glob("*.hrc")
    report = report_of(record)
    check_tally(report, directory / "file")
    assert report["run"]["ranks"] == ranks and report["run"]["complete"]


@pytest.mark.parametrize("way", ["kill", "abort", "term", "exit"])
def test_a_job_that_ends_early_leaves_its_record(host: Host, way: str, library: Path) -> None:
    """What was counted before is there, and the record says that it is not complete."""
    sources = ["recorded_end.c"]
    program = compile_program(host.compilers["c"], sources, f"recorded-e-{host.name}")
    directory = work_directory(f"recorder-{way}-{host.name}")
    images = directory / "images"
    images.mkdir()
    settings = {
        "HEADRACE_RECORD": "1",
        "HEADRACE_LOGPATH": str(directory),
        "HEADRACE_RECORD_DIRECTORY": str(images),
    }
    result = launch(host, 2, [program, way], True, settings)
    assert way == "exit" or result.code != 0, result.explain()
    (job,) = (images / f"headrace-record-{os.geteuid()}").iterdir()
    report = report_of(job)
    assert not report["run"]["complete"]
    calls = {own["name"]: own["calls"] for own in report["mpi"]["procedures"]}
    assert calls["MPI_Sendrecv"] == 2 * 1000
    assert calls["MPI_Comm_rank"] == 2
    lacks = " ".join(report["run"]["lacks"])
    assert ("called MPI_Abort" if way == "abort" else "ended without MPI_Finalize") in lacks


def test_exit_codes_do_not_cost_the_record(host: Host, library: Path) -> None:
    """Launchers kill the other ranks once one has ended with a code, and rank 0 may still write."""
    sources = ["recorded_end.c"]
    program = compile_program(host.compilers["c"], sources, f"recorded-e-{host.name}")
    directory = work_directory(f"recorder-code-{host.name}")
    settings = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(directory), "HEADRACE_QUIET": "0"}
    objects = [shared_object("slow_link.c"), library]
    result = launch(host, 2, [program, "code"], True, settings, objects=objects)
    assert result.code == 3, result.explain()
    (record,) = directory.glob("*.hrc")
    assert report_of(record)["run"]["complete"]
    assert str(record) in result.err


def test_a_record_that_has_no_place_goes_to_the_nodes_own(library: Path) -> None:
    host = host_named("mpich")
    program = compile_program(host.compilers["c"], ["recorded_end.c"], f"recorded-e-{host.name}")
    directory = work_directory("recorder-no-place")
    own = directory / "own"
    own.mkdir()
    (directory / "file").touch()
    settings = {
        "HEADRACE_RECORD": "1",
        "HEADRACE_QUIET": "0",
        "HEADRACE_LOGPATH": str(directory / "file" / "records"),
        "TMPDIR": str(own),
    }
    result = launch(host, 2, [program, "finalize"], True, settings)
    assert result.code == 0, result.explain()
    (record,) = (own / f"headrace-records-{os.geteuid()}").iterdir()
    (line,) = [one for one in result.err.splitlines() if " the record is " in one]
    assert line.startswith(f"headrace: the record is {record} (cannot make the directory")
    assert report_of(record)["run"]["complete"]


def test_a_running_job_is_shown(host: Host, library: Path) -> None:
    """And goes on undisturbed: its record is complete, and nothing is left."""
    sources = ["recorded_end.c"]
    program = compile_program(host.compilers["c"], sources, f"recorded-e-{host.name}")
    directory = work_directory(f"recorder-peek-{host.name}")
    images, go = directory / "images", directory / "go"
    images.mkdir()
    settings = {
        "HEADRACE_RECORD": "1",
        "HEADRACE_LOGPATH": str(directory),
        "HEADRACE_RECORD_DIRECTORY": str(images),
    }
    seen, found, number = [], [], "471123"
    own = resolve_run({"HEADRACE_RECORD_DIRECTORY": str(images)})

    def look() -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and not seen:
            for job in images.glob("headrace-record-*/*"):
                if len(list(job.glob("rank-*"))) < 2:
                    continue
                report = report_of(job, command="peek")
                calls = {one["name"]: one["calls"] for one in report["mpi"]["procedures"]}
                if calls.get("MPI_Sendrecv") == 2 * 1000:
                    found.append(find_job(number, own, {}))
                    seen.append(report)
            time.sleep(0.05)
        go.touch()

    looking = threading.Thread(target=look)
    looking.start()
    # Launchers would believe that they are in a job of the batch system.
    line = ["env", f"PBS_JOBID={number}.server", program, "hold", go]
    result = launch(host, 2, line, True, settings)
    looking.join()
    assert result.code == 0, result.explain()
    (report,) = seen
    assert len(found) == 1, "it is found by the batch system's number"
    assert report["run"]["lacks"] == ["2 ranks were running when the record was made"]
    (record,) = directory.glob("*.hrc")
    assert report_of(record)["run"]["complete"]
    assert not list(images.iterdir())
