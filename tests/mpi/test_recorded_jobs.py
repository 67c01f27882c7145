"""Jobs that run at the same time, with the same variables, have a record each."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path

import pytest
from conftest import absent
from hanging import JOB_SECONDS, PATIENCE
from hosts import Host, host_named
from running import AS_ROOT, YIELD, compile_program, launch, preload, records, work_directory
from test_recorder import report_of

HOSTS = ("mpich", "openmpi", "intel")
OF_A_STEP = {"SLURM_JOB_ID": "77", "SLURM_STEP_ID": "3", "SLURM_PROCID": "0"}
"""As `srun --pty bash` hands them to whatever is started there."""
OF_AN_OUTER_JOB = {
    "mpich": {
        "PMIX_NAMESPACE": "outer@1",
        "OMPI_COMM_WORLD_SIZE": "2",
        "OMPI_COMM_WORLD_LOCAL_SIZE": "1",
    },
    "openmpi": OF_A_STEP | {"PMI_SIZE": "2", "MPI_LOCALNRANKS": "1"},
}
OF_AN_OUTER_JOB["intel"] = OF_AN_OUTER_JOB["mpich"]


def pausing(name: str) -> tuple[Host, Path]:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    return host, compile_program(host.compilers["c"], ["recorded_pause.c"], f"recorded-p-{name}")


def recording(directory: Path) -> dict[str, str]:
    (directory / "images").mkdir()
    return {
        "HEADRACE_RECORD": "1",
        "HEADRACE_LOGPATH": str(directory),
        "HEADRACE_RECORD_DIRECTORY": str(directory / "images"),
    }


def barriers(record: Path) -> int:
    calls = {own["name"]: own["calls"] for own in report_of(record)["mpi"]["procedures"]}
    return calls["MPI_Barrier"]


def one_record(directory: Path, known: set[Path]) -> Path:
    (new,) = set(directory.glob("*.hrc")) - known
    known.add(new)
    return new


@pytest.mark.parametrize("name", HOSTS)
def test_programs_without_a_launcher(name: str, library: Path) -> None:
    """The second one runs while the first one ends; neither has the other's calls."""
    host, program = pausing(name)
    directory = work_directory(f"recorded-jobs-single-{name}")
    go = directory / "go"
    settings = os.environ | host.environment | YIELD | AS_ROOT | records() | recording(directory)
    settings |= OF_A_STEP | preload([library])
    second = subprocess.Popen([program, "20", "0", go], env=settings, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + PATIENCE
        while not list(directory.glob("images/*/*/rank-0")) and time.monotonic() < deadline:
            time.sleep(0.05)
        first = [program, "10", "0", "0"]
        subprocess.run(first, env=settings, timeout=JOB_SECONDS, check=True, capture_output=True)
        known: set[Path] = set()
        assert barriers(one_record(directory, known)) == 11
        go.touch()
        _, err = second.communicate(timeout=JOB_SECONDS)
    finally:
        second.kill()
    assert second.returncode == 0, err
    last = one_record(directory, known)
    assert barriers(last) == 21 and report_of(last)["run"]["complete"]
    assert not list((directory / "images").iterdir())


@pytest.mark.parametrize("name", HOSTS)
def test_jobs_below_an_outer_one(name: str, library: Path) -> None:
    host, program = pausing(name)
    directory = work_directory(f"recorded-jobs-inner-{name}")
    go = directory / "go"
    settings = recording(directory) | OF_AN_OUTER_JOB[name]
    if name == "mpich":  # what it reads itself
        settings["MPIR_CVAR_PMI_VERSION"] = "1"
    before = ["env", *(f"{key}={value}" for key, value in settings.items())]
    results = []

    def hold() -> None:
        line = [program, "20", "0", go]
        results.append(launch(host, 2, line, True, recording_of(settings), before=before))

    second = threading.Thread(target=hold)
    second.start()
    try:
        deadline = time.monotonic() + PATIENCE
        while len(list(directory.glob("images/*/*/rank-*"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        first = launch(
            host, 2, [program, "10", "0", "0"], True, recording_of(settings), before=before
        )
        assert first.code == 0, first.explain()
        known: set[Path] = set()
        record = one_record(directory, known)
        assert barriers(record) == 2 * 11 and report_of(record)["run"]["complete"]
    finally:
        go.touch()
        second.join()
    assert results[0].code == 0, results[0].explain()
    last = one_record(directory, known)
    assert barriers(last) == 2 * 21 and report_of(last)["run"]["complete"]
    assert not list((directory / "images").iterdir())


def recording_of(settings: dict[str, str]) -> dict[str, str]:
    """Those that are not the outer job's."""
    return {key: value for key, value in settings.items() if key.startswith("HEADRACE_")}


@pytest.mark.parametrize("name", ["mpich", "openmpi"])  # Intel MPI's MPI_Comm_spawn needs a setting
def test_spawned_jobs(name: str, library: Path) -> None:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    program = compile_program(host.compilers["c"], ["recorded_spawn.c"], f"recorded-s-{name}")
    directory = work_directory(f"recorded-jobs-spawned-{name}")
    # The launcher hands its own environment on to them.
    own = recording(directory) | preload([library])
    before = ["env", *(f"{key}={value}" for key, value in own.items())]
    result = launch(host, 1, [program], True, recording_of(own), before=before)
    assert result.code == 0, result.explain()
    found = []
    for record in directory.glob("*.hrc"):
        report = report_of(record)
        calls = {own["name"]: own["calls"] for own in report["mpi"]["procedures"]}
        run = report["run"]
        found.append((run["ranks"], run["complete"], calls.get("MPI_Allreduce", 0)))
    assert sorted(found) == [(1, True, 0), (2, True, 2 * 10), (2, True, 2 * 20)]
    assert not list((directory / "images").iterdir())


@pytest.mark.parametrize("name", HOSTS)
def test_a_program_that_changes_its_user_is_told(
    name: str, needs_root: None, library: Path
) -> None:
    """It may no longer read what it has recorded. Nothing is lost."""
    host, program = pausing(name)
    directory = work_directory(f"recorded-jobs-user-{name}")
    settings = recording(directory) | {"HEADRACE_QUIET": "0"}
    result = launch(host, 2, [program, "10", "-1", "nobody"], True, settings)
    assert result.code == 0, result.explain()
    (line,) = [one for one in result.err.splitlines() if "no record was written" in one]
    assert str(directory / "images") in line, line
    (job,) = (directory / "images" / "headrace-record-0").iterdir()
    assert barriers(job) == 2 * 11
