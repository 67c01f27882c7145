"""What Headrace is to reach, as data, and what it reached."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headrace.bench.peers.judgement import Peer, Verdict, losses, mean_ratio

DECISIVE_RANKS = 2
CROWDED_RANKS = 8
EVERYTHING = 1 << 62


@dataclass(frozen=True)
class Target:
    """A least value that must be reached at each cell, or by the mean of all, that it is about.

    accesses, groups, ranks: which cells; groups empty: those with pieces. pieces: from so many
    bytes to below so many. measure: "share" of the reference or "ratio" to the strongest peer, both
    at each cell, or the "mean" ratio to `peer`.
    """

    text: str
    least: float
    measure: str
    accesses: tuple[str, ...] = ("write", "read")
    groups: tuple[str, ...] = ()
    pieces: tuple[int, int] = (0, EVERYTHING)
    ranks: int = DECISIVE_RANKS
    peer: str = ""

    def holds_for(self, one: Verdict) -> bool:
        wanted = one.case.group in self.groups if self.groups else one.counts_for_means
        in_pieces = self.pieces[0] <= one.case.piece < self.pieces[1]
        return (
            wanted and in_pieces and one.access in self.accesses and one.point.ranks == self.ranks
        )


LIMITED = ("tile", "lattice", "checkpoint")
LIMITED_OR_NOT_REGULAR = (*LIMITED, "irregular")


def _write(text: str, least: float, pieces: tuple[int, int], ranks: int = DECISIVE_RANKS) -> Target:
    groups = LIMITED_OR_NOT_REGULAR
    return Target(f"writes, {text}", least, "share", ("write",), groups, pieces, ranks)


def _read(
    text: str,
    least: float,
    pieces: tuple[int, int],
    groups: tuple[str, ...] = LIMITED,
    ranks: int = DECISIVE_RANKS,
) -> Target:
    return Target(f"reads, {text}", least, "share", ("read",), groups, pieces, ranks)


TARGETS = (
    _write("pieces of 100 B and more: share of the limit", 0.9, (100, EVERYTHING)),
    _write("pieces below 100 B: share of the limit", 0.8, (1, 100)),
    _read("pieces of 10 KB and more: share of the limit", 0.8, (9_000, EVERYTHING)),
    _read("pieces of 1 KB: share of the limit", 0.7, (1000, 9_000)),
    _read("pieces of 8 to 100 B: share of the limit", 0.6, (1, 1000)),
    _read("irregular pieces: share of the limit", 0.5, (1, EVERYTHING), ("irregular",)),
    _write("8 ranks: share of the limit", 0.7, (1, EVERYTHING), CROWDED_RANKS),
    _read(
        "8 ranks: share of the limit",
        0.5,
        (1, EVERYTHING),
        LIMITED_OR_NOT_REGULAR,
        CROWDED_RANKS,
    ),
    Target(
        "geometric mean against the best settings, pieces of 100 B and more",
        1.2,
        "mean",
        pieces=(100, EVERYTHING),
        peer="best",
    ),
    Target(
        "geometric mean against the best settings, pieces below 100 B",
        6,
        "mean",
        pieces=(1, 100),
        peer="best",
    ),
    Target("geometric mean against the defaults", 3, "mean", peer="default"),
    Target(
        "IOR by calls of 10,000 and of 1,000,000 B: share of POSIX", 0.95, "share", groups=("ior",)
    ),
    Target("MPI_COMM_SELF: share of POSIX", 0.95, "share", groups=("self",)),
    Target(
        "opening and closing a shared file by 8 ranks: ratio to the peer",
        1,
        "ratio",
        ("create", "open"),
        ("open",),
        ranks=CROWDED_RANKS,
    ),
)


@dataclass(frozen=True)
class Reached:
    """value: the mean, or the lowest of the cells; None where nothing was measured. worst: where
    that was, "" of a mean; reaching: how many of `count` cells reach it."""

    target: Target
    value: float | None
    worst: str
    reaching: int
    count: int

    @property
    def is_met(self) -> bool | None:
        return None if self.value is None else self.value >= self.target.least


def _value(target: Target, one: Verdict) -> float | None:
    if target.measure == "share":
        return one.share.median if one.share else None
    return one.strongest.ratio.median if one.strongest else None


def reached(target: Target, verdicts: Sequence[Verdict], name: Callable[[Verdict], str]) -> Reached:
    """`name`: of a cell, for people."""
    mine = [one for one in verdicts if target.holds_for(one)]
    if target.measure == "mean":

        def peer(one: Verdict) -> Peer | None:
            return one.best if target.peer == "best" else one.default

        mean, count = mean_ratio(mine, peer)
        return Reached(target, mean if count else None, "", int(mean >= target.least), count)
    found = [(value, name(one)) for one in mine if (value := _value(target, one)) is not None]
    if not found:
        return Reached(target, None, "", 0, 0)
    value, worst = min(found)
    reaching = sum(value >= target.least for value, _ in found)
    return Reached(target, value, worst, reaching, len(found))


def no_sure_loss(verdicts: Sequence[Verdict], ranks: int = DECISIVE_RANKS) -> Reached:
    """No cell may be surely lost, against neither defaults nor best settings; those with too few
    rounds for a 95 % interval are not counted."""
    mine = [one for one in verdicts if one.point.ranks == ranks and one.rate.is_confident]
    lost = len({(one.point, one.access) for one, _ in losses(mine)})
    target = Target("cells whose 95 % interval lies wholly below 1, at most", 0, "count")
    value = float(-lost) if mine else None
    return Reached(target, value, "", len(mine) - lost, len(mine))
