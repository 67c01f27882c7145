"""Front libraries: what is written, what is refused, and what the commands say of them."""

import ctypes
import os
import subprocess
import sys

import pytest
from cli_support import ROOT, compile_c, link, make_mpi
from elftools.elf.elffile import ELFFile
from test_cli import assert_one_line

from headrace.elf.facts import definitions, read_facts
from headrace.elf.writer import MACHINES, SharedObject, shared_object
from headrace.front import library as front

HEADRACE = """
int MPI_Init() { return 11; }
int PMPI_Init() { return 12; }
int headrace_MPI_File_write_c() { return 13; }
int headrace_PMPI_File_write_c() { return 14; }
int headrace_MPI_File_absent_c() { return 15; }
"""
MPICH = ("MPI_File_write_c", "PMPI_File_write_c", "MPIR_Err_create_code")


@pytest.fixture
def ours(tmp_path):
    return compile_c(HEADRACE, tmp_path / "ours" / "libheadrace.so", "-shared", "-fPIC")


@pytest.fixture
def mpi(tmp_path):
    return make_mpi(tmp_path / "mpi", "libmpi.so.12", *MPICH)


def called(library, *names):
    """What functions return that are looked up in a library's handle, in a process of its own."""
    text = f"import ctypes; l = ctypes.CDLL({str(library)!r}); print([l[n]() for n in {names!r}])"
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_look_up_finds_ours_first(ours, mpi, tmp_path):
    made = tmp_path / "front.so"
    front.write(mpi, ours, made)
    names = ("MPI_Init", "PMPI_Init", "MPI_File_write_c", "PMPI_File_write_c")
    assert called(made, *names, "PMPI_Type_get_contents") == "[11, 12, 13, 14, 0]"
    with pytest.raises(subprocess.CalledProcessError):
        called(made, "MPI_File_absent_c")  # its MPI has none


def test_front_has_the_librarys_name_and_needs_both(ours, mpi, tmp_path):
    made = tmp_path / "front.so"
    front.write(mpi, ours, made)
    facts = read_facts(made)
    assert facts.soname == "libmpi.so.12"
    assert facts.needed == ("libheadrace.so", str(mpi))
    assert facts.runpath == (str(ours.parent),)
    assert front.read(made) == front.Front(ours, mpi)
    assert front.problems(made) == []


def test_what_needs_the_librarys_name_gets_the_front(ours, mpi, tmp_path):
    """A module that is loaded later and linked to the MPI library calls ours."""
    front.write(mpi, ours, tmp_path / "front.so")
    source = "int MPI_Init(); int ask() { return MPI_Init(); }"
    module = compile_c(source, tmp_path / "module.so", "-shared", "-fPIC", str(mpi))
    text = (
        f"import ctypes; ctypes.CDLL({str(tmp_path / 'front.so')!r}); "
        f"print(ctypes.CDLL({str(module)!r}).ask())"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "11\n"


@pytest.mark.parametrize("machine", list(MACHINES))
def test_written_objects_are_read_by_others(machine, tmp_path):
    """Of processors that are not at hand, too: what a reader of ELF sees is what was asked for."""
    forwards = {f"name_{i}": f"target_{i}" for i in range(40)}
    content = SharedObject("soname.so", ("one.so", "/two.so"), "/where", ("note", "text"), forwards)
    path = tmp_path / "object.so"
    path.write_bytes(shared_object(content, MACHINES[machine], 5))
    facts = read_facts(path)
    assert (facts.machine, facts.flags, facts.soname) == (machine, 5, "soname.so")
    assert (facts.needed, facts.runpath) == (("one.so", "/two.so"), ("/where",))
    assert definitions(path) == {"note", *forwards}
    with path.open("rb") as stream:
        loads = [one for one in ELFFile(stream).iter_segments() if one["p_type"] == "PT_LOAD"]
        assert all(one["p_offset"] % 0x10000 == one["p_vaddr"] % 0x10000 for one in loads)
        assert [one["p_flags"] & 3 for one in loads] == [1, 2], "never writable and executable"


def test_object_without_forwards_loads(tmp_path):
    path = tmp_path / "object.so"
    content = SharedObject("soname.so", (), "/where", ("note", "text"))
    machine = {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64"}
    path.write_bytes(shared_object(content, MACHINES[machine[os.uname().machine]], 0))
    found = ctypes.c_char.in_dll(ctypes.CDLL(str(path)), "note")
    assert ctypes.string_at(ctypes.addressof(found)) == b"text"


def test_command_makes_one_and_doctor_finds_it_good(headrace, ours, mpi):
    variables = {"HEADRACE_LIBRARY": str(ours), "HEADRACE_MPI_PATH": str(mpi.parent.parent)}
    made = headrace("preload", "--front", mpi, **variables)
    path = headrace.directory / "libmpi-headrace.so.12"
    assert (made.returncode, made.stdout) == (0, f"{path}\n"), made.stderr
    again = headrace("preload", "--front", mpi, **variables)
    assert again.returncode == 0, "a front library is replaced"
    good = headrace("doctor", "--front", path, **variables)
    assert str(path) in good.stdout
    assert "cannot be loaded" not in good.stderr and "does not fit" not in good.stderr


def test_doctor_tells_what_is_wrong(headrace, ours, mpi):
    variables = {"HEADRACE_LIBRARY": str(ours), "HEADRACE_MPI_PATH": str(mpi.parent.parent)}
    path = headrace("preload", "--front", mpi, **variables).stdout.strip()
    make_mpi(mpi.parent.parent, "libmpi.so.12", "MPIR_Err_create_code")
    other = headrace("doctor", "--front", path, **variables)
    assert other.returncode == 1 and "does not fit its libraries" in other.stderr
    mpi.unlink()
    gone = headrace("doctor", "--front", path, **variables)
    assert gone.returncode == 1 and f"{mpi} is missing" in gone.stderr
    none = headrace("doctor", "--front", ours, **variables)
    assert none.returncode == 1 and "is no front library" in none.stderr


def test_refusals(headrace, ours, mpi, tmp_path):
    variables = {"HEADRACE_LIBRARY": str(ours)}

    def refuse(library, text, *more):
        assert_one_line(headrace("preload", "--front", library, *more, **variables), 2, text)

    refuse(tmp_path / "nothing.so", "no such file")
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    refuse(script, "not a shared library")
    flags = ("-shared", "-fPIC", "-Wl,-soname,f.so")
    refuse(compile_c("int f;", tmp_path / "f.so", *flags), "not an MPI library")
    own = tmp_path / "front.so"
    front.write(mpi, ours, own)
    refuse(own, "a front library itself")
    refuse(mpi, "is not overwritten", "--output", script)
    assert script.read_text() == "#!/bin/sh\n"
    nowhere = headrace("preload", "--front", mpi, "--output", tmp_path / "no" / "x.so", **variables)
    assert_one_line(nowhere, 1, "No such file")
    assert_one_line(headrace("preload", "--output", "x", **variables), 2, "--output")


OPENS = 'import ctypes\nmpi = ctypes.CDLL("{}")\n'


def test_run_warns_of_a_script_that_opens_an_mpi(headrace, ours, mpi, tmp_path):
    script = tmp_path / "job.py"
    front.write(mpi, ours, tmp_path / "front.so")
    app = link(headrace.directory / "app", mpi)
    environ = {"HEADRACE_LIBRARY": str(ours)}

    def said(*command):
        from headrace.front import look_up

        found = look_up.warning([str(word) for word in command], {**headrace.environ, **environ})
        return found or ""

    script.write_text(OPENS.format(mpi))
    assert "preload --front" in said(sys.executable, script)
    script.write_text(OPENS.format(tmp_path / "front.so"))
    assert said(sys.executable, script) == ""
    script.write_text("from mpi4py import MPI\n")
    assert said(sys.executable, script) == ""
    assert said(app) == "", "links its MPI"


def test_run_warns_of_a_program_that_opens_an_mpi(headrace, ours, mpi, tmp_path):
    source = f'#include <dlfcn.h>\nint main(void) {{ return !dlsym(dlopen("{mpi}", 2), "x"); }}'
    program = compile_c(source, tmp_path / "program", "-ldl")
    from headrace.front import look_up

    assert "preload --front" in look_up.warning([str(program)], headrace.environ)


def test_page_names_what_the_command_takes():
    page = (ROOT / "docs" / "hosts.md").read_text()
    for text in ("headrace preload --front", "headrace doctor --front", "ctypes", "cffi", "Julia"):
        assert text in page
