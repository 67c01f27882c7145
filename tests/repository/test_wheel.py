"""The wheel: builds from the checkout, installs into a fresh environment, and works there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import source_tree

pytestmark = pytest.mark.timeout(7200)

BENCH_ABIS = ("mpich", "openmpi", "mpiabi")


def run(*command: str | Path, **options: object) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        **options,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built without isolation, with the tools this test runs in: the same as in a fresh one."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    run(sys.executable, "-m", "pip", "wheel", *options, "-w", folder, source_tree.ROOT)
    (built,) = folder.glob("headrace-*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin" / "python"]
    run(*pip, "install", "--quiet", "--disable-pip-version-check", wheel)
    return folder


def test_serves_every_python_on_this_platform(wheel: Path) -> None:
    assert re.search(r"-py3-none-(many)?linux_\w+\.whl$", wheel.name), wheel.name


def test_holds_the_library_and_the_programs(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "headrace/lib/libheadrace.so" in names
    for abi in BENCH_ABIS:
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
