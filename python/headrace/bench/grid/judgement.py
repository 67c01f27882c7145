"""What the results say: the default beside the best setting, cell by cell, and the aims."""

from collections.abc import Sequence
from dataclasses import dataclass

from headrace.bench.grid.cases import BY_NAME
from headrace.bench.grid.racing import winners
from headrace.bench.grid.settings import acting, acts_in
from headrace.bench.jobs import HEADRACE
from headrace.bench.peers.grid import Case, Point
from headrace.bench.peers.judgement import measured_accesses
from headrace.bench.peers.results import Attempt, Results
from headrace.statistics import Interval, median_interval, paired_ratio

# The default is to reach this share of the best setting's speed ...
NEAR = 0.9
# ... in so large a part of the cells, and this share in each.
PART = 0.95
LEAST = 0.8


@dataclass(frozen=True)
class Best:
    """The fastest setting of a search. rate: MiB/s; ratio: the default to it, in paired rounds made
    after the search; fastest: the fastest of these rounds to its fastest, which other work on the
    machine disturbs least; searched: as ratio, by the search alone, in which luck chose the best.
    """

    label: str
    rate: Interval
    ratio: Interval
    fastest: float
    searched: float


@dataclass(frozen=True)
class Cell:
    """One access at one point. rate: the default's, MiB/s; best: of the settings that promise the
    same; opt_in: of those that must be asked for, None where there are none; settings: how many
    were tried. taken: the default's path, and its reason; others: share of the machine's CPU time
    that went to other work."""

    point: Point
    access: str
    title: str
    file_system: str
    rate: Interval
    best: Best
    opt_in: Best | None
    settings: int
    taken: str
    reason: str
    others: float
    is_noisy: bool

    @property
    def case(self) -> Case:
        return BY_NAME[self.point.case]

    @property
    def is_lost(self) -> bool:
        return self.best.ratio.median < NEAR

    @property
    def is_same(self) -> bool:
        """Whether the best setting only asks for the path that the default took: then the ratio
        shows the noise."""
        own = [word for word in self.best.label.split() if acts_in(word, self.access)]
        return own == [f"{self.access}_path={self.taken}"]

    @property
    def is_surely_lost(self) -> bool:
        return self.best.ratio.is_confident and self.best.ratio.high < NEAR


def judge(results: Results) -> list[Cell]:
    """All accesses of all points whose best setting was confirmed."""
    cells = []
    for measured, attempt, access, kind in measured_accesses(results, BY_NAME):
        search = measured.search
        if search is None or not search.rounds:
            continue
        best = _best(search, attempt, access, opt_in=False)
        if best is None:
            continue
        taken, reason = attempt.paths.get(access, ["", ""])
        cells.append(
            Cell(
                measured.point,
                access,
                measured.title,
                kind,
                median_interval(attempt.rates(HEADRACE, access)),
                best,
                _best(search, attempt, access, opt_in=True),
                len(search.labels) - 1,
                taken,
                reason,
                attempt.others,
                attempt.is_noisy,
            )
        )
    return cells


def _best(search: Attempt, attempt: Attempt, access: str, opt_in: bool) -> Best | None:
    """None where there is none, or where it failed when it was to be confirmed."""
    key = winners(search).get((access, opt_in))
    if key is None or key not in attempt.labels or key in attempt.failed:
        return None
    ours, theirs = attempt.rates(HEADRACE, access), attempt.rates(key, access)
    found = paired_ratio(search.rates(HEADRACE, access), search.rates(key, access))
    return Best(
        acting(search.labels[key], access),
        median_interval(theirs),
        paired_ratio(ours, theirs),
        max(ours) / max(theirs),
        found.median,
    )


def losing_first(cells: Sequence[Cell]) -> list[Cell]:
    """By the share of the best setting that the default reaches; what is sure comes first."""
    return sorted(cells, key=lambda cell: (not cell.is_surely_lost, cell.best.ratio.median))


@dataclass(frozen=True)
class Aims:
    """How far the aims are met. lost, surely: cells below NEAR, by the median and by the whole
    interval; surely_near: those whose whole interval is not; lowest: the lowest cell."""

    count: int
    lost: int
    surely: int
    surely_near: int
    lowest: Cell

    @property
    def part(self) -> float:
        return 1 - self.lost / self.count

    @property
    def are_met(self) -> bool:
        return self.part >= PART and self.lowest.best.ratio.median >= LEAST


def aims(cells: Sequence[Cell]) -> Aims:
    """Of at least one cell."""
    return Aims(
        len(cells),
        sum(cell.is_lost for cell in cells),
        sum(cell.is_surely_lost for cell in cells),
        sum(cell.best.ratio.is_confident and cell.best.ratio.low >= NEAR for cell in cells),
        min(cells, key=lambda cell: cell.best.ratio.median),
    )
