"""What all exports write: of each thread its stacks with their weights."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from headrace.errors import HeadraceError
from headrace.profile.samples import Samples, Thread
from headrace.profile.stacks import stack
from headrace.record.tables import Record
from headrace.symbols.resolver import Symbols, resolve_frames
from headrace.symbols.tools import Line


@dataclass(frozen=True)
class Stack:
    """lines: outermost first, inlined functions included. time: ns."""

    lines: tuple[Line, ...]
    samples: int
    time: int


def stacks_by_thread(record: Record) -> dict[Thread, list[Stack]]:
    """Raises HeadraceError where the record has no samples."""
    samples = Samples(record)
    if not samples.rows:
        raise _nothing(record.path)
    symbols = resolve_frames({frame for path in samples.paths() for frame in path})
    threads = {(one.rank, one.number): one for one in samples.threads}
    made: dict[Thread, list[Stack]] = defaultdict(list)
    known: dict[int, tuple[Line, ...]] = {}
    for row in samples.rows:
        thread = threads.get((row.rank, row.thread))
        if thread is not None:
            lines = _lines(row.path, samples, symbols, known)
            made[thread].append(Stack(lines, row.samples, row.time))
    return dict(made)


def _lines(
    path: int, samples: Samples, symbols: Symbols, known: dict[int, tuple[Line, ...]]
) -> tuple[Line, ...]:
    if path not in known:
        lines = [line for one in stack(samples.frames(path), symbols) for line in one.lines]
        known[path] = tuple(reversed(lines))
    return known[path]


def title(thread: Thread) -> str:
    name = f" ({thread.name})" if thread.name else ""
    return f"rank {thread.rank} thread {thread.number}{name}"


def by_rank(stacks: Mapping[Thread, list[Stack]]) -> list[tuple[Thread, list[Stack]]]:
    return sorted(stacks.items(), key=lambda item: (item[0].rank, item[0].number))


def _nothing(path: Path) -> HeadraceError:
    return HeadraceError(
        f"'{path}' has no samples",
        "the run was not sampled",
        "run the program by 'headrace profile'",
        1,
    )
