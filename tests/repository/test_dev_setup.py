"""What ./dev takes for present and what it makes anew: on other systems, in copies of a checkout,
with other compilers."""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import source_tree

from devtool import building, commands, debian, main, package, prepared, provision, style, testing
from devtool.failure import Failure
from devtool.groups import Group


def test_daemons_are_found_by_users_who_lack_their_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    programs = (path for path in Path("/usr/sbin").iterdir() if os.access(path, os.X_OK))
    name = next((path.name for path in programs if path.is_file()), None)
    if name is None:
        pytest.skip("/usr/sbin has no program")
    assert debian._program(name)()
    assert not debian._program("no-such-program")()


@pytest.fixture
def fake_compiler(tmp_path: Path) -> Path:
    """Prints the macros that the file beside it has."""
    path = tmp_path / "compiler"
    path.write_text(f"#!/bin/sh\ncat {tmp_path}/macros\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("macros", "expected"),
    [
        ("#define __GNUC__ 11\n", False),
        ("#define __GNUC__ 12\n", True),
        ("#define __clang__ 1\n#define __GNUC__ 4\n", True),
    ],
)
def test_a_compiler_may_be_several_words_and_too_old(
    macros: str,
    expected: bool,
    fake_compiler: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "macros").write_text(macros)
    for words in (str(fake_compiler), f"env {fake_compiler}"):
        monkeypatch.setenv("CXX", words)
        assert debian.COMPILER.present() is expected
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert not debian.COMPILER.present()
    monkeypatch.setenv("CXX", "")
    assert debian.compiler() == ["c++"]
    monkeypatch.setenv("CXX", "g++ '")
    with pytest.raises(Failure, match="CXX names no compiler"):
        debian.compiler()


def test_cmake_starts_anew_after_a_failure_and_for_another_compiler(
    fake_compiler: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CXX", raising=False)
    assert not building._starts_anew(tmp_path), "nothing was configured"
    (tmp_path / "CMakeCache.txt").write_text(f"CMAKE_CXX_COMPILER:FILEPATH={fake_compiler}\n")
    assert building._starts_anew(tmp_path), "that failed"
    (tmp_path / "build.ninja").touch()
    assert not building._starts_anew(tmp_path)
    monkeypatch.setenv("CXX", str(fake_compiler))
    assert not building._starts_anew(tmp_path)
    monkeypatch.setenv("CXX", "env")
    assert building._starts_anew(tmp_path)


def test_a_build_of_another_checkout_is_removed(tmp_path: Path) -> None:
    cache = tmp_path / "build" / "CMakeCache.txt"
    for source, stays in ((source_tree.ROOT, True), (tmp_path / "elsewhere", False)):
        cache.parent.mkdir(exist_ok=True)
        cache.write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={source}\n")
        building.remove_if_moved(cache.parent)
        assert cache.parent.exists() == stays
    building.remove_if_moved(cache.parent)


def test_what_another_checkout_has_installed_is_not_installed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here: set[str] = set()

    @contextlib.contextmanager
    def waits(*_: object) -> Iterator[None]:
        here.add("air")
        yield

    monkeypatch.setattr(debian.os, "geteuid", lambda: 0)
    monkeypatch.setattr(debian.shutil, "which", lambda name: name)
    monkeypatch.setattr(debian, "exclusive", waits)
    monkeypatch.setattr(debian, "_install", lambda packages: pytest.fail(f"installs {packages}"))
    debian.ensure([debian.Need("air", "air", lambda: "air" in here)])


def test_an_environment_of_another_python_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "python3.13").write_text("")
    (tmp_path / "python3.13").chmod(0o755)
    for folder in ("bin", "lib/python3.11", ".headrace"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / ".headrace" / "path").write_text(str(tmp_path))
    (tmp_path / "bin" / "python").symlink_to("../python3.13")
    assert not provision._usable(tmp_path)
    (tmp_path / "lib" / "python3.13").mkdir()
    assert provision._usable(tmp_path)
    (tmp_path / ".headrace" / "machine").write_text(platform.machine())
    assert provision._usable(tmp_path)
    monkeypatch.setattr(platform, "machine", lambda: "another")
    assert not provision._usable(tmp_path)


def test_other_machines_do_without_intel_mpi() -> None:
    script = (
        "import platform; platform.machine = lambda: 'aarch64'\n"
        "from devtool import commands, groups, provision\n"
        "assert not [one for one in groups.ALL_MPI if 'intel' in one.groups]\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(source_tree.ROOT / "tools")}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)


def test_packages_take_the_place_of_older_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, dist = tmp_path / "made", tmp_path / "dist"
    monkeypatch.setattr(package, "DIST", dist)
    top = f"headrace-{package.version()}"
    names = {f"{top}.whl", "recipes/new"}
    for name in (*(made / one for one in names), dist / "recipes" / "old", dist / f"{top}.tar"):
        name.parent.mkdir(parents=True, exist_ok=True)
        name.write_text(name.name)
    (dist / top).mkdir()  # sources, unpacked
    found = package.publish(made)
    assert {str(path.relative_to(dist)) for path in found} == names
    assert {path.name for path in dist.iterdir()} == {f"{top}.whl", "recipes", top}


def test_packages_need_a_path_without_blanks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package, "ROOT", tmp_path / "my work")
    with pytest.raises(Failure, match="cut names at blanks"):
        package.build()


def test_sanitizers_run_tests_or_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        ran.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(debian, "ensure", lambda _: None)
    monkeypatch.setattr(building, "prepare", lambda **_: None)
    monkeypatch.setattr(commands.subprocess, "run", run)
    commands.sanitize(["--only", "sanitize", "--tests", "none"])
    assert "-DHEADRACE_REQUIRE_TESTS=ON" in ran[0]
    assert "--no-tests=error" in ran[-1]


def test_words_that_choose_tests_leave_groups_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(testing, "LOGS", tmp_path)
    nothing = [sys.executable, "-c", f"import sys; sys.exit({testing.NO_TESTS})"]
    monkeypatch.setattr(testing, "_pytest", lambda *_: nothing)
    group = Group("fake", "a fake runner", ("tests",), ())
    assert testing._run_group(group, "default", ["-k", "elsewhere"]).good
    assert testing._run_group(group, "default", ["-v"]).problem == "ran no test"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "how much space is left"),
        (PermissionError(errno.EACCES, "Permission denied", "build"), "cannot use 'build'"),
        (subprocess.CalledProcessError(128, ["git", "ls-files"]), "git failed (exit code 128)"),
    ],
)
def test_failures_are_told_in_one_line(
    error: Exception,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fails(_: list[str]) -> int:
        raise error

    monkeypatch.setitem(main.COMMANDS, "build", fails)
    assert main.main(["build"]) == 1
    said = capsys.readouterr().err
    assert told in said and said.count("\n") == 1


def test_files_are_listed_by_git_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(style, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(subprocess.CalledProcessError):
        style.tracked([".cc"])
    assert "not a git repository" in capfd.readouterr().err


def test_clean_tells_what_cannot_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuses(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    locks: list[str] = []

    @contextlib.contextmanager
    def lock(name: str = "lock") -> Iterator[None]:
        locks.append(name)
        yield

    (tmp_path / "build").mkdir()
    monkeypatch.setattr(commands, "BUILD", tmp_path / "build")
    monkeypatch.setattr(commands, "ROOT", tmp_path)
    monkeypatch.setattr(commands, "exclusive", lock)
    monkeypatch.setattr(commands.shutil, "rmtree", refuses)
    assert main.main(["clean"]) == 1
    assert "build' (Permission denied)" in capsys.readouterr().err
    assert locks == ["tests.lock", "lock"]


def test_help_needs_no_preparation(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = []
    monkeypatch.setattr(building, "prepare", lambda wanted, *_, **__: layers.append(list(wanted)))
    monkeypatch.setattr(
        prepared.subprocess,
        "run",
        lambda command, **_: subprocess.CompletedProcess(command, 0),
    )
    for name in ("conformance", "clusterfs", "placement"):
        assert main.main([name, "--help"]) == 0
    monkeypatch.setattr(commands.os, "execve", lambda *_: None)
    main.main(["demo", "--help"])
    assert layers == [[provision.CLI]] * 4
