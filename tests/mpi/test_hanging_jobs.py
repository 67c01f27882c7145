"""Jobs that hang: `headrace peek` names the call and its line, and so does what a kill leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hanging import PATIENCE
from hosts import REPOSITORY, Host
from running import PROGRAMS, Result, compile_program, launch, work_directory
from test_languages import FORTRAN, fortran_program
from test_recorder import report_of

HANGS = 1.0  # seconds for which the job is left in it


def line_with(source: str, mark: str) -> int:
    lines = (PROGRAMS / source).read_text().splitlines()
    (number,) = (number for number, line in enumerate(lines, start=1) if mark in line)
    return number


class HangingJob:
    """A job that hangs, until it is killed."""

    def __init__(self, host: Host, ranks: int, program: Path, name: str) -> None:
        self.ranks = ranks
        self.images = work_directory(name) / "images"
        self.images.mkdir()
        settings = {"HEADRACE_RECORD": "1", "HEADRACE_RECORD_DIRECTORY": str(self.images)}
        self.results: list[Result] = []

        def start() -> None:
            self.results.append(launch(host, ranks, [program], True, settings))

        self._thread = threading.Thread(target=start)
        self._thread.start()

    def __enter__(self) -> Path:
        """Its directory, once it hangs."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for job in self.images.glob("headrace-record-*/*"):
                if len(list(job.glob("rank-*"))) == self.ranks and self._hangs(job):
                    time.sleep(HANGS)
                    return job
            time.sleep(0.1)
        self.kill()
        raise AssertionError(self.results[0].explain())

    def _hangs(self, job: Path) -> bool:
        open_calls = [one for one in report_of(job)["last_calls"] if not one["ended"]]
        return sum(len(one["threads"]) for one in open_calls) == self.ranks and all(
            one["procedure"] in ("MPI_Recv", "MPI_Finalize") for one in open_calls
        )

    def __exit__(self, *problem: object) -> None:
        self.kill()

    def kill(self) -> None:
        for image in self.images.glob("headrace-record-*/*/rank-*"):
            with suppress(ProcessLookupError):
                os.kill(int.from_bytes(image.read_bytes()[24:28], "little"), signal.SIGKILL)
        self._thread.join()


def open_calls(report: dict) -> dict[str, dict]:
    return {one["procedure"]: one for one in report["last_calls"] if not one["ended"]}


def check_call(call: dict, ranks: set[int], source: str, mark: str) -> None:
    assert {one["rank"] for one in call["threads"]} == ranks
    frame = call["frames"][0]
    assert (Path(frame["file"]).name, frame["line"]) == (source, line_with(source, mark)), frame


@pytest.mark.parametrize("ranks", [2, 3])
def test_a_deadlock_is_shown_with_its_line(host: Host, ranks: int, library: Path) -> None:
    """While it hangs, and once it was killed."""
    source = "recorded_hang.c"
    program = compile_program(host.compilers["c"], [source], f"recorded-h-{host.name}")
    with HangingJob(host, ranks, program, f"hanging-{host.name}-{ranks}") as job:
        report = report_of(job, command="peek")
        found = open_calls(report)
        check_call(found["MPI_Recv"], {0, 1}, source, "/* hangs */")
        assert found["MPI_Recv"]["frames"][0]["function"] == "await_message"
        assert found["MPI_Recv"]["seconds"] >= HANGS
        assert report["run"]["seconds"] >= HANGS, "it runs until now"
        (receive,) = (one for one in report["mpi"]["procedures"] if one["name"] == "MPI_Recv")
        assert receive["calls"] == 0 and receive["seconds"] >= 2 * HANGS
        if ranks > 2:
            check_call(found["MPI_Finalize"], {2}, source, "/* waits */")
            assert found["MPI_Finalize"]["seconds"] >= HANGS
        line = f"await_message at {source}:{line_with(source, '/* hangs */')}"
        assert line in shown("peek", job).replace("\n", " ")
    report = report_of(job)
    check_call(open_calls(report)["MPI_Recv"], {0, 1}, source, "/* hangs */")
    assert report["efficiency"] is None and report["advice"] == []
    assert report["verdict"].startswith("The job ended early."), report["verdict"]
    assert "Calls that had not ended" in shown("report", job)


def shown(command: str, job: Path) -> str:
    line = [sys.executable, "-m", "headrace", command, str(job)]
    done = subprocess.run(
        line, cwd=REPOSITORY / "python", capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize(
    ("host", "binding"), FORTRAN, ids=[f"{host.name}-{binding}" for host, binding in FORTRAN]
)
def test_a_deadlock_of_fortran(host: Host, binding: str, library: Path) -> None:
    source = "recorded_hang.F90"
    host, program = fortran_program(host.name, binding, source, flags=("-g",))
    with HangingJob(host, 2, program, f"hanging-{host.name}-{binding}") as job:
        found = open_calls(report_of(job, command="peek"))
        check_call(found["MPI_Recv"], {0, 1}, source, "! hangs")


def test_who_calls_abort_is_shown(host: Host, library: Path) -> None:
    """And the others ran until then."""
    program = compile_program(host.compilers["c"], ["recorded_end.c"], f"recorded-e-{host.name}")
    directory = work_directory(f"hanging-abort-{host.name}")
    images = directory / "images"
    images.mkdir()
    settings = {"HEADRACE_RECORD": "1", "HEADRACE_RECORD_DIRECTORY": str(images)}
    launch(host, 2, [program, "late"], True, settings)
    (job,) = images.glob("headrace-record-*/*")
    report = report_of(job)
    (abort,) = (one for one in report["last_calls"] if one["procedure"] == "MPI_Abort")
    assert [one["rank"] for one in abort["threads"]] == [1] and not abort["ended"]
    waiting = open_calls(report)["MPI_Barrier"]
    assert [one["rank"] for one in waiting["threads"]] == [0]
    assert waiting["seconds"] >= 0.45, "until the other one told of the end"
    assert report["run"]["seconds"] >= 0.5 and report["efficiency"] is not None
