"""./dev package: what it makes runs with an old glibc, and its sources build without a network."""

from __future__ import annotations

import os
import re
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import source_tree
from installed import installed, require_jobs, require_site, run

from devtool import package, symbol_versions
from devtool.building import tool_environment

pytestmark = pytest.mark.timeout(7200)

DIST = source_tree.ROOT / "dist"
PYPROJECT = tomllib.loads(source_tree.text(source_tree.ROOT / "pyproject.toml"))
MINIMUM = PYPROJECT["tool"]["headrace"]["glibc-minimum-portable"]


@pytest.fixture(scope="module")
def made() -> list[Path]:
    said = run(sys.executable, source_tree.ROOT / "dev", "package")
    return [source_tree.ROOT / line.split()[0] for line in said.splitlines()]


def named(made: list[Path], pattern: str) -> Path:
    (path,) = (path for path in made if re.search(pattern, path.name))
    return path


def test_makes_all_that_the_page_lists(made: list[Path]) -> None:
    page = source_tree.text(source_tree.ROOT / "docs" / "packages.md")
    listed = re.findall(r"^\| `(\S+)` \|", page, re.M)
    names = [name.replace("VERSION", package.version()) for name in listed]
    assert sorted(names) == sorted(str(path.relative_to(DIST)) for path in made)


def test_recipes_are_whole_and_name_no_folder_of_this_machine(made: list[Path]) -> None:
    recipes = [path for path in made if path.parent.name == "recipes"]
    assert recipes
    for path in recipes:
        text = source_tree.text(path)
        assert not re.search(r"@[A-Z0-9]+@", text) and str(source_tree.ROOT) not in text, path


def test_every_binary_runs_with_the_old_glibc(made: list[Path], tmp_path: Path) -> None:
    with zipfile.ZipFile(named(made, r"\.whl$")) as wheel:
        wheel.extractall(tmp_path / "wheel")
    with tarfile.open(named(made, r"-(x86_64|aarch64)\.tar\.gz$")) as archive:
        archive.extractall(tmp_path / "archive", filter="data")
    for folder in ("wheel", "archive"):
        found = symbol_versions.check(tmp_path / folder, MINIMUM, package.FROM_THE_MPI)
        names = {Path(path).name for path in found}
        assert {"libheadrace.so", "headrace_gather", "ior-mpich"} <= names


def test_its_programs_and_its_library_run_jobs(made: list[Path], tmp_path: Path) -> None:
    """Of the wheel as it is installed, which has the same as the archive."""
    with installed(named(made, r"\.whl$")) as environment:
        (folder,) = environment.glob("lib/python*/site-packages/headrace")
        require_jobs(folder / "bin", folder / "lib" / "libheadrace.so", tmp_path)
        require_site(environment, tmp_path)


def test_the_library_is_as_any_other_build(made: list[Path], tmp_path: Path) -> None:
    """What test_library.py asks of build/release, but for what that takes from the system."""
    with zipfile.ZipFile(named(made, r"\.whl$")) as wheel:
        library = wheel.extract("headrace/lib/libheadrace.so", tmp_path)
    pytest_options = ["-q", "-p", "no:cacheprovider", "-k", "not libc and not glibc"]
    tests = source_tree.ROOT / "tests" / "repository" / "test_library.py"
    run(
        *(sys.executable, "-m", "pytest", *pytest_options, tests),
        cwd=source_tree.ROOT,
        env={**os.environ, "HEADRACE_LIBRARY": library},
    )


def test_the_sources_build_without_a_network(made: list[Path], tmp_path: Path) -> None:
    """The headers of all MPIs are in the archive: CMake builds the library, for which they are."""
    with tarfile.open(named(made, r"-sources\.tar\.gz$")) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    options = ["-G", "Ninja", "-DHEADRACE_TESTS=OFF", f"-DCMAKE_INSTALL_PREFIX={tmp_path / 'made'}"]
    nowhere = "http://0.0.0.0:1"
    offline = {**os.environ, **tool_environment(), "http_proxy": nowhere, "https_proxy": nowhere}
    run("cmake", "-S", source, "-B", source / "build", *options, env=offline)
    run("cmake", "--build", source / "build", env=offline)
    run("cmake", "--install", source / "build", env=offline)
    moved = (tmp_path / "made").rename(tmp_path / "moved")
    command = [sys.executable, moved / "bin" / "headrace"]
    assert package.version() in run(*command, "--version", cwd=tmp_path)
    preload = Path(run(*command, "preload", cwd=tmp_path).strip().split(":")[-1])
    assert preload == moved / "lib" / "headrace" / "headrace" / "lib" / "libheadrace.so"
