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
    program = compile_program(compiler, ["handled_errors.F90"], f"handled-f-{host.name}")
    require_same(host, program, 2)
    if host.family.startswith("openmpi"):
        return  # its bindings leave the handle alone where there is an error
    result = launch(host, 2, [program, ".", "open"], layered=True)
    assert result.code == 0, result.explain()
    assert result.out.splitlines().count("open  F T") == 2, result.explain()


def test_fortran_with_long_integers(library) -> None:
    """Intel MPI's bindings of them hand their functions integers of 8 bytes."""
    host = host_named("intel")
    if "mpif.h" not in host.compilers:
        pytest.skip("no Fortran")
    compiler = [*host.compilers["mpif.h"], "-fdefault-integer-8"]
    compiler.insert(compiler.index("-lmpifort"), "-lmpi_ilp64")
    require_same(host, compile_program(compiler, ["handled_ilp64.F90"], "handled-ilp64"), 1)


def cxx_compiler(name: str) -> list[str]:
    """Of a library that has C++ bindings."""
    compiler = ["mpicxx.mpich"]
    if name == "intel":
        compiler = ["g++" if word == "gcc" else word for word in host_named(name).compilers["c"]]
        compiler.insert(compiler.index("-lmpi"), "-lmpicxx")
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"no {compiler[0]}")
    return compiler


@pytest.mark.parametrize("name", ["intel", "debian-mpich"])
def test_cxx(name: str, library) -> None:
    program = compile_program(cxx_compiler(name), ["handled_errors.cc"], f"handled-cxx-{name}", [])
    told = require_same(host_named(name), program, 1)
    assert told.count("open returned no error") == 2, told


def seen_once(host: Host, objects: list[Path], arguments: list | None = None) -> list[str]:
    """What is told of one error that is handled."""
    program = compile_c(host, ["one_handler.c"], "one-handler")
    folder = work_directory(f"one-handler-{host.name}")
    result = launch(host, 1, [program, folder, *(arguments or [])], False, objects=objects)
    assert result.code == 0, result.explain()
    return result.out.splitlines()


@pytest.mark.parametrize("name", ["intel", "debian-mpich"])
def test_object_that_comes_late(name: str, library) -> None:
    flags = ["-shared", "-fPIC"]
    late = compile_program(cxx_compiler(name), ["late_handler.cc"], f"late-handler-{name}", flags)
    host = host_named(name)
    plain = seen_once(host, [], [late])
    assert plain[-1] == "seek returned no error", plain
    assert [re.sub(r"\d+", "", line) for line in seen_once(host, [library], [late])] == [
        re.sub(r"\d+", "", line) for line in plain
    ]


@pytest.mark.parametrize("first", ["tool", "layer"])
def test_tool(host: Host, first: str, library) -> None:
    flags = ["-shared", "-fPIC"]
    tool = compile_program(
        host.compilers["c"], ["handler_tool.c"], f"handler-tool-{host.name}", flags
    )
    plain = seen_once(host, [tool])
    assert plain[:2] == ["tool saw an error", "forgive saw an error"], plain
    assert seen_once(host, [tool, library] if first == "tool" else [library, tool]) == plain


def test_requests(host: Host, library) -> None:
    program = compile_c(host, ["handled_requests.c"], "handled-requests")
    result = launch(host, 1, [program], layered=True)
    assert result.code == 0, result.explain()
    changes = not host.family.startswith("openmpi")
    codes = {
        "returns": "the error",
        "forgives": "none" if changes else "the error",
        "replaces": "the handler's" if changes else "the error",
    }
    wanted = []
    for handler, code in codes.items():
        overall = "none" if code == "none" else "in status"
        for many in ("all", "some"):
            for ignored in ("", " ignored"):
                told = "none" if ignored else code
                for call in ("wait", "test"):
                    wanted += [f"{handler} {call}{many}{ignored}: {overall}, status {told}"]
    assert result.out.splitlines() == wanted, result.explain()


def test_many_handlers(host: Host, library) -> None:
    program = compile_c(host, ["many_handlers.c"], "many-handlers")
    folder = work_directory(f"many-handlers-{host.name}")
    result = launch(host, 1, [program, folder], layered=True)
    forgiven = 0 if host.family.startswith("openmpi") else 512  # of 256 functions
    assert result.out == f"576 of 576 right, {forgiven} forgiven\n", result.explain()


def test_no_handle_without_communicators(host: Host, library) -> None:
    """MPICH has 2,048 of them."""
    if not host.family.startswith("mpich"):
        pytest.skip("as many communicators as memory")
    program = compile_c(host, ["no_communicators.c"], "no-communicators")
    result = launch(host, 2, [program, work_directory(f"refused-{host.name}")], layered=True)
    assert result.code == 0, result.explain()
    wanted = [f"rank {rank}: refused, no file" for rank in range(2)]
    assert sorted(result.out.splitlines()) == wanted, result.explain()
