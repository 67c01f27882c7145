"""Fortran's three bindings and mpi4py, with and without the layer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import RANKS, absent
from hosts import Host, all_hosts, host_named
from running import PROGRAMS, compile_program, launch, tree, work_directory

MACROS = {"mpif.h": "BINDING_MPIF_H", "mpi": "BINDING_MPI", "mpi_f08": "BINDING_MPI_F08"}
FORTRAN = [(host, b) for host in all_hosts() for b in host.fortran_bindings()]
PYTHON = [host for host in all_hosts() if host.python]


def compare(host: Host, ranks: int, command: list, name: str) -> None:
    """Both runs say ok, print the same and leave the same files."""
    results = {}
    for layered in (False, True):
        directory = work_directory(f"{name}-{ranks}-{'layer' if layered else 'plain'}")
        result = launch(host, ranks, [*command, directory], layered)
        assert result.code == 0 and "ok" in result.out.split(), result.explain()
        assert not result.litter, result.litter
        results[layered] = (result.out, tree(directory))
    assert results[True] == results[False]


def fortran_program(
    name: str, binding: str, source: str, modules: Sequence[Path] = (), flags: Sequence[str] = ()
) -> tuple[Host, Path]:
    """The MPI of this name, and a program that says by macros in which binding it is compiled.
    modules: sources that it uses."""
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    words = ["-cpp", f"-D{MACROS[binding]}", *flags]
    target = f"{Path(source).stem}-f-{binding}-{name}"
    return host, compile_program(host.compilers[binding], [*modules, source], target, words)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize(
    ("host", "binding"), FORTRAN, ids=[f"{host.name}-{binding}" for host, binding in FORTRAN]
)
def test_fortran(host: Host, binding: str, ranks: int, cell, library) -> None:
    if host.missing:
        absent(host.missing)
    cell(host.name, "fortran", ranks)
    compiler = [*host.compilers[binding], f"-D{MACROS[binding]}"]
    program = compile_program(compiler, ["exercise.F90"], f"fortran-{binding}-{host.name}", ["-O1"])
    compare(host, ranks, [program], f"fortran-{host.name}-{binding}")


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("host", PYTHON, ids=[host.name for host in PYTHON])
def test_mpi4py(host: Host, ranks: int, cell, library) -> None:
    if host.missing:
        absent(host.missing)
    cell(host.name, "python", ranks)
    # mpi4py's runner aborts the job when one rank raises: the others would wait for it.
    program = [host.python, "-u", "-m", "mpi4py", PROGRAMS / "host_program.py"]
    compare(host, ranks, program, f"python-{host.name}")
