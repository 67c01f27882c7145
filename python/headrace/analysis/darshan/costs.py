"""What ranks spent on one kind of I/O, and what the run would gain without it.

A rank's other time is computing or waiting, and a log does not tell which. So of the bound that
analysis/costs.py has, the lower end takes it that no rank waited: it is the least over ranks of
their time in it. The upper end is no more than the run, than the time of all ranks together, and
than the time in which any rank was in it: outside of that nothing would go faster.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from headrace.analysis.costs import SMALL_TRANSFER, Bound
from headrace.analysis.darshan.outer import (
    KINDS,
    META,
    READ,
    WRITE,
    OneFile,
    Part,
    extremes,
    part,
    union,
)  # fmt: skip
from headrace.analysis.darshan.spread import Spread, parts_of
from headrace.darshan.counters import EVERYBODY
from headrace.darshan.log import Log, Use

NAMES = {"io": KINDS, "io_read": (READ,), "io_write": (WRITE,), "io_open": (META,)}
SMALL = "small_io"


@dataclass
class Cost:
    """spread: ns. least: ns that each rank surely spent in it, of files that all share. spans: in
    which it lies; None if that is not known of all of it. is_capped: ranks had more than the run,
    so threads overlapped."""

    spread: Spread
    calls: int = 0
    bytes: int = 0
    least: float = 0.0
    is_capped: bool = False
    own: Spread | None = None
    spans: list[tuple[int, int]] | None = field(default_factory=list)

    def __post_init__(self) -> None:
        self.own = Spread(self.spread.ranks)

    def add(self, use: Use, kinds: Iterable[str]) -> None:
        parts = [part(use, kind) for kind in kinds]
        time = sum(one.time or 0 for one in parts)
        self.calls += sum(one.calls or 0 for one in parts)
        self.bytes += sum(one.bytes for one in parts)
        if not time:
            return
        if use.rank == EVERYBODY:
            self._share(use, time)
        else:
            self.spread.add(use.rank, time)
            self.own.add(use.rank, time)
        self._spans(parts)

    def _share(self, use: Use, time: int) -> None:
        whole = sum(part(use, kind).time or 0 for kind in KINDS)
        ends = extremes(use)
        self.spread.share(time, parts_of(ends, time / whole))
        if ends:
            self.least += max(0, ends[0].time - (whole - time))

    def _spans(self, parts: Iterable[Part]) -> None:
        for one in parts:
            if one.time and one.span is None:
                self.spans = None
            elif one.time and self.spans is not None:
                self.spans.append(one.span)

    def bound(self, elapsed: int) -> Bound:
        upper = min(elapsed, self.spread.total)
        if self.spans is not None:
            upper = min(upper, union(self.spans))
        return Bound(round(min(upper, self.least + self.own.least)), round(upper))

    def limited(self, elapsed: int) -> "Cost":
        """No rank is longer in it than the run."""
        if elapsed and self.spread.greatest > elapsed:
            self.spread = self.spread.capped(elapsed)
            self.is_capped = True
        return self


def costs(log: Log, files: Iterable[OneFile]) -> dict[str, Cost]:
    """By the names that analysis/costs.py has for them."""
    made = {name: Cost(Spread(log.ranks)) for name in (*NAMES, SMALL)}
    for one in files:
        for use in one.uses:
            for name, kinds in NAMES.items():
                made[name].add(use, kinds)
        for kind in (READ, WRITE):
            if _is_small(one, kind):
                for use in one.uses:
                    made[SMALL].add(use, (kind,))
    return {name: cost.limited(log.elapsed) for name, cost in made.items()}


def _is_small(one: OneFile, kind: str) -> bool:
    """Whether the file's transfers are small on average, and none is collective. What goes by STDIO
    is gathered by libc."""
    parts = [part(use, kind) for use in one.uses if use.interface != "STDIO"]
    calls = sum(each.calls or 0 for each in parts)
    together = any(each.together for each in parts)
    return bool(calls) and not together and sum(e.bytes for e in parts) <= SMALL_TRANSFER * calls


def moved(log: Log, files: Iterable[OneFile], what: Callable[[Use], int]) -> Spread:
    """Bytes by rank."""
    made = Spread(log.ranks)
    for one in files:
        for use in one.uses:
            if use.rank == EVERYBODY:
                known = [(end.rank, float(end.bytes)) for end in extremes(use)]
                made.share(what(use), known)
            else:
                made.add(use.rank, what(use))
    return made
