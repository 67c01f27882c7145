"""Programs that look MPI up in a library's handle, through a front library (docs/hosts.md)."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from hosts import REPOSITORY, Host, host_named
from running import C_FLAGS, PROGRAMS, Result, compile_program, launch, run, work_directory

from headrace.elf.facts import read_facts
from headrace.elf.writer import MACHINES, SharedObject, shared_object
from headrace.front import library as front
from headrace.mpi.program import linked_mpi

# The standard ABI of MPICH and MPICH's own have functions with large counts, Open MPI 5 has none.
WITH_LARGE_COUNTS = ("mpich", "mpich-abi", "intel", "debian-mpich")


def _environment(host: Host) -> dict[str, str]:
    return os.environ | host.environment


@cache
def mpi_library(host_name: str, compiler: tuple[str, ...], places: str) -> Path:
    """The MPI library that programs of the host's compiler need."""
    linked = compile_program(list(compiler), ["handle_query.c"], f"handle_query-{host_name}")
    found = linked_mpi(linked, {**os.environ, "LD_LIBRARY_PATH": places})
    assert found is not None and found[1] is not None, linked
    return found[1]


def library_of(host: Host) -> Path:
    return mpi_library(
        host.name, tuple(host.compilers["c"]), host.environment.get("LD_LIBRARY_PATH", "")
    )


def front_of(host: Host, library: Path) -> Path:
    """Made by the command, as users make it."""
    made = work_directory(f"front-{host.name}") / "libmpi-headrace.so"
    command = [sys.executable, "-m", "headrace", "preload", "--front", str(library_of(host))]
    environment = _environment(host) | {
        "PYTHONPATH": str(REPOSITORY / "python"),
        "HEADRACE_LIBRARY": str(library),
    }
    done = run([*command, "--output", made], environment)
    assert done.code == 0 and done.out.strip() == str(made), done.explain()
    return made


def c_program(host: Host, source: str = "looked_up") -> Path:
    """Not linked to an MPI: it uses nothing of it but the header."""
    compiler = host.compilers["c"]
    flags = [*C_FLAGS, "-Wl,--as-needed"]
    built = compile_program(
        [compiler[0], "-Wl,--as-needed", *compiler[1:], "-ldl"],
        [f"{source}.c"],
        f"{source}-{host.name}",
        flags,
    )
    facts = read_facts(built)
    assert facts is not None and not any("mpi" in name for name in facts.needed), facts
    return built


def look_up(host: Host, ranks: int, command: list, layered: bool = False, **more: str) -> Result:
    place = work_directory(f"looked-up-{host.name}") / "data"
    words = [place if word is ... else word for word in command]
    return launch(host, ranks, words, layered, {"MPI_TEST_EXPECT": "", **more})


def require(result: Result, taken: str) -> None:
    assert result.code == 0, result.explain()
    assert f"taken: {taken}" in result.out, result.explain()
    assert "\n0 bytes wrong" in result.out, result.explain()


@pytest.mark.parametrize("ranks", [1, 2])
def test_c(host: Host, ranks: int, library: Path, cell) -> None:
    cell(host.name, "c", ranks)
    made = front_of(host, library)
    command = [c_program(host), made, ...]
    taken = "staged" if ranks > 1 else "direct"
    require(look_up(host, ranks, command), taken)
    if ranks == 1:
        return
    require(look_up(host, ranks, [*command, "global"]), taken)
    if host.name in WITH_LARGE_COUNTS:
        require(look_up(host, ranks, [*command, "large"]), taken)
    # Beside a preload, and switched off.
    require(look_up(host, ranks, command, layered=True), taken)
    require(look_up(host, ranks, command, HEADRACE_DISABLE="1"), "none")


def test_without_a_front(host: Host, library: Path) -> None:
    """What it is for: a preload is not found in the library's handle."""
    command = [c_program(host), library_of(host), ...]
    require(look_up(host, 2, command, layered=True), "none")


@pytest.mark.parametrize("way", ["ctypes", "cffi"])
def test_python(host: Host, way: str, library: Path) -> None:
    made = front_of(host, library)
    numbers = compile_program(
        host.compilers["c"], ["handle_numbers.c"], f"handle_numbers-{host.name}"
    )
    said = subprocess.run(
        [numbers], env=_environment(host), capture_output=True, text=True, check=True
    )
    script = PROGRAMS / "looked_up.py"
    command = [sys.executable, script, way, made, ..., *said.stdout.split()]
    require(look_up(host, 2, command), "staged")


def test_front_is_what_it_says(host: Host, library: Path) -> None:
    made = front_of(host, library)
    found = front.read(made)
    assert found == front.Front(library, library_of(host))
    assert front.problems(made) == []
    wanted, own = read_facts(library_of(host)), read_facts(made)
    assert wanted is not None and own is not None
    assert (own.soname, own.machine) == (wanted.soname, wanted.machine)


@pytest.mark.parametrize("host_name", ["mpich", "intel"])
def test_front_that_does_not_fit(host_name: str, library: Path) -> None:
    """It leads large counts to the library alone, to which a file of ours means nothing."""
    host = host_named(host_name)
    needed = (library.name, str(library_of(host)))
    content = SharedObject("libmpi.so.12", needed, str(library.parent), (front.MARK, "old"))
    made = work_directory(f"unfit-{host.name}") / "front.so"
    made.write_bytes(shared_object(content, MACHINES["EM_X86_64"], 0))
    assert "does not fit" in front.problems(made)[0]
    for more in ((), ("large",)):
        result = look_up(host, 2, [c_program(host), made, ..., *more], HEADRACE_QUIET="0")
        require(result, "none")
        assert "make it again with headrace preload --front" in result.err, result.explain()
