"""The wheel: builds from the checkout, installs into a fresh environment, and works there."""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import source_tree
from installed import ABIS, installed, require_jobs, require_site, run

pytestmark = pytest.mark.timeout(7200)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built without isolation, with the tools this test runs in: the same as in a fresh one."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    run(sys.executable, "-m", "pip", "wheel", *options, "-w", folder, source_tree.ROOT)
    (built,) = folder.glob("headrace-*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path) -> Iterator[Path]:
    with installed(wheel) as folder:
        yield folder


def test_serves_every_python_on_this_platform(wheel: Path) -> None:
    assert re.search(r"-py3-none-(many)?linux_\w+\.whl$", wheel.name), wheel.name


def test_holds_the_library_and_the_programs(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "headrace/lib/libheadrace.so" in names
    for abi in ABIS:
        assert f"headrace/bin/ior-{abi}" in names
    assert "headrace/bin/copy" in names
    assert not [name for name in names if name.endswith((".a", ".cc"))]
    # Those for programs alone, of Headrace's own functions.
    headers = {name for name in names if name.endswith(".h")}
    assert headers == {"headrace/include/headrace.h", "headrace/include/pat_api.h"}


def test_names_its_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        assert "License-Expression: Apache-2.0" in archive.read(metadata).decode()
        assert any(name.endswith("/licenses/LICENSE") for name in archive.namelist())


def test_command_tells_its_version(environment: Path, wheel: Path, tmp_path: Path) -> None:
    version = wheel.name.split("-")[1]
    assert version in run(environment / "bin" / "headrace", "--version", cwd=tmp_path)


def test_command_finds_its_own_library(environment: Path, tmp_path: Path) -> None:
    printed = run(environment / "bin" / "headrace", "preload", cwd=tmp_path).strip()
    assert Path(printed.split(":")[-1]).is_relative_to(environment), printed
    assert printed.endswith("/headrace/lib/libheadrace.so")


def test_its_programs_and_its_library_run_jobs(environment: Path, tmp_path: Path) -> None:
    (package,) = environment.glob("lib/python*/site-packages/headrace")
    require_jobs(package / "bin", package / "lib" / "libheadrace.so", tmp_path)
    require_site(environment, tmp_path)
