"""Features compose: libheadrace_counting.so (tests/mpi/counting) counts the calls of all procedures
beside the layer's own features, from all languages and from objects that are loaded late."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import absent
from hosts import REPOSITORY, Host, host_named
from running import Result, compile_program, launch, one_at_a_time, run, work_directory
from test_languages import FORTRAN, fortran_program

BUILD = REPOSITORY / "build" / "release"
NINJA = REPOSITORY / ".dev" / "venv" / "bin" / "ninja"
SHARED = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra"]
BUILD_SECONDS = 1500  # within the limit of a case


@pytest.fixture(scope="session")
def counting() -> Path:
    """The layer with one feature more, built from this checkout."""
    if os.environ.get("HEADRACE_LIBRARY"):
        pytest.skip("tests a build of its own")
    if not (BUILD / "build.ninja").exists() or not NINJA.exists():
        absent(f"there is no build in {BUILD}")
    with one_at_a_time("headrace_counting"):
        done = run([NINJA, "-C", BUILD, "headrace_counting"], timeout=BUILD_SECONDS)
    assert done.code == 0, done.explain()
    return BUILD / "lib" / "libheadrace_counting.so"


def counts_of(result: Result, rank: int) -> Counter[str]:
    """By symbol."""
    found = re.findall(rf"counted {rank} (\S+) (\d+)$", result.err, re.MULTILINE)
    return Counter({symbol: int(number) for symbol, number in found})


def large(host: Host, name: str) -> str:
    """What the plugin calls: by large counts where the MPI has them."""
    return name if host.family.startswith("openmpi") or host.family == "mpich3" else f"{name}_c"


def plugin_of(host: Host) -> Path:
    return compile_program(
        host.compilers["c"], ["features_plugin.c"], f"features_plugin-{host.name}.so", SHARED
    )


def run_features(host: Host, objects: list[Path], name: str, more: Sequence[Path] = ()) -> Result:
    program = compile_program(
        [*host.compilers["c"], "-ldl"], ["features.c"], f"features-{host.name}"
    )
    plugin = plugin_of(host)
    directory = work_directory(f"features-{name}-{host.name}")
    result = launch(host, 2, [program, directory, plugin, *more], layered=True, objects=objects)
    assert result.code == 0, result.explain()
    written = (directory / "features").read_bytes()
    assert written == b"p" * 100 + b"a" * 100 + b"b" * 200, written
    return result


def tool_of(host: Host) -> Path:
    return compile_program(
        host.compilers["c"], ["features_tool.c"], f"features_tool-{host.name}.so", SHARED
    )


def test_features_share_procedures(host: Host, counting: Path) -> None:
    result = run_features(host, [counting], "counted")
    for rank in range(2):
        counts = counts_of(result, rank)
        expected = {
            "MPI_Comm_rank": 1,
            "MPI_Barrier": 3,  # and 2 after it was switched off
            "MPI_File_open": 1,
            "MPI_File_iwrite_at": 1,
            "MPI_Wait": 5,  # completion joined after the second
            "MPI_Waitall": 1,
            large(host, "MPI_Allreduce"): 5,
            "MPI_Wtime": 1,
            "MPI_Wtick": 1,
            "MPI_Pcontrol": 3,
        }
        if rank == 0:
            expected[large(host, "MPI_File_write_at")] = 1
        assert {name: counts[name] for name in expected} == expected, result.explain()


def test_values_that_are_no_words_pass(host: Host, counting: Path) -> None:
    result = run_features(host, [counting, tool_of(host)], "values")
    for rank in range(2):
        assert f"rank {rank}: wtime 1234.062500 wtick 0.015625\n" in result.out, result.explain()
    line = "pcontrol 3 11 -12 1.5 2.25e+300 *5 13 3.5 14 4.5 5.5 6.5 7.5 8.5 9.5 10.5 11.5 15 16 17"
    for part in (line, "pcontrol 4\n", "pcontrol -7000"):
        assert result.out.count(part) == 2, result.explain()


def test_late_objects_reach_the_layer(host: Host, library: Path) -> None:
    """The product's own features, with an object that is loaded when the file is open."""
    run_features(host, [library], "late")


def test_disabled_features_do_nothing(host: Host, counting: Path) -> None:
    program = compile_program(
        [*host.compilers["c"], "-ldl"], ["features.c"], f"features-{host.name}"
    )
    plugin = plugin_of(host)
    outputs = []
    for layered in (False, True):
        directory = work_directory(f"features-disabled-{layered}-{host.name}")
        result = launch(
            host,
            1,
            [program, directory, plugin],
            layered,
            {"HEADRACE_DISABLE": "1"},
            objects=[counting, tool_of(host)] if layered else [tool_of(host)],
        )
        assert result.code == 0 and not result.err, result.explain()
        outputs.append(result.out)
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(("name", "binding"), [(host.name, b) for host, b in FORTRAN])
def test_fortran(name: str, binding: str, counting: Path) -> None:
    """Each call is counted where Fortran's entry is, and once where it reaches C's."""
    host, program = fortran_program(name, binding, "features.F90")
    result = launch(host, 2, [program], layered=True, objects=[counting])
    assert result.code == 0 and result.out == "right\nright\n", result.explain()
    counts = counts_of(result, 1)
    expected = {"Barrier": 2, "Comm_rank": 3, "Allreduce": 5, "Wtime": 4, "Pcontrol": 1}
    by_fortran = {
        short: sum(
            number
            for symbol, number in counts.items()
            if re.fullmatch(rf"mpi_{short.lower()}_(f08_|f08ts_)?", symbol)
        )
        for short in expected
    }
    # The library's Fortran layer takes either name of C's.
    by_c = {short: counts[f"MPI_{short}"] + counts[f"PMPI_{short}"] for short in expected}
    # Open MPI's mpi_f08 binds this one to C's.
    without = {"Wtime"} if binding == "mpi_f08" and host.family.startswith("openmpi") else set()
    assert by_fortran == expected | dict.fromkeys(without, 0), result.explain()
    assert by_c == expected, result.explain()


@pytest.mark.parametrize("name", sorted({host.name for host, _ in FORTRAN}))
def test_late_fortran(name: str, counting: Path) -> None:
    """The Fortran layer comes with an object that a C program loads when MPI runs."""
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    plugin = compile_program(
        host.compilers["mpif.h"],
        ["features_plugin.F90"],
        f"features_plugin-f-{name}.so",
        ["-cpp", "-shared", "-fPIC"],
    )
    result = run_features(host, [counting], "late_fortran", [plugin])
    for rank in range(2):
        counts = counts_of(result, rank)
        assert counts["mpi_barrier_"] == 4, result.explain()
        assert counts["MPI_Barrier"] + counts["PMPI_Barrier"] == 3 + 4, result.explain()
