"""`headrace site`: module files that module systems understand, settings that are kept, and a check
that sees whether jobs have the layer."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cli_support import ROOT, Command, clean_environment, mpi_path
from somebody import as_nobody
from tune_support import figures, measured

from headrace import __version__
from headrace.errors import HeadraceError
from headrace.settings.resolver import resolve_run
from headrace.site import check, files, given
from headrace.site.files import MARKER
from headrace.tune import fit, profile
from headrace.tune.gains import EVERYWHERE

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


def test_a_site_has_a_directory_of_profiles(headrace, prefix) -> None:
    profiles = prefix / "profiles"
    assert profiles.stat().st_mode & 0o777 == 0o755
    (profiles / "p.toml").touch()
    result = headrace("site", "init", prefix)
    assert result.returncode == 0 and f"kept     {profiles}" in result.stdout
    assert f"headrace tune DIRECTORY --output {profiles}/NAME.toml" in result.stdout
    assert (profiles / "p.toml").exists()


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


@pytest.mark.parametrize(
    "name",
    ["a b", "a:b", 'a"b', "a$b", "a'b", "a)b", "a,b", "a\rb", "a\vb", "a\u2028b", "a\udcffb"],
)
def test_folders_that_cannot_stand_in_a_module_file_are_refused(headrace, name) -> None:
    result = headrace("site", "init", headrace.directory / name)
    assert result.returncode == 2 and "cannot stand in a module file" in result.stderr
    assert not (headrace.directory / name).exists()


def test_what_a_module_file_may_have_is_read_back(tmp_path: Path) -> None:
    taken = [char for char in map(chr, range(0x250)) if is_taken(char)]
    assert {"a", "é", "+", "-", "#", "~", "@", "=", "%"} <= set(taken)
    for char in taken:
        if char == "/":
            continue
        prefix = tmp_path / f"a{char}b"
        site = files.Site(prefix, "1.0", prefix / "libheadrace.so", prefix / "bin")
        for template in ("module.lua.jinja", "module.tcl.jinja"):
            module = tmp_path / "module"
            module.write_text(files._render(template, site))
            found = given._read_module(module)
            assert (found.library, found.settings) == (site.library, site.settings), char


def is_taken(char: str) -> bool:
    try:
        files._require_quotable(Path(f"/a{char}b"))
    except HeadraceError:
        return False
    return True


def test_settings_behind_a_link_that_leads_nowhere_are_kept(headrace, tmp_path) -> None:
    folder = tmp_path / "apps"
    folder.mkdir()
    (folder / "headrace.toml").symlink_to("/nfs/not/mounted/headrace.toml")
    result = headrace("site", "init", folder)
    assert result.returncode == 0 and "kept " in result.stdout, result.stderr
    assert (folder / "headrace.toml").is_symlink()


def test_settings_of_the_users_home_are_found(tmp_path: Path, monkeypatch) -> None:
    """HEADRACE_SITE=~/s.toml, without a module."""
    (tmp_path / "s.toml").write_text("[settings]\nquiet = 1\n")
    monkeypatch.setattr(check, "find_file", lambda *_: "/bin/true")
    here = given.Given(None, tmp_path / "libheadrace.so", Path("~/s.toml"))
    environ = {"HOME": str(tmp_path), "PATH": os.defpath}
    assert check.settings_problems(here, tmp_path, environ) == []
    gone = given.Given(None, tmp_path / "libheadrace.so", tmp_path / "gone.toml")
    monkeypatch.setattr(check, "resolve_run", lambda _: resolve_run({}))
    [problem] = check.settings_problems(gone, tmp_path, environ)
    assert "gone.toml' cannot be read (No such file or directory)" in problem


def test_what_users_cannot_search_is_told(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "libheadrace.so").touch()
    tmp_path.chmod(0o755)
    closed.chmod(0o700)
    here = given.Given(None, closed / "libheadrace.so", closed / "headrace.toml")
    with as_nobody():
        lines = list(given.unreadable(here))
        with pytest.raises(HeadraceError, match="is no site's folder"):
            given.read_modules(closed)
    for line, path in zip(lines, (here.library, here.settings), strict=True):
        assert line.startswith(f"not all users can read '{path}' (")
        assert "has mode 0700" in line  # which may be of a folder of pytest


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


@pytest.mark.parametrize("mask", [0o077, 0o002])
def test_everybody_can_read_what_is_written_whatever_the_umask(headrace, mask: int) -> None:
    folder = headrace.directory / "apps" / "site"
    line = [sys.executable, "-m", "headrace", "site", "init", folder]
    subprocess.run(line, env=headrace.environ, umask=mask, check=True)
    made = [folder.parent, *(path for path in folder.parent.rglob("*"))]
    assert len(made) == 8
    for path in made:
        assert oct(path.stat().st_mode)[-3:] == ("755" if path.is_dir() else "644"), path


@dataclass
class Installed:
    """A site for everybody, and the command of a checkout that checks it."""

    command: Command
    prefix: Path
    library: Path

    @property
    def settings(self) -> Path:
        return self.prefix / "headrace.toml"

    def check(self, mpi: str = "mpich", **variables: str) -> subprocess.CompletedProcess[str]:
        return self.command("site", "check", self.prefix, "--mpi", mpi, **variables)


@pytest.fixture
def site() -> Iterator[Installed]:
    """pytest's own directories are for one user."""
    with tempfile.TemporaryDirectory(prefix="site-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        library = Path(shutil.copy(RELEASE, folder))
        environ = {**clean_environment(), "HEADRACE_MPI_PATH": mpi_path()}
        environ |= {"PYTHONPATH": str(ROOT / "python"), "HEADRACE_LIBRARY": str(library)}
        command = Command(environ, folder)
        assert command("site", "init", folder / "apps").returncode == 0
        # The check goes by the module files.
        del command.environ["HEADRACE_LIBRARY"]
        yield Installed(command, folder / "apps", library)
        assert not list(folder.glob("headrace-*")), "what the jobs wrote is removed"


def test_check_sees_the_layer_and_that_it_can_be_turned_off(site: Installed) -> None:
    result = site.check("all")
    lines = result.stdout.splitlines()
    assert result.returncode == 0, result.stdout + result.stderr
    assert lines[:3] == [
        *(f"{path}: preloads {site.library}" for path in sorted(modules(site.prefix))),
        f"{site.settings}: used",
    ]
    assert sum(": a job: Headrace wrote" in line for line in lines) == 3
    assert sum("HEADRACE_DISABLE=1: the MPI library wrote" in line for line in lines) == 3

    site.settings.write_text("[settings]\ndisable_for = 'tile*'\n")
    result = site.check()
    assert result.returncode == 1 and "the layer is off there" in result.stderr


def test_check_goes_by_what_the_module_files_set(site: Installed) -> None:
    """Not by the library that the command has."""
    for path in modules(site.prefix):
        path.write_text(path.read_text().replace(str(site.library), "/gone/libheadrace.so"))
    result = site.check()
    assert result.returncode == 1 and "Headrace wrote" not in result.stdout
    assert "jobs do not get Headrace ('/gone/libheadrace.so' is not there)" in result.stderr

    other = site.prefix / "other.toml"
    for path in modules(site.prefix):
        text = path.read_text().replace("/gone/libheadrace.so", str(site.library))
        path.write_text(text.replace(str(site.settings), str(other)))
    result = site.check()
    assert result.returncode == 1 and f"{other}: not used as it is" in result.stdout
    assert ": a job: Headrace wrote" in result.stdout

    for path in modules(site.prefix):
        path.write_text(path.read_text().replace("LD_PRELOAD", "LD_LIBRARY_PATH"))
    result = site.check()
    assert result.returncode == 2 and "does not turn Headrace on" in result.stderr


def test_check_tells_what_the_hints_of_the_site_have_wrong(site: Installed) -> None:
    site.settings.write_text('[hints]\ncb_nodes = "many"\n[hints."*.h[5-6]"]\nno_hint = 1\n')
    result = site.check()
    assert result.returncode == 1 and f"{site.settings}: not used as it is" in result.stdout
    assert result.stderr.count("cb_nodes='many' is not a whole number") == 1
    assert result.stderr.count("hint 'no_hint' is ignored") == 1


def test_check_tells_what_only_the_owner_can_read(site: Installed) -> None:
    profiles = site.prefix / "profiles"
    (profiles / "scratch.toml").touch(0o600)
    site.library.chmod(0o700)
    result = site.check()
    assert result.returncode == 1
    for path in (profiles / "scratch.toml", site.library):
        assert f"not all users can read '{path}'" in result.stderr
    site.prefix.chmod(0o750)
    assert f"not all users can read '{site.settings}' ('{site.prefix}' has" in site.check().stderr


def test_check_tells_what_profiles_apply_to(site: Installed) -> None:
    """And which jobs ignore, before it looks at jobs."""
    profiles = site.prefix / "profiles"
    for name, counts, mode in (
        ("used", EVERYWHERE, 0o644),
        ("idle", {"write": [], "read": []}, 0o644),
        ("open", EVERYWHERE, 0o666),
    ):
        made = measured(figures(), file_system="lustre", mount="/scratch", processor="A CPU")
        path = profiles / f"{name}.toml"
        path.write_text(profile.to_toml(made, fit.rows(made), "p.json", counts))
        path.chmod(mode)
    (profiles / "bad.toml").write_text("[profile]\nformat = 99\n")
    result = site.check()
    assert result.returncode == 1
    applies = "applies to lustre at /scratch on 'A CPU', to files of one node, of up to 2 ranks"
    assert f"{profiles}/used.toml: {applies}" in result.stdout
    assert f"{profiles}/idle.toml: applies to nothing (no choice" in result.stdout
    assert f"profile '{profiles}/open.toml' is ignored (" in result.stderr
    assert f"profile '{profiles}/bad.toml' cannot be read (it is of format 99" in result.stderr


def test_check_passes_by_an_mpi_that_lacks_the_programs_library(site: Installed) -> None:
    """Debian's MPICH, whose library has another name, comes first in PATH."""
    mpich = ROOT / ".dev" / "mpi" / "mpich" / "bin"
    if not os.access("/usr/bin/mpiexec.mpich", os.X_OK) or not mpich.is_dir():
        pytest.skip("this needs Debian's MPICH and PyPI's")
    result = site.check(PATH=f"/usr/bin:/bin:{mpich}", HEADRACE_MPI_PATH="")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "MPICH 5" in result.stdout


def test_a_folder_without_module_files_is_no_site(headrace) -> None:
    result = headrace("site", "check", headrace.directory)
    assert result.returncode == 2 and "no site's folder" in result.stderr
