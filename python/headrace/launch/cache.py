"""Files that launchers or ranks read: named by what they hold, so that they do not pile up."""

import os
from collections.abc import Mapping
from pathlib import Path

from headrace.errors import unwritable
from headrace.places import write_whole


def folder_for_files(environ: Mapping[str, str], kind: str) -> Path:
    """Where files of a kind are kept."""
    base = environ.get("XDG_CACHE_HOME", "")
    home = environ.get("HOME") or os.path.expanduser("~")
    return (Path(base) if base.startswith("/") else Path(home) / ".cache") / "headrace" / kind


def write(file: tuple[Path, str]) -> None:
    """Writes a file, as others may do at the same time. A launch does not wait for the disk."""
    path, text = file
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text, lasting=False)
    except OSError as error:
        raise unwritable(path, error, "set XDG_CACHE_HOME to a directory of yours") from error
