"""Frames of a record get their functions and lines from the file that ran, and from no other."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from headrace.analysis.paths import Frame
from headrace.elf import symbols as elf
from headrace.symbols import resolver, tools
from headrace.symbols.names import demangled
from headrace.symbols.resolver import program_frames, resolve
from headrace.symbols.tools import Line

SOURCE = """#include <cstdio>
namespace lib {
inline __attribute__((always_inline)) int inner(int x) {
  return puts("a") + x;
}
struct S {
  __attribute__((noinline, noipa)) int outer(int a) {
    int r = inner(a);
    return r * 2 + 1;
  }
};
}  // namespace lib
int main(int c, char**) {
  lib::S s;
  return s.outer(c);
}
"""


def built(folder: Path, *flags: str) -> Path:
    source = folder / "program.cc"
    source.write_text(SOURCE)
    compiler = os.environ.get("CXX", "c++").split()
    line = [*compiler, "-O2", "-Wl,--build-id=sha1", *flags, str(source), "-o", str(folder / "app")]
    subprocess.run(line, check=True)
    return folder / "app"


def frame_in(program: Path) -> Frame:
    """The return address of the call of puts, as a dump of the code tells it."""
    dump = subprocess.run(
        ["objdump", "-d", str(program)], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    place = next(number for number, line in enumerate(dump) if line.endswith("<puts@plt>"))
    offset = int(dump[place + 1].split(":")[0], 16)
    build_id = elf.build_id(program)
    assert build_id
    return Frame(str(program), build_id, offset)


@pytest.mark.parametrize("tool", [*tools.TOOLS, None])
@pytest.mark.parametrize("flags", [(), ("-Wl,-z,ibtplt", "-fcf-protection")])
def test_stubs_have_the_names_of_what_they_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str | None, flags: tuple[str, ...]
) -> None:
    program = built(tmp_path, "-Wl,-z,lazy", *flags)
    found = shutil.which(tool) if tool else None
    if tool and not found:
        pytest.skip(f"{tool} is not installed")
    monkeypatch.setattr(tools, "find", lambda: (tool, found) if found else None)
    sections = subprocess.run(
        ["objdump", "-d", str(program)], capture_output=True, text=True, check=True
    ).stdout
    (start,) = re.findall(r"^([0-9a-f]+) <puts@plt>:$", sections, re.MULTILINE)
    frame = Frame(str(program), elf.build_id(program) or "", int(start, 16) + 5)
    (line,) = resolver.resolve_frames([frame]).lines[frame]
    assert line.function == "puts@plt"


@pytest.mark.parametrize("tool", tools.TOOLS)
def test_inlined_frames_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    program = built(tmp_path, "-g")
    monkeypatch.setattr(tools, "TOOLS", {tool: tools.TOOLS[tool]})
    if tools.find() is None:
        pytest.skip(f"{tool} is not on this machine")
    frame = frame_in(program)
    symbols = resolve([[frame]])
    source = str(tmp_path / "program.cc")
    assert symbols.shown([frame]) == [
        Line("lib::inner(int)", source, 4),
        Line("lib::S::outer(int)", source, 8),
    ]
    assert not symbols.problems


@pytest.mark.parametrize("flags", [["-g"], [], ["-rdynamic", "-s"]])
def test_without_a_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str]) -> None:
    monkeypatch.setattr(tools, "TOOLS", {})
    frame = frame_in(built(tmp_path, *flags))
    (line,) = resolve([[frame]]).shown([frame])
    assert line.function == "lib::S::outer(int)"
    assert (Path(line.file).name, line.line) == (("program.cc", 4) if "-g" in flags else ("", 0))


def test_another_build_is_not_used(tmp_path: Path) -> None:
    program = built(tmp_path, "-g")
    frame = frame_in(program)
    other = Frame(frame.module, "00" * 20, frame.offset)
    symbols = resolve([[other]])
    assert symbols.shown([other]) == [Line(f"app+{frame.offset:#x}")]
    assert symbols.problems == {str(program): "it is another build than the one that ran"}


def test_modules_that_cannot_be_looked_into(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "text").write_text("no program")
    (tmp_path / "cut").write_bytes(b"\x7fELF\2\1\1" + bytes(40))
    for name, why in (
        (str(tmp_path / "gone"), "it is not on this machine"),
        (str(tmp_path / "pipe"), "it is no readable ELF file"),
        (str(tmp_path / "text"), "it is no readable ELF file"),
        (str(tmp_path / "cut"), "it is no readable ELF file"),
        ("/dev/zero", "it is no readable ELF file"),
        ("--help", "its path is not known"),
        ("/a\0b", "it is not on this machine"),
        ("/" + "a" * 10_000, "it is not on this machine"),
    ):
        frame = Frame(name, "ab", 16)
        symbols = resolve([[frame]])
        assert symbols.problems == {name: why}
        assert symbols.shown([frame])[0].function.endswith("+0x10")


def test_layers_at_the_inner_end_are_left_out() -> None:
    names = ("/l/libheadrace.so", "/l/libmpifort.so.12", "/b/app", "/l/libmpi.so.12", "/b/app")
    frames = [Frame(name, "", place) for place, name in enumerate(names)]
    assert program_frames(frames) == frames[2:]
    assert program_frames(frames[:2]) == frames[:2]
    python = Frame("/l/libmpi.py", "", 0, "step", 7)
    assert program_frames([python]) == [python]
    assert resolver.Symbols().of(python) == (Line("step", "/l/libmpi.py", 7),)


def test_names_of_cpp() -> None:
    assert demangled("_ZN3lib1S5outerEi") == "lib::S::outer(int)"
    assert demangled("_Znonsense") == "_Znonsense"
    assert demangled("main") == "main"
    assert demangled("_Z" + "N" * 10_000).startswith("_ZN")


def test_odd_output_of_a_tool() -> None:
    output = (
        "0x10\nf(int)\n/a:b/c.cc:12 (discriminator 3)\ng\n??:?\n0x20\n??\n??:0\n0x30\nh\nx.c:5:7\n"
    )
    assert tools.understand(output) == {
        0x10: [Line("f(int)", "/a:b/c.cc", 12), Line("g")],
        0x20: [Line("")],
        0x30: [Line("h", "x.c", 5)],
    }


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("__pyx_pw_6mpi4py_3MPI_4Comm_125Gatherv", "mpi4py.MPI.Comm.Gatherv"),
        ("__pyx_f_6mpi4py_3MPI_PyMPI_gather", "mpi4py.MPI.PyMPI_gather"),
        ("__pyx_fuse_1__pyx_f_6mpi4py_3MPI_options_set", "mpi4py.MPI.options_set"),
        *((one, one) for one in ("__pyx_", "__pyx_f_9", "__pyx_pw_99a_b", "__pyx_f_3ab", "pyx_f")),
        ("__pyx_f_" + "1a_" * 5000, "__pyx_f_" + "1a_" * 5000),
    ],
)
def test_names_of_cython(mangled: str, name: str) -> None:
    assert demangled(mangled) == name


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("__fft_scalar_MOD_cft_1z", "fft_scalar::cft_1z"),
        ("__work_MOD_kernel._omp_fn.0", "work::kernel._omp_fn.0"),
        ("__shapes.lines_MOD_area", "shapes.lines::area"),  # of a submodule
        ("__work_MOD___copy_work_Field", "work::__copy_work_Field"),
        ("work_mp_kernel_", "work::kernel"),
        *((one, one) for one in ("__MOD_a", "__work_MOD_", "_MOD_", "dgemm_", "mpi_mp_", "a_mp_b")),
        ("module_mp_thompson_mp_mp_gt_driver_", "module_mp_thompson_mp_mp_gt_driver_"),
    ],
)
def test_names_of_fortran(mangled: str, name: str) -> None:
    assert demangled(mangled) == name


def test_what_all_paths_have_is_left_out() -> None:
    program, python = Frame("/opt/app", "1", 1), Frame("/usr/bin/python3.13", "2", 2)
    start, line = Frame("/opt/app", "1", 3), Frame("/home/app.py", "", 0, "solve", 7)
    symbols = resolver.Symbols(
        {
            program: (Line("step"), Line("main")),
            python: (Line("PyEval_EvalCode"),),
            start: (Line("__libc_start_main"), Line("_start")),
        }
    )
    names = [one.function for one in symbols.of_program([program, start])]
    assert names == ["step", "main"]
    names = [one.function for one in symbols.of_program([line, python, program, start])]
    assert names == ["solve", "step", "main"]
    # Without lines of Python the interpreter's are all that is known.
    assert [one.function for one in symbols.of_program([python, start])] == ["PyEval_EvalCode"]
    assert [one.function for one in symbols.of_program([start])] == ["__libc_start_main"]


def test_the_best_of_a_functions_names() -> None:
    """As Fortran's entries of MPI have a dozen."""
    names = ["pmpi_test__", "mpi_test_", "MPI_TEST", "MPI_Test_f08", "_mpi_test"]
    found = elf.in_order((16, 8, name) for name in names)
    assert found[-1][2] == "MPI_TEST"
    assert [one[:2] for one in elf.in_order([(16, 8, "a"), (0, 4, "b"), (16, 9, "long_name")])] == [
        *((0, 4), (16, 8), (16, 9))
    ]
