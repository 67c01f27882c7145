"""Fixtures of the command's tests."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from cli_support import (
    FAKE_LAUNCHER,
    MARKER_SOURCE,
    ROOT,
    Command,
    FakeLauncher,
    Marker,
    clean_environment,
    compile_c,
    mpi_path,
)


@pytest.fixture
def marker(tmp_path: Path) -> Marker:
    folder = tmp_path / "marks"
    folder.mkdir()
    flags = ["-shared", "-fPIC", f'-DMARKER_DIRECTORY="{folder}"']
    library = compile_c(MARKER_SOURCE, tmp_path / "marker" / "libheadrace.so", *flags)
    return Marker(library, folder)


@pytest.fixture
def headrace(tmp_path: Path, marker: Marker) -> Command:
    environ = clean_environment()
    environ["PYTHONPATH"] = str(ROOT / "python")
    environ["HEADRACE_LIBRARY"] = str(marker.library)
    environ["HEADRACE_MPI_PATH"] = mpi_path()
    return Command(environ, tmp_path)


@pytest.fixture
def make_launcher(tmp_path: Path):
    """Makes a launcher of any name that records how it was started, and exits with `code`."""

    def make(name: str, version: str = "", code: int = 0) -> FakeLauncher:
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        record = tmp_path / f"{name}.json"
        text = FAKE_LAUNCHER.format(
            python=sys.executable, version=version, record=str(record), code=code
        )
        path.write_text(text)
        path.chmod(0o755)
        return FakeLauncher(path, record)

    return make


@pytest.fixture
def first_on_path(tmp_path: Path):
    """PATH with the fake launchers in front."""
    return f"{tmp_path / 'bin'}:{os.environ.get('PATH', os.defpath)}"


@pytest.fixture
def true_program() -> str:
    return shutil.which("true")
