"""abort_on_rw_error: a read or write that fails in the file system ends the job."""

from __future__ import annotations

from pathlib import Path

import pytest
from hosts import Host
from running import Result, compile_c, compile_program, launch

HINT = "abort_on_rw_error"
TOLD = "the job ends, as abort_on_rw_error asks"
FAILING = {"read": "/proc/self/mem"}
FULL = "/dev/full"
WAYS = ["set"]
WAYS += [f"{way}{form}" for way in ("write", "read") for form in ("", "_all", "_i", "_split")]


def run(host: Host, way: str, *hints: str, ranks: int = 1, **variables: str) -> Result:
    program = compile_c(host, ["failing_access.c"], "failing_access")
    file = FAILING.get(way.partition("_")[0], FULL)
    words = [program, way, file, *hints]
    return launch(host, ranks, words, True, {"HEADRACE_QUIET": "0", **variables})


def require_end(result: Result, what: str) -> None:
    assert result.code != 0 and "went on" not in result.out, result.explain()
    assert TOLD in result.err and what in result.err, result.explain()


@pytest.mark.parametrize("way", WAYS)
def test_a_failed_access_ends_the_job(host: Host, library: Path, way: str) -> None:
    what = "cannot read from" if way.startswith("read") else "cannot write to"
    require_end(run(host, way, f"{HINT}=enable", ranks=2), f"{what} '")


@pytest.mark.parametrize("variable", ["HEADRACE_HINTS", "MPICH_MPIIO_ABORT_ON_RW_ERROR"])
def test_variables_ask_for_it(host: Host, library: Path, variable: str) -> None:
    value = "enable" if variable.startswith("MPICH") else f"*:{HINT}=enable"
    require_end(run(host, "write", **{variable: value}), f"cannot write to '{FULL}'")


@pytest.mark.parametrize("hints", [[], [f"{HINT}=disable"], [f"{HINT}=automatic"]])
def test_without_it_the_program_goes_on(host: Host, library: Path, hints: list[str]) -> None:
    result = run(host, "write", *hints)
    assert result.code == 0 and "went on" in result.out, result.explain()
    assert TOLD not in result.err, result.explain()


def test_wrong_arguments_end_nothing(host: Host, library: Path) -> None:
    result = run(host, "wrong", f"{HINT}=enable")
    assert result.code == 0 and "went on" in result.out, result.explain()


def test_fortran(host: Host, library: Path) -> None:
    if "mpif.h" not in host.compilers:
        pytest.skip("no Fortran")
    compiler = host.compilers["mpif.h"]
    program = compile_program(compiler, ["failing_access.F90"], f"failing-access-{host.name}")
    quiet = {"HEADRACE_QUIET": "0"}
    result = launch(host, 1, [program, FULL], True, quiet)
    assert result.code == 0 and "went on" in result.out, result.explain()
    require_end(launch(host, 1, [program, FULL, HINT, "enable"], True, quiet), "cannot write to '")


def test_other_variables_of_cray_are_named(host: Host, library: Path) -> None:
    own = {"MPICH_MPIIO_DVS_MAXNODES": "4", "MPICH_MPIIO_HINTS_DISPLAY": "1"}
    result = run(host, "wrong", **own, MPICH_MPIIO_MAX_NUM_IRECV="50")
    # What that one asks for is DVS's own, so its reason is another.
    why = "DVS takes the number from DVS_MAXNODES when a file is opened"
    assert result.err.count(f"MPICH_MPIIO_DVS_MAXNODES has no effect ({why}") == 1, result.explain()
    why = "Headrace carries out file access in place of Cray's MPI-IO"
    assert f"MPICH_MPIIO_MAX_NUM_IRECV has no effect ({why})" in result.err, result.explain()
    assert "MPICH_MPIIO_HINTS_DISPLAY has no effect" not in result.err
