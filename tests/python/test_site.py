"""`headrace site`: module files that module systems understand, settings that are kept, and a check
that sees whether jobs have the layer."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from cli_support import ROOT, Command, clean_environment, mpi_path

from headrace import __version__
from headrace.site.files import MARKER

RELEASE = ROOT / "build" / "release" / "lib" / "libheadrace.so"
MODULECMD = ("/usr/lib/x86_64-linux-gnu/modulecmd.tcl", "/usr/share/lmod/lmod/libexec/lmod")


@pytest.fixture
def prefix(headrace: Command, tmp_path: Path) -> Path:
    folder = tmp_path / "apps"
    result = headrace("site", "init", folder)
    assert result.returncode == 0, result.stderr
    assert f"headrace site check {folder}" in result.stdout
    return folder


def modules(prefix: Path) -> tuple[Path, Path]:
    folder = prefix / "modulefiles" / "headrace"
    return folder / f"{__version__}.lua", folder / __version__


def test_module_files_name_the_library_and_the_settings(headrace, prefix, marker) -> None:
    for path in modules(prefix):
        text = path.read_text()
        assert MARKER in text and str(marker.library) in text
        assert str(prefix / "headrace.toml") in text
        assert oct(path.stat().st_mode)[-3:] == "644"
    assert modules(prefix)[1].read_text().startswith("#%Module")


def test_the_settings_of_a_site_are_kept(headrace, prefix) -> None:
    settings = prefix / "headrace.toml"
    settings.write_text("[settings]\nquiet = 1\n")
    result = headrace("site", "init", prefix)
    assert result.returncode == 0 and f"kept     {settings}" in result.stdout
    assert settings.read_text() == "[settings]\nquiet = 1\n"


def test_what_a_site_wrote_itself_is_not_overwritten(headrace, prefix) -> None:
    own = modules(prefix)[1]
    own.write_text("#%Module1.0\n")
    modules(prefix)[0].unlink()
    result = headrace("site", "init", prefix)
    assert result.returncode == 2 and f"'{own}' is not overwritten" in result.stderr
    assert own.read_text() == "#%Module1.0\n" and not modules(prefix)[0].exists()


@pytest.mark.parametrize("name", ["a b", "a:b", 'a"b', "a$b"])
def test_folders_that_cannot_stand_in_a_module_file_are_refused(headrace, name) -> None:
    result = headrace("site", "init", headrace.directory / name)
    assert result.returncode == 2 and "cannot stand in a module file" in result.stderr
    assert not (headrace.directory / name).exists()


def test_a_folder_that_cannot_be_written_to_is_told(headrace) -> None:
    (headrace.directory / "file").write_text("")
    result = headrace("site", "init", headrace.directory / "file" / "below")
    assert result.returncode == 1 and "cannot be written" in result.stderr


def test_a_module_system_loads_and_unloads_it(prefix, marker) -> None:
    found = next((path for path in MODULECMD if os.access(path, os.X_OK)), None)
    tclsh = shutil.which("tclsh")
    if found is None:
        pytest.skip("neither Environment Modules nor Lmod is installed")
    front = [tclsh, found] if found.endswith(".tcl") and tclsh else [found]
    environ = {**clean_environment(), "MODULEPATH": str(prefix / "modulefiles")}
    script = "; ".join(
        (
            f'eval "$({" ".join(front)} bash load headrace)"',
            'echo "1 $LD_PRELOAD $HEADRACE_SITE"',
            f'eval "$({" ".join(front)} bash unload headrace)"',
            'echo "2 $LD_PRELOAD $HEADRACE_SITE"',
        )
    )
    line = ["bash", "-c", script]
    result = subprocess.run(line, env=environ, capture_output=True, text=True, check=False)
    first, second = result.stdout.splitlines()
    assert first.split() == ["1", str(marker.library), str(prefix / "headrace.toml")], result
    assert second.split() == ["2"], result


def test_check_sees_the_layer_and_that_it_can_be_turned_off(tmp_path) -> None:
    environ = {**clean_environment(), "HEADRACE_MPI_PATH": mpi_path()}
    environ |= {"PYTHONPATH": str(ROOT / "python"), "HEADRACE_LIBRARY": str(RELEASE)}
    headrace = Command(environ, tmp_path)
    assert headrace("site", "init", tmp_path / "apps").returncode == 0
    result = headrace("site", "check", tmp_path / "apps")
    lines = result.stdout.splitlines()
    assert result.returncode == 0, result.stdout + result.stderr
    assert lines[0] == f"{tmp_path}/apps/headrace.toml: used"
    assert sum(": a job: Headrace wrote" in line for line in lines) == 3
    assert sum("HEADRACE_DISABLE=1: the MPI library wrote" in line for line in lines) == 3

    (tmp_path / "apps" / "headrace.toml").write_text("[settings]\ndisable_for = 'tile*'\n")
    result = headrace("site", "check", tmp_path / "apps", "--mpi", "mpich")
    assert result.returncode == 1 and "the layer is off there" in result.stderr
    assert not list(tmp_path.glob("headrace-*")), "what the jobs wrote is removed"
