"""Files of rank orders in Cray's grammar, as MPICH_RANK_ORDER has them.

Ranks and ranges of ranks, up (0-15) or down (15-0), with commas or blanks between them; entries may
be empty, lines go on from one another, and # begins a comment.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from headrace.errors import HeadraceError
from headrace.place.grid import MOST_RANKS

ENTRY = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)
LARGEST_FILE = 1 << 28  # bytes
LONGEST_SHOWN = 40
SHORTEST_RANGE = 3


def read(path: Path, ranks: int | None = None) -> np.ndarray:
    """The order in a file. Raises HeadraceError, which names the line."""
    try:
        if not path.is_file():
            raise HeadraceError(
                f"order file '{path}' cannot be read", "it is no file", "check its name"
            )
        if path.stat().st_size > LARGEST_FILE:
            raise HeadraceError(
                f"order file '{path}' is not read", "it has more than 256 MiB", "give another file"
            )
        text = path.read_text("utf-8", "replace")
    except OSError as error:
        why = error.strerror or str(error)
        raise HeadraceError(f"order file '{path}' cannot be read", why, "check its name") from error
    return parse(text, ranks, f"order file '{path}'")


def parse(text: str, ranks: int | None = None, name: str = "the order") -> np.ndarray:
    """The ranks in the order of their places: each of 0 to `ranks` - 1 once, or of as many as the
    text has."""
    order: list[int] = []
    lines: dict[int, int] = {}  # by rank, the line that names it
    number = 0
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{name}, line {number}"
        for rank in _ranks(line, where):
            if ranks is not None and rank >= ranks:
                raise HeadraceError(
                    f"{where} names rank {rank}",
                    f"the job has {ranks} ranks, 0 to {ranks - 1}",
                    "make the order for this number of ranks",
                )
            if rank in lines:
                raise HeadraceError(
                    f"{where} names rank {rank} again",
                    f"line {lines[rank]} has it already",
                    "leave one of them out",
                )
            if len(order) >= MOST_RANKS:
                raise HeadraceError(
                    f"{where} goes too far", f"it has more than {MOST_RANKS} ranks", "shorten it"
                )
            lines[rank] = number
            order.append(rank)
    _require_all(order, ranks, f"{name}, line {max(number, 1)}, the last,")
    return np.asarray(order, dtype=np.int64)


def _ranks(line: str, where: str) -> Iterator[int]:
    for word in re.split(r"[,\s]+", line.partition("#")[0]):
        if not word:
            continue
        found = ENTRY.fullmatch(word)
        if found is None:
            raise HeadraceError(
                f"{where} has '{word[:LONGEST_SHOWN]}'",
                "it is neither a rank nor a range",
                "write for example 0-15 or 0,4,1,5",
            )
        first = int(found[1])
        last = int(found[2]) if found[2] else first
        yield from range(first, last + 1) if first <= last else range(first, last - 1, -1)


def _require_all(order: Sequence[int], ranks: int | None, where: str) -> None:
    expected = len(order) if ranks is None else ranks
    if not order:
        raise HeadraceError(f"{where} is reached without a rank", "it is empty", "list all ranks")
    if len(order) == expected and max(order) == expected - 1:
        return
    missing = np.flatnonzero(np.bincount(order, minlength=expected)[:expected] == 0)
    why = f"of {max(expected, max(order) + 1)} ranks it has {len(order)}"
    raise HeadraceError(
        f"{where} is reached without rank {missing[0]}", why, "list every rank of the job once"
    )


def written(order: Sequence[int], sizes: Sequence[int], comments: Iterable[str] = ()) -> str:
    """An order as a file: a line for each node."""
    lines = [f"# {one}" for one in comments]
    start = 0
    ranks = list(map(int, order))
    for size in sizes:
        lines.append(",".join(entries(ranks[start : start + size])))
        start += size
    return "\n".join(lines) + "\n"


def entries(ranks: Sequence[int]) -> Iterator[str]:
    start = 0
    while start < len(ranks):
        end = start + 1
        steps = {later - earlier for earlier, later in pairwise(ranks[start : start + 2])}
        step = steps.pop() if steps else 0
        if step in (1, -1):
            while end < len(ranks) and ranks[end] - ranks[end - 1] == step:
                end += 1
        if end - start >= SHORTEST_RANGE:
            yield f"{ranks[start]}-{ranks[end - 1]}"
        else:
            end = start + 1
            yield str(ranks[start])
        start = end
