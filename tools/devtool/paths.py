"""Where things are in a checkout."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEV = ROOT / ".dev"
LOGS = DEV / "log"
VENV = DEV / "venv"
MPI = DEV / "mpi"
BUILD = ROOT / "build"
RELEASE = BUILD / "release"
LIBRARY = RELEASE / "lib" / "libheadrace.so"
PYTHON_PACKAGE = ROOT / "python"


def shown(path: Path) -> str:
    """The path as a person in the checkout would type it."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
