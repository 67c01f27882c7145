"""Calls that look like the C library's, and are not: the program's hooks and functions stay its
own, and what it does otherwise is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from hosts import Host
from running import compile_program, launch, work_directory
from test_program_io import files_below, io_in, recorded

LIBRARY_FLAGS = ["-shared", "-O1", "-Wall", "-Wextra"]


def library_of(define: str, *flags: str) -> Path:
    """A part of own_functions.c."""
    return compile_program(
        ["gcc"], ["own_functions.c"], f"own-{define}", [*LIBRARY_FLAGS, f"-D{define}", *flags]
    )


def program(host: Host, label: str, *flags: str, library: Path | None = None) -> Path:
    words = [] if library is None else ["-Wl,--no-as-needed", str(library)]
    words += [] if library is None else [f"-Wl,-rpath,{library.parent}"]
    compiler = [*host.compilers["c"], *words, "-ldl"]
    return compile_program(
        compiler,
        ["program_hooks.c"],
        f"program-hooks-{label}-{host.name}",
        ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-pthread", *flags],
    )


def run(host: Host, built: Path, mode: str, *words: object, objects: list | None = None) -> Path:
    """The directory of the run, in which `out` is the name for a file."""
    directory = work_directory(f"program-hooks-{mode}-{host.name}")
    line = [built, mode, directory / "out", *words]
    done = launch(host, 1, line, True, recorded(directory), objects=objects)
    assert done.code == 0, done.explain()
    return directory


@pytest.mark.parametrize("binding", ("lazy", "now"))
@pytest.mark.parametrize("mode", ("data", "slot"))
def test_hooks_of_the_program_stay(host: Host, library: Path, mode: str, binding: str) -> None:
    if mode == "slot" and binding == "now":
        binding = "lazy,-z,norelro"  # read-only slots cannot be replaced by the program
    built = program(host, f"{mode}-{binding}", f"-Wl,-z,{binding}")
    run(host, built, mode)


@pytest.mark.parametrize("binding", ("lazy", "now"))
def test_functions_have_other_addresses_in_fixed_programs(
    host: Host, library: Path, binding: str
) -> None:
    """There a function's address is that of the program's own stub."""
    flags = ("-no-pie", "-fno-pic", f"-Wl,-z,{binding}")
    built = program(host, f"fixed-{binding}", *flags)
    directory = work_directory(f"program-hooks-data-{host.name}")
    (directory / "in").write_text("1234")
    done = launch(host, 1, [built, "address", directory / "in"], True, recorded(directory))
    assert done.code == 0, done.explain()
    file = files_below(directory, io_in(directory))["in"]
    assert file["posix"]["opens"] == 1 and file["bytes_read"] in (2, 4)


@pytest.mark.parametrize("binding", ("lazy", "now"))
def test_functions_of_the_same_name_are_left_alone(host: Host, library: Path, binding: str) -> None:
    own = library_of("OWN_FUNCTION", "-fPIC")
    built = program(host, f"own-{binding}", "-DWITH_OWN_FUNCTION", f"-Wl,-z,{binding}", library=own)
    run(host, built, "own")


def test_relocated_text_is_left_alone(host: Host, library: Path) -> None:
    text = library_of("TEXT_RELOCATION", "-fPIC", "-Wl,-z,notext")
    run(host, program(host, "text", "-DWITH_TEXT_RELOCATION", library=text), "text")


def test_objects_that_come_while_others_look_symbols_up(host: Host, library: Path) -> None:
    """Each is looked at before its first call, and not before the linker has finished it."""
    loaded = library_of("LOADED", "-fPIC", "-Wl,-z,now,-z,relro")
    directory = run(host, program(host, "load"), "load", loaded)
    file = files_below(directory, io_in(directory))["out"]
    assert file["posix"]["writes"] == 200


def test_calls_that_are_left_by_a_jump(host: Host, library: Path) -> None:
    """Behind another tool, too, whose calls must not be counted twice."""
    tool = compile_program(
        ["gcc", "-ldl"], ["writing_tool.c"], "writing_tool", [*LIBRARY_FLAGS, "-fPIC"]
    )
    directory = run(host, program(host, "jump"), "jump", objects=[tool, library])
    file = files_below(directory, io_in(directory))["out"]
    assert file["posix"]["writes"] == 1 and file["bytes_written"] == 5
