"""Headrace: a preloaded performance layer for MPI programs."""

import re
from pathlib import Path


def _version() -> str:
    """The project's version: CMakeLists.txt has it in a checkout, the metadata of a wheel else."""
    project = Path(__file__).resolve().parent.parent.parent / "CMakeLists.txt"
    if project.is_file():
        match = re.search(r"project\(headrace VERSION ([0-9.]+)", project.read_text())
        if match:
            return match[1]
    from importlib import metadata  # here, since it takes 20 ms to load

    try:
        return metadata.version("headrace")
    except metadata.PackageNotFoundError:
        return "unknown"


__version__ = _version()
