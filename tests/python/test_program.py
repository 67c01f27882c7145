"""What a program is and which MPI it links, on programs made for the purpose."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from cli_support import compile_c, link, make_mpi

from headrace.errors import NOT_EXECUTABLE, NOT_FOUND, HeadraceError
from headrace.launch.preload import preload_obstacle
from headrace.mpi.installed import from_library
from headrace.mpi.kinds import kind_of
from headrace.mpi.program import examine, locate
from headrace.mpi.python_probe import ask_python

ENVIRON = {"PATH": os.environ.get("PATH", os.defpath)}
KINDS = [
    ("libmpi.so.12", (), "mpich"),
    ("libmpich.so.12", (), "mpich"),
    ("libmpi_cray.so.12", (), "mpich"),
    ("libmpi_abi.so.1", (), "mpich"),
    ("libmpi.so.12", ("I_MPI_Check_image_status",), "intel"),
    ("libmpi.so.40", ("ompi_mpi_comm_world",), "openmpi"),
    ("libmpi.so.12", ("ompi_mpi_comm_world",), "openmpi"),
    ("libmpi.so", ("MPI_SGI_initialized",), None),
]


@pytest.mark.parametrize(("soname", "symbols", "kind"), KINDS)
def test_kind_of_an_mpi(tmp_path, soname, symbols, kind):
    assert kind_of(make_mpi(tmp_path, soname, *symbols)) == kind


def test_mpi_linked_directly(tmp_path):
    library = make_mpi(tmp_path, "libmpi.so.12")
    program = examine([str(link(tmp_path / "app", library))], ENVIRON)
    assert (program.soname, program.library) == ("libmpi.so.12", library)


def test_mpi_linked_through_a_library(tmp_path):
    library = make_mpi(tmp_path, "libmpi.so.40", "ompi_mpi_comm_world")
    middle = link(tmp_path / "lib" / "libhdf5.so", library, flags=("-shared", "-fPIC"))
    source = "int main(void){return 0;}"
    flags = ("-Wl,--no-as-needed", str(middle), f"-Wl,-rpath,{middle.parent}")
    app = compile_c(source, tmp_path / "app", *flags)
    assert examine([str(app)], ENVIRON).library == library


def test_mpi_that_the_loader_does_not_find(tmp_path):
    library = make_mpi(tmp_path, "libmpi.so.12")
    app = link(tmp_path / "app", library)
    library.unlink()
    program = examine([str(app)], ENVIRON)
    assert (program.soname, program.library) == ("libmpi.so.12", None)


def test_no_mpi():
    assert not examine([shutil.which("ls")], ENVIRON).uses_mpi


@pytest.mark.parametrize(
    "command",
    [["env", "A=1", "{}"], ["nice", "-n", "1", "{}"], ["sh", "-c", "A=1 '{}'; exit"]],
)
def test_mpi_behind_a_wrapper(tmp_path, command):
    app = link(tmp_path / "app", make_mpi(tmp_path, "libmpi.so.12"))
    program = examine([word.replace("{}", str(app)) for word in command], ENVIRON)
    assert (program.path, program.soname) == (app, "libmpi.so.12")


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    "first_line", ["#!{app} -x", "#!/usr/bin/env app", "#!/usr/bin/env -S app"]
)
def test_script_whose_interpreter_has_mpi(tmp_path, first_line):
    app = link(tmp_path / "app", make_mpi(tmp_path, "libmpi.so.12"))
    path = script(tmp_path / "script", first_line.format(app=app) + "\n")
    environ = {"PATH": f"{tmp_path}:{ENVIRON['PATH']}"}
    assert examine([str(path)], environ).soname == "libmpi.so.12"


def fake_mpi4py(folder: Path, body: str) -> dict[str, str]:
    package = folder / "site" / "mpi4py"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("__version__ = '4.0'\n" + body)
    (package / "MPI.py").write_text("raise SystemExit('MPI must not be imported')\n")
    return {**ENVIRON, "PYTHONPATH": str(package.parent)}


def test_python_whose_mpi4py_was_built_for_one_mpi(tmp_path):
    library = make_mpi(tmp_path, "libmpi.so.12")
    environ = fake_mpi4py(tmp_path, "")
    extension = tmp_path / "site" / "mpi4py" / "MPI.cpython-311-x86_64-linux-gnu.so"
    link(extension, library, flags=("-shared", "-fPIC"))
    program = examine([sys.executable, "x.py"], environ)
    assert (program.soname, program.library) == ("libmpi.so.12", library)


ABI_CHOOSER = """
import ctypes, types
_mpiabi = types.SimpleNamespace(
    LIBMPI=None, _dlopen_libmpi=lambda name: ctypes.CDLL({library!r})
)
"""


def test_python_whose_mpi4py_chooses_at_run_time(tmp_path):
    library = make_mpi(tmp_path, "libmpi.so.40", "ompi_mpi_comm_world")
    environ = fake_mpi4py(tmp_path, ABI_CHOOSER.format(library=str(library)))
    program = examine([sys.executable, "x.py"], environ)
    assert (program.python, program.library) == (True, library)


def test_python_script_by_its_first_line(tmp_path):
    library = make_mpi(tmp_path, "libmpi.so.40", "ompi_mpi_comm_world")
    environ = fake_mpi4py(tmp_path, ABI_CHOOSER.format(library=str(library)))
    path = script(tmp_path / "solve", f"#!{sys.executable}\nimport mpi4py\n")
    assert examine([str(path)], environ).library == library


def test_python_whose_mpi4py_finds_no_library(tmp_path):
    environ = fake_mpi4py(tmp_path, ABI_CHOOSER.format(library="/nowhere/libmpi.so"))
    program = examine([sys.executable, "x.py"], environ)
    assert (program.python, program.library, program.uses_mpi) == (True, None, True)
    assert "nowhere" in ask_python(Path(sys.executable), environ)["problem"]


def test_python_without_mpi4py(tmp_path):
    package = tmp_path / "mpi4py.py"
    package.write_text("raise ImportError('none here')\n")
    program = examine([sys.executable, "x.py"], {**ENVIRON, "PYTHONPATH": str(tmp_path)})
    assert not program.uses_mpi


OBSTACLES = [("static", "statically"), ("setuid", "setuid"), ("machine", "RISCV")]


@pytest.mark.parametrize(("case", "text"), OBSTACLES)
def test_what_cannot_be_preloaded(tmp_path, marker, case, text):
    flags = ("-static",) if case == "static" else ()
    app = compile_c("int main(void){return 0;}", tmp_path / "app", *flags)
    if case == "setuid":
        app.chmod(0o4755)
    if case == "machine":
        data = bytearray(app.read_bytes())
        data[18:20] = (243).to_bytes(2, sys.byteorder)
        app.write_bytes(data)
    assert text in preload_obstacle(app, marker.library)[1]


@pytest.mark.parametrize("flags", [(), ("-no-pie",)])
def test_what_can_be_preloaded(tmp_path, marker, flags):
    app = compile_c("int main(void){return 0;}", tmp_path / "app", *flags)
    assert preload_obstacle(app, marker.library) is None


def test_static_position_independent_programs_are_static(tmp_path, marker):
    app = compile_c("int main(void){return 0;}", tmp_path / "app", "-static-pie")
    assert "statically" in preload_obstacle(app, marker.library)[1]


def test_launcher_beside_the_library_by_kind(tmp_path, make_launcher):
    library = make_mpi(tmp_path, "libmpi.so.12")
    make_launcher("mpirun", "mpirun (Open MPI) 5.0.11")
    assert from_library(library, {}).launcher is None
    expected = make_launcher("mpiexec", "HYDRA build details:").path
    assert from_library(library, {}).launcher == expected


@pytest.mark.parametrize(
    ("name", "exit_code"), [("absent", NOT_FOUND), ("./absent", NOT_FOUND), ("/", NOT_EXECUTABLE)]
)
def test_exit_codes_of_the_shell(name, exit_code):
    with pytest.raises(HeadraceError) as caught:
        locate(name, ENVIRON)
    assert caught.value.exit_code == exit_code
