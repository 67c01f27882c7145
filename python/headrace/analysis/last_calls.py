"""In which calls ranks were that had not come to the end of their run, and who was outside MPI."""

from collections import defaultdict
from dataclasses import dataclass

from headrace.analysis.paths import UNKNOWN, Frame, Paths
from headrace.record.tables import Record


@dataclass(frozen=True)
class Waiter:
    """A thread of a rank. time: ns since its call began, or since it ended."""

    rank: int
    thread: int
    time: int


@dataclass(frozen=True)
class LastCall:
    """Threads whose last call was of this procedure by this path, the longest first. is_open: the
    call had not ended; else they were outside MPI."""

    procedure: str
    frames: tuple[Frame, ...]
    is_open: bool
    waiters: tuple[Waiter, ...]

    @property
    def longest(self) -> int:
        return self.waiters[0].time


def last_calls(record: Record, paths: Paths, most_frames: int) -> tuple[LastCall, ...]:
    """Calls that had not ended before others, each by the longest time."""
    groups = defaultdict(list)
    for node in record.nodes:
        places = paths.add(node)
        names = node.texts_of("last_calls", "procedure")
        rows = node["last_calls"].rows("rank", "thread", "path", "open", "time")
        for name, (rank, thread, path, is_open, time) in zip(names, rows, strict=True):
            place = places[path] if path >= 0 else UNKNOWN
            groups[not is_open, name or "?", place].append(Waiter(rank, thread, time))
    made = [
        LastCall(
            name,
            paths.frames(place, most_frames),
            not is_closed,
            tuple(sorted(own, key=lambda one: (-one.time, one.rank, one.thread))),
        )
        for (is_closed, name, place), own in groups.items()
    ]
    return tuple(sorted(made, key=lambda one: (not one.is_open, -one.longest, one.procedure)))
