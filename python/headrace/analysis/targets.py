"""Storage targets: which files lie on which, and whether one of them is slow.

A target's files are compared by their time for a byte, since it is the target's rate that they have
in common, and by the median, since one file may be slow for another reason.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

LEAST_FILES = 5
LEAST_TARGETS = 3


@dataclass(frozen=True)
class Placed:
    """A file, what was moved of it, and the targets on which it lies. time: ns."""

    targets: tuple[int, ...]
    bytes: int
    time: int


@dataclass(frozen=True)
class Target:
    """files: with a stripe there. median, longest: ns of a file. per_byte: ns, the median's."""

    index: int
    files: int
    bytes: int
    median: float
    longest: int
    per_byte: float


@dataclass(frozen=True)
class Slowest:
    """ratio: its time for a byte by that of the middle target. others_median: ns, the middle of the
    other targets' medians. longest_elsewhere: ns, of the files that do not lie on it."""

    target: Target
    ratio: float
    others_median: float
    longest_elsewhere: int


def targets(files: Iterable[Placed]) -> tuple[Target, ...]:
    """The slowest for a byte first. A file of several stripes counts on each of its targets."""
    parts: dict[int, list[Placed]] = defaultdict(list)
    for one in files:
        if one.bytes and one.time:
            for index in set(one.targets):
                parts[index].append(one)
    made = [
        Target(
            index,
            len(group),
            sum(one.bytes // len(set(one.targets)) for one in group),
            median(one.time for one in group),
            max(one.time for one in group),
            median(one.time / one.bytes for one in group),
        )
        for index, group in parts.items()
    ]
    return tuple(sorted(made, key=lambda one: (-one.per_byte, one.index)))


def slowest(files: Iterable[Placed], every: Iterable[Target]) -> Slowest | None:
    """Of the targets that have files enough; None if these are too few to compare."""
    known = [one for one in every if one.files >= LEAST_FILES]
    if len(known) < LEAST_TARGETS:
        return None
    first = known[0]
    middle = median(one.per_byte for one in known)
    elsewhere = [one.time for one in files if first.index not in one.targets]
    return Slowest(
        first,
        first.per_byte / middle,
        median(one.median for one in known[1:]),
        max(elsewhere, default=0),
    )
