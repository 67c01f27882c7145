"""What a Darshan log holds, once it is read: plain values, checked.

A log comes from outside. What cannot be is unknown here, as is what a version of Darshan did not
count: None, never 0.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headrace.darshan.counters import BINS, EVERYBODY, INTERFACES, LUSTRE

NS = 1e9
MOST_RANKS = 1 << 22  # several times what the largest machines have cores
LARGEST = 1 << 62  # of a counter
LONGEST_RUN = 1 << 32  # seconds, more than a century
WHOLE_SECOND = 1.0  # older logs tell the run's time in these


class Impossible(Exception):
    """Values that are no log's; the text says why."""


@dataclass(frozen=True, slots=True)
class Extreme:
    """The rank of all that was fastest, or slowest, with one file. time: ns."""

    rank: int
    time: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Use:
    """What one rank did with one file by one interface; EVERYBODY: all ranks together. Counters and
    times (ns) by Darshan's names without the module's prefix."""

    file: str
    interface: str
    rank: int
    counters: Mapping[str, int]
    times: Mapping[str, int]

    def count(self, *names: str) -> int | None:
        """The sum of those that are known; None if none is."""
        known = [self.counters[name] for name in names if name in self.counters]
        return sum(known) if known else None

    def span(self, name: str) -> tuple[int, int] | None:
        """From the begin of the first to the end of the last of these operations, in ns."""
        start = self.times.get(f"F_{name}_START_TIMESTAMP", 0)
        end = self.times.get(f"F_{name}_END_TIMESTAMP", 0)
        return (start, end) if end and start <= end else None

    def extreme(self, who: str) -> Extreme | None:
        """who: FASTEST or SLOWEST; None but for EVERYBODY."""
        rank = self.counters.get(f"{who}_RANK")
        time = self.times.get(f"F_{who}_RANK_TIME")
        if self.rank != EVERYBODY or rank is None or time is None:
            return None
        return Extreme(rank, time, self.counters.get(f"{who}_RANK_BYTES", 0))

    def bins(self, what: str) -> list[int] | None:
        """Calls by bytes; what: READ or WRITE."""
        part = "_AGG" if self.interface == "MPI-IO" else ""
        found = [self.counters.get(f"SIZE_{what}{part}_{size}") for size in BINS]
        return None if None in found else found


@dataclass(frozen=True)
class Log:
    """elapsed: ns. stripes: of each file its storage targets. modules: all that the log has.
    lacks: why it is not complete. in_part: modules of which records are missing. impossible: how
    many times were no times."""

    path: Path
    ranks: int
    elapsed: int
    start: int
    command: str
    version: str
    modules: tuple[str, ...]
    uses: tuple[Use, ...]
    stripes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    lacks: tuple[str, ...] = ()
    in_part: frozenset[str] = frozenset()
    impossible: int = 0


def checked(path: Path, found: Mapping[str, Any]) -> Log:
    """From what the child has written. Raises Impossible."""
    try:
        return _checked(path, found)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise Impossible("its values do not fit together") from error


def _checked(path: Path, found: Mapping[str, Any]) -> Log:
    job, modules = found["job"], found["modules"]
    ranks, seconds = int(job["ranks"]), float(job["seconds"])
    if not 0 < ranks < MOST_RANKS:
        raise Impossible(f"it tells of {ranks} ranks")
    if not 0 <= seconds < LONGEST_RUN:
        raise Impossible(f"it tells of a run of {seconds:g} s")
    names = {str(key): str(name) for key, name in found["names"].items()}
    made = _Uses(names, ranks, seconds + WHOLE_SECOND)
    damage = [f"its names of files cannot be read: {found['damage']}"] if found["damage"] else []
    partial = []
    for name, module in modules.items():
        if module.get("damage"):
            damage.append(f"module {name} cannot be read to its end: {module['damage']}")
        if module["partial"]:
            partial.append(f"Darshan had no room for all records of module {name}")
        if name in INTERFACES:
            made.add(name, module["columns"], module["rows"])
    if damage and not made.uses:
        raise Impossible(f"none of its records can be read: {damage[0]}")
    stripes = {
        made.name(row[0]): tuple(map(int, row[2]))
        for row in modules.get(LUSTRE, {"rows": ()})["rows"]
    }
    return Log(
        path=path,
        ranks=ranks,
        elapsed=round(seconds * NS),
        start=int(job["start"]),
        command=str(job["command"]).strip(),
        version=str(job["version"]),
        modules=tuple(modules),
        uses=tuple(made.uses),
        stripes=stripes,
        lacks=(*damage, *partial),
        in_part=frozenset(
            name for name, one in modules.items() if one["partial"] or one.get("damage")
        ),
        impossible=made.impossible,
    )


class _Uses:
    """seconds: of the run, at most. No record has more of one kind for each rank, since Darshan
    counts what threads do at the same time once."""

    def __init__(self, names: Mapping[str, str], ranks: int, seconds: float):
        self._names = names
        self._ranks = ranks
        self._seconds = seconds
        self.uses: list[Use] = []
        self.impossible = 0

    def name(self, number: str) -> str:
        """A file's name, or its number in the log if that has no name for it."""
        return self._names.get(number) or f"(file {number})"

    def add(self, interface: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        for number, rank, *values in rows:
            if not EVERYBODY <= rank < self._ranks:
                raise Impossible(f"it tells of rank {rank} of {self._ranks}")
            counters, times = {}, {}
            longest = self._seconds * (self._ranks if rank == EVERYBODY else 1)
            for name, value in zip(columns, values, strict=True):
                if not name.startswith("F_"):
                    if 0 <= value < LARGEST:
                        counters[name] = int(value)
                elif 0 <= value <= longest:
                    times[name] = round(value * NS)
                elif math.isnan(value) or value != -1:
                    self.impossible += 1
            self.uses.append(Use(self.name(str(number)), interface, int(rank), counters, times))
