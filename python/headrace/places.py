"""Where this package lies, and folders for everybody."""

from pathlib import Path

PACKAGE_DIRECTORY = Path(__file__).resolve().parent


def checkout_directory() -> Path | None:
    """The source tree this package runs from, or None when it is installed."""
    root = PACKAGE_DIRECTORY.parent.parent
    return root if (root / "CMakeLists.txt").is_file() else None


def make_public_directory(folder: Path) -> None:
    """Makes a folder, and those above it that are missing, whatever the umask says: everybody can
    read them, and nobody else can write. Errors: OSError."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(exist_ok=True)
        one.chmod(0o755)
