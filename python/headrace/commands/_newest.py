"""Directories of records that commands are given in place of one."""

from collections.abc import Iterable
from pathlib import Path

from headrace.errors import say
from headrace.texts import shown


def newest_of_directories(files: Iterable[Path]) -> tuple[Path, ...]:
    """A directory of records stands for its newest one, which a line names. Other files and
    directories stay."""
    return tuple(_newest(file) for file in files)


def _newest(file: Path) -> Path:
    found = [path for path in file.glob("*.hrc") if path.is_file()] if file.is_dir() else []
    if not found:
        return file
    newest = max(found, key=lambda path: path.stat().st_mtime)
    if len(found) > 1:
        say(f"takes '{shown(str(newest))}', the newest of {len(found)} records there")
    return newest
