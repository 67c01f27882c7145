"""Which source file a remark is about: compilers tell names as they were given them, debugging
information tells where the file was when it was compiled, and it may have been moved since."""

import os
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

LARGEST_SOURCE = 16 << 20


def alike(one: str, other: str) -> int:
    """How many of their last parts are the same."""
    count = 0
    for left, right in zip(reversed(_parts(one)), reversed(_parts(other)), strict=False):
        if left != right:
            break
        count += 1
    return count


@cache
def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in os.path.normpath(path).split("/") if part not in ("", "..", "."))


class Match(NamedTuple):
    """files: which the name may mean, more than one if they are as like it. is_certain: it is the
    file's whole name."""

    files: tuple[str, ...]
    is_certain: bool


def pairs(told: Iterable[tuple[str, Path]], known: Iterable[str]) -> dict[tuple[str, Path], Match]:
    """told: names in remarks, with the file that has the remark, in whose folder, or in one above,
    a compiler may have run. known: of debugging information. Each told name -> those that it is
    most like, unless others are more like these."""
    files = sorted(set(known))
    scores: dict[tuple[str, Path], dict[str, int]] = {}
    best: dict[str, int] = dict.fromkeys(files, 0)
    for name, origin in set(told):
        places = _places(name, origin)
        likes = {
            file: max(alike(place, file) for place in places)
            for file in files
            if not (name.startswith("/") and _are_two(name, file))
        }
        most = max(likes.values(), default=0)
        if most:
            scores[name, origin] = {file: most for file, like in likes.items() if like == most}
            best |= {file: max(best[file], most) for file in scores[name, origin]}
    matches = {}
    for key, own in scores.items():
        kept = tuple(file for file, score in own.items() if score == best[file])
        if kept:
            whole = _parts(_places(*key)[0])
            matches[key] = Match(kept, any(_parts(file) == whole for file in kept))
    return matches


def _places(name: str, origin: Path) -> list[str]:
    if name.startswith("/"):
        return [name]
    return [f"{folder}/{name}" for folder in origin.absolute().parents]


def _are_two(one: str, other: str) -> bool:
    """Both are there, and are not the same file."""
    try:
        return one != other and not os.path.samefile(one, other)
    except (OSError, ValueError):
        return False


def source(file: str, roots: Sequence[Path]) -> list[str] | None:
    """The lines of a source file: where it was compiled, or below one of these folders by as much
    of its path as there is."""
    parts = _parts(file)
    places = [Path(file)] if file.startswith("/") else []
    places += [root.joinpath(*parts[at:]) for at in range(len(parts)) for root in roots]
    for place in places:
        try:
            if place.is_file() and place.stat().st_size <= LARGEST_SOURCE:
                return place.read_text("utf-8", "backslashreplace").split("\n")
        except (OSError, ValueError):
            continue
    return None
