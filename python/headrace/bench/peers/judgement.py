"""What the results say: Headrace beside each peer's defaults and best settings, point by point."""

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from headrace.bench.jobs import HEADRACE, PLAIN
from headrace.bench.peers.grid import BY_NAME, Case, Point
from headrace.bench.peers.results import Attempt, Measured, Results
from headrace.statistics import Interval, geometric_mean, median_interval, paired_ratio

# Below, pieces are small: means and targets are told apart there.
SMALL_PIECES = 100


@dataclass(frozen=True)
class Peer:
    """Plain MPI with some settings, in one access. ratio: Headrace to it, in paired rounds; share:
    of the reference that it reaches itself, None where there is none."""

    label: str
    ratio: Interval
    share: Interval | None

    @property
    def wins_surely(self) -> bool:
        return self.ratio.high < 1


@dataclass(frozen=True)
class Verdict:
    """One access at one point. rate: Headrace's, MiB/s or openings a second; share: of the
    reference that Headrace reaches. default: plain MPI as it is; best: the best of an expert's
    settings; either is None where it could not do the job. others: share of the machine's CPU time
    that went to other work.
    """

    point: Point
    access: str
    title: str
    file_system: str
    rate: Interval
    share: Interval | None
    default: Peer | None
    best: Peer | None
    others: float
    is_noisy: bool

    @property
    def case(self) -> Case:
        return BY_NAME[self.point.case]

    @property
    def counts_for_means(self) -> bool:
        """Whether it is about pieces of a shared file."""
        return self.case.piece > 0

    @property
    def has_small_pieces(self) -> bool:
        return self.case.piece < SMALL_PIECES

    def peers(self) -> list[Peer]:
        return [peer for peer in (self.default, self.best) if peer]

    @property
    def strongest(self) -> Peer | None:
        """The peer at its best: defaults, where no setting makes it faster."""
        return min(self.peers(), key=lambda peer: peer.ratio.median, default=None)


def judge(results: Results) -> list[Verdict]:
    """All accesses of all points that have rounds and a case that this version knows."""
    return [_verdict(*one) for one in measured_accesses(results, BY_NAME)]


def measured_accesses(
    results: Results, cases: Container[str]
) -> Iterator[tuple[Measured, Attempt, str, str]]:
    """Of all points of `cases` that have rounds, the best attempt, with each access and the name of
    the file system."""
    names = directory_names(results.file_systems)
    for measured in results.points.values():
        attempt = measured.best()
        if attempt is None or not attempt.rounds or measured.point.case not in cases:
            continue
        kind = names.get(measured.point.directory, measured.point.directory)
        for access in attempt.rounds[0].rates[HEADRACE]:
            yield measured, attempt, access, kind


def directory_names(file_systems: Mapping[str, str]) -> dict[str, str]:
    """The file system's type, with the directory where there are several of a type."""
    types = list(file_systems.values())
    return {
        directory: kind if types.count(kind) == 1 else f"{kind} {directory}"
        for directory, kind in file_systems.items()
    }


def _verdict(measured: Measured, attempt: Attempt, access: str, kind: str) -> Verdict:
    reference = BY_NAME[measured.point.case].reference
    is_there = reference in attempt.labels and reference not in attempt.failed
    base = attempt.rates(reference, access) if is_there else None
    ours = attempt.rates(HEADRACE, access)

    def peer(key: str) -> Peer:
        rates = attempt.rates(key, access)
        share = paired_ratio(rates, base) if base else None
        return Peer(attempt.labels[key], paired_ratio(ours, rates), share)

    usable = [key for key in attempt.labels if key not in attempt.failed]
    hand_set = [key for key in usable if key in attempt.hand_set]
    best = max(
        hand_set, key=lambda key: median_interval(attempt.rates(key, access)).median, default=None
    )
    return Verdict(
        measured.point,
        access,
        measured.title,
        kind,
        median_interval(ours),
        paired_ratio(ours, base) if base else None,
        peer(PLAIN) if PLAIN in usable else None,
        peer(best) if best else None,
        attempt.others,
        attempt.is_noisy,
    )


def losses(verdicts: Sequence[Verdict]) -> list[tuple[Verdict, Peer]]:
    """Where a peer's defaults or best settings surely win, the worst first."""
    found = [(one, peer) for one in verdicts for peer in one.peers() if peer.wins_surely]
    return sorted(found, key=lambda pair: pair[1].ratio.median)


@dataclass(frozen=True)
class Problem:
    """What is wrong with a point, other than speed."""

    point: Point
    title: str
    text: str


def problems(results: Results, ours: Collection[str] = (HEADRACE,)) -> list[Problem]:
    """Where Headrace failed, took no part or made or read wrong data. `ours`: the ways that are
    Headrace's; the others may fail."""
    found = []
    for measured in results.points.values():
        for attempt in measured.trials:
            for text in _problems(attempt, ours):
                found.append(Problem(measured.point, measured.title, text))
    return found


def _problems(attempt: Attempt, ours: Collection[str]) -> Iterable[str]:
    if attempt.error:
        yield attempt.error
    for way in ours:
        if attempt.failed.get(way):
            yield f"left out: {attempt.labels.get(way, way)}: {attempt.failed[way]}"
        if attempt.damaged.get(way):
            yield f"{attempt.damaged[way]:,} bytes were wrong with {attempt.labels.get(way, way)}"
    if not attempt.took_part:
        yield "Headrace did not carry the file"
    for way, same in attempt.identical.items():
        if not same and not attempt.damaged.get(way):
            yield f"the file is not that of {attempt.labels[way]}"


def mean_ratio(
    verdicts: Iterable[Verdict], peer: Callable[[Verdict], Peer | None]
) -> tuple[float, int]:
    """Geometric mean of the median ratios to a peer, and of how many cells; NaN of none."""
    peers = [one for one in map(peer, verdicts) if one]
    ratios = [one.ratio.median for one in peers]
    return (geometric_mean(ratios) if ratios else float("nan")), len(ratios)


def strongest_of_all(verdicts: Sequence[Verdict]) -> list[float]:
    """For each job, file system, access and number of ranks: Headrace's share of the reference
    under its slowest MPI over the greatest share that any MPI reaches by itself."""
    groups: dict[tuple[str, int, str, str], list[Verdict]] = {}
    for one in verdicts:
        if one.share and one.strongest and one.strongest.share:
            key = (one.point.case, one.point.ranks, one.point.directory, one.access)
            groups.setdefault(key, []).append(one)
    return [
        min(one.share.median for one in group if one.share)
        / max(peer.share.median for one in group for peer in one.peers() if peer.share)
        for group in groups.values()
    ]
