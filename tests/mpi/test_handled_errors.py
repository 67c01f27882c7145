"""Error handlers that change the code: procedures return what the library's own would."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from hosts import Host, host_named
from running import compile_c, compile_program, launch, work_directory

# MPICH 5 returns some errors as none, whatever the handler does.
LOST = re.compile(r"(keep|replace) saw .* returned no error")


def require_same(host: Host, program: Path, ranks: int) -> list[str]:
    """What the program tells with the layer."""
    found = []
    for layered in (False, True):
        folder = work_directory(f"handled-{program.name}-{ranks}")
        result = launch(host, ranks, [program, folder], layered)
        assert result.code == 0, result.explain()
        found.append(sorted(result.out.splitlines()))
    plain, told = found
    assert len(told) == len(plain)
    for without, with_layer in zip(plain, told, strict=True):
        if LOST.search(without):
            begin = without.removesuffix("no error")
            assert with_layer in (f"{begin}the error", f"{begin}the handler's")
        else:
            assert with_layer == without
    return told


@pytest.mark.parametrize("ranks", [1, 2])
def test_c(host: Host, ranks: int, library) -> None:
    told = require_same(host, compile_c(host, ["handled_errors.c"], "handled"), ranks)
    seen = "forgive saw no file, returned"
    expected = "the error" if host.family.startswith("openmpi") else "no error"
    assert [line for line in told if seen in line] == sorted(
        f"rank {rank} {call}: {seen} {expected}"
        for rank in range(ranks)
        for call in ("open", "delete")
    )


def test_fortran(host: Host, library) -> None:
    if "mpif.h" not in host.compilers:
        pytest.skip("no Fortran")
    compiler = host.compilers["mpif.h"]
    require_same(
        host, compile_program(compiler, ["handled_errors.F90"], f"handled-f-{host.name}"), 2
    )


@pytest.mark.parametrize("name", ["intel", "debian-mpich"])
def test_cxx(name: str, library) -> None:
    host = host_named(name)
    compiler = ["mpicxx.mpich"]
    if name == "intel":
        compiler = ["g++" if word == "gcc" else word for word in host.compilers["c"]]
        compiler.insert(compiler.index("-lmpi"), "-lmpicxx")
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"no {compiler[0]}")
    program = compile_program(compiler, ["handled_errors.cc"], f"handled-cxx-{name}", [])
    told = require_same(host, program, 1)
    assert told.count("open returned no error") == 2, told
