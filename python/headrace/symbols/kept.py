"""Files of code, or of its debugging information, by build-id: those that the user keeps in a
folder, whatever their names are, and those of the system."""

import os
import re
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from headrace.elf.symbols import build_id as build_id_of

# Where packages of debugging information lay theirs.
SYSTEM = Path("/usr/lib/debug")
_BUILD_ID = re.compile("[0-9a-f]{6,}")
_ELF = b"\x7fELF"


class KeptFiles:
    """places: folders, or files."""

    def __init__(self, places: Iterable[Path] = ()):
        self._places = tuple(places)
        self._below: dict[Path, dict[str, list[Path]]] = {}

    def of(self, build_id: str) -> list[Path]:
        if not _BUILD_ID.fullmatch(build_id):
            return []
        found = []
        for place in self._places:
            found += _named(place, build_id) or self._all_below(place).get(build_id, [])
        return found + _named(SYSTEM, build_id)

    def _all_below(self, place: Path) -> dict[str, list[Path]]:
        """By build-id. Read when the first is asked for."""
        if place not in self._below:
            self._below[place] = _by_build_id(place)
        return self._below[place]


NONE_KEPT = KeptFiles()


def _named(place: Path, build_id: str) -> list[Path]:
    """What is called as its build-id, as in /usr/lib/debug."""
    name = place / ".build-id" / build_id[:2] / build_id[2:]
    paths = (name.with_name(f"{name.name}.debug"), name)
    return [path for path in paths if path.is_file() and build_id_of(path) == build_id]


def _by_build_id(place: Path) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = defaultdict(list)
    for path in _files(place):
        build_id = build_id_of(path) if _is_elf(path) else None
        if build_id:
            found[build_id].append(path)
    return found


def _files(place: Path) -> Iterator[Path]:
    if place.is_file():
        yield place
    for folder, folders, names in os.walk(place):
        folders.sort()
        for name in sorted(names):
            yield Path(folder, name)


def _is_elf(path: Path) -> bool:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        with path.open("rb") as file:
            return file.read(len(_ELF)) == _ELF
    except OSError:
        return False
