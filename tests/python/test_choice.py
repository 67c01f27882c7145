"""Which MPI is taken for a program, where several are installed or none is."""

import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import clean_environment, compile_c, link, make_mpi, mpi_path

from headrace.errors import HeadraceError
from headrace.launch.start import launch_line
from headrace.launch.values import RankEnvironment
from headrace.mpi.choice import choose
from headrace.mpi.installed import find_all
from headrace.mpi.program import Program, examine

HYDRA_VERSION = "HYDRA build details:"
OPENMPI_SYMBOL = "ompi_mpi_comm_world"
NOWHERE = {"PATH": "/nonexistent"}
WHEELS = [mpi for mpi in find_all({"HEADRACE_MPI_PATH": mpi_path()}) if mpi.kind == "mpich"]


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """No MPI is installed beside the interpreter that runs these tests."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "no-prefix"))


def install(folder: Path, soname: str, version: str, *symbols: str) -> Path:
    """An MPI with library and launcher below `folder`."""
    library = make_mpi(folder, soname, *symbols)
    launcher = folder / "bin" / ("mpirun" if symbols else "mpiexec")
    launcher.parent.mkdir()
    launcher.write_text(f"#!/bin/sh\necho '{version}'\n")
    launcher.chmod(0o755)
    return library


def test_the_linked_one(tmp_path, alone):
    library = install(tmp_path / "one", "libmpi.so.12", HYDRA_VERSION)
    install(tmp_path / "two", "libmpi.so.12", HYDRA_VERSION)
    environ = {**NOWHERE, "HEADRACE_MPI_PATH": str(tmp_path / "two")}
    choice = choose(examine([str(link(tmp_path / "app", library))], environ), None, environ)
    assert choice.mpi.launcher == tmp_path / "one" / "bin" / "mpiexec"
    assert choice.variables == {}


def test_the_one_named_instead(tmp_path, alone):
    library = install(tmp_path / "one", "libmpi.so.12", HYDRA_VERSION)
    install(tmp_path / "two", "libmpi.so.12", HYDRA_VERSION)
    program = examine([str(link(tmp_path / "app", library))], NOWHERE)
    for wanted in (tmp_path / "two", tmp_path / "two" / "bin" / "mpiexec"):
        choice = choose(program, str(wanted), NOWHERE)
        assert choice.mpi.launcher == tmp_path / "two" / "bin" / "mpiexec"
        assert choice.variables == {"LD_LIBRARY_PATH": str(tmp_path / "two" / "lib")}


def test_a_program_whose_run_path_cannot_be_redirected(tmp_path, alone):
    library = install(tmp_path / "one", "libmpi.so.12", HYDRA_VERSION)
    install(tmp_path / "two", "libmpi.so.12", HYDRA_VERSION)
    app = link(tmp_path / "app", library, flags=("-Wl,--disable-new-dtags",))
    with pytest.raises(HeadraceError, match="run path leads to"):
        choose(examine([str(app)], NOWHERE), str(tmp_path / "two"), NOWHERE)


def unresolved(folder: Path, soname: str) -> Program:
    library = make_mpi(folder / "gone", soname)
    app = link(folder / "app", library)
    library.unlink()
    return examine([str(app)], NOWHERE)


def test_an_installed_one_with_the_library_that_is_missing(tmp_path, alone):
    install(tmp_path / "one", "libmpi.so.40", "(Open MPI) 5", OPENMPI_SYMBOL)
    library = install(tmp_path / "two", "libmpi.so.12", HYDRA_VERSION)
    environ = {"HEADRACE_MPI_PATH": f"{tmp_path / 'one'}:{tmp_path / 'two'}"}
    choice = choose(unresolved(tmp_path, "libmpi.so.12"), None, environ)
    assert choice.mpi.library == library
    assert choice.variables == {"LD_LIBRARY_PATH": str(library.parent)}


def test_the_library_of_the_standard_abi(tmp_path, alone):
    install(tmp_path / "one", "libmpi.so.12", HYDRA_VERSION)
    standard = make_mpi(tmp_path / "one", "libmpi_abi.so.1")
    environ = {"HEADRACE_MPI_PATH": str(tmp_path / "one")}
    program = unresolved(tmp_path, "libmpi_abi.so.1")
    for wanted in (None, "abi", "mpich"):
        choice = choose(program, wanted, environ)
        assert choice.mpi.abi_library == standard
        assert choice.variables == {"LD_LIBRARY_PATH": str(standard.parent)}


def test_the_one_of_a_kind_that_has_the_programs_library(tmp_path, alone):
    install(tmp_path / "debian", "libmpich.so.12", HYDRA_VERSION)
    library = install(tmp_path / "wheel", "libmpi.so.12", HYDRA_VERSION)
    environ = {"HEADRACE_MPI_PATH": f"{tmp_path / 'debian'}:{tmp_path / 'wheel'}"}
    assert choose(unresolved(tmp_path, "libmpi.so.12"), "mpich", environ).mpi.library == library
    unknown = Program(Path(sys.executable), Path(sys.executable))
    found = choose(unknown, "mpich", environ).mpi
    assert found.library == tmp_path / "debian" / "lib" / "libmpich.so.12"


def test_none_is_installed(tmp_path, alone):
    with pytest.raises(HeadraceError, match=r"needs libmpi\.so\.12"):
        choose(unresolved(tmp_path, "libmpi.so.12"), None, NOWHERE)
    with pytest.raises(HeadraceError, match="no MPI 'intel'"):
        choose(unresolved(tmp_path / "x", "libmpi.so.12"), "intel", NOWHERE)


def test_the_embedded_one_comes_last(tmp_path, monkeypatch):
    embedded = install(tmp_path / "wheel", "libmpi.so.12", HYDRA_VERSION)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "wheel"))
    program = unresolved(tmp_path, "libmpi.so.12")
    assert choose(program, None, NOWHERE).mpi.library == embedded
    installed = install(tmp_path / "site", "libmpi.so.12", HYDRA_VERSION)
    environ = {"PATH": str(tmp_path / "site" / "bin")}
    assert choose(program, None, environ).mpi.library == installed


@pytest.mark.parametrize("wheel", WHEELS, ids=lambda mpi: mpi.version)
def test_the_embedded_one_runs_a_program_that_finds_no_mpi(tmp_path, monkeypatch, marker, wheel):
    monkeypatch.setattr(sys, "prefix", str(wheel.prefix))
    source = "int MPI_Init(int*, char***); int MPI_Finalize(void);"
    source += "int main(int c, char **v){MPI_Init(&c, &v); return MPI_Finalize();}"
    library = str(wheel.library)
    app = compile_c(source, tmp_path / "app", library, "-Wl,--allow-shlib-undefined")
    environ = {**clean_environment(), "PATH": "/nonexistent"}
    choice = choose(examine([str(app)], environ), None, environ)
    assert choice.mpi.library == wheel.library
    ranks = RankEnvironment(str(marker.library), choice.variables)
    launch = launch_line(choice.mpi, 2, [str(app)], environ, ranks=ranks)
    subprocess.run(launch.argv, env=launch.environ, check=True)
    assert [mark.name for mark in marker.marks()] == ["app", "app"]
