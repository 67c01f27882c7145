"""Where this package lies."""

from pathlib import Path

PACKAGE_DIRECTORY = Path(__file__).resolve().parent


def checkout_directory() -> Path | None:
    """The source tree this package runs from, or None when it is installed."""
    root = PACKAGE_DIRECTORY.parent.parent
    return root if (root / "CMakeLists.txt").is_file() else None
