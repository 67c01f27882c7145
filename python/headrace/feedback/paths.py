"""Which source file a remark is about: compilers tell names as they were given them, debugging
information tells where the file was when it was compiled, and it may have been moved since."""

import os
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

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


def pairs(told: Iterable[tuple[str, Path]], known: Iterable[str]) -> dict[tuple[str, Path], str]:
    """told: names in remarks, with the file that has the remark, in whose folder a compiler may
    have run. known: of debugging information. Each told name -> the one that it is most like,
    unless others are more like that one."""
    files = list(known)
    scores: dict[tuple[str, Path], tuple[int, str]] = {}
    best: dict[str, int] = dict.fromkeys(files, 0)
    for name, origin in set(told):
        full = name if name.startswith("/") else f"{origin.parent.absolute()}/{name}"
        score, file = max(((alike(full, file), file) for file in files), default=(0, ""))
        if score:
            scores[name, origin] = score, file
            best[file] = max(best[file], score)
    return {key: file for key, (score, file) in scores.items() if score == best[file]}


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
