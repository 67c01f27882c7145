"""How a number of all ranks is spread over them, as far as a Darshan log tells.

Of a file that all ranks share the log has the sum, and the shares of the fastest and the slowest
rank: the rest is taken to be equal among the others. So a spread is a base that each rank has, and
what some have more or less. It takes no memory for ranks that are alike.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from headrace.darshan.log import Extreme


@dataclass
class Spread:
    """ranks: of the job. own: beside the base. is_estimate: whether a shared file is in it."""

    ranks: int
    base: float = 0.0
    own: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    is_estimate: bool = False

    def add(self, rank: int, value: float) -> None:
        """Of one rank."""
        if value:
            self.own[rank] += value

    def share(self, total: float, known: Iterable[tuple[int, float]]) -> None:
        """A sum of all ranks. known: ranks and their parts; not used if they cannot be true."""
        if not total:
            return
        parts = {rank: part for rank, part in known if 0 <= rank < self.ranks}
        rest = total - sum(parts.values())
        if rest < 0 or len(parts) >= self.ranks:
            parts, rest = {}, total
        each = rest / (self.ranks - len(parts))
        self.base += each
        for rank, part in parts.items():
            self.own[rank] += part - each
        self.is_estimate = self.is_estimate or self.ranks > 1

    def of(self, rank: int) -> float:
        return self.base + self.own.get(rank, 0.0)

    @property
    def _values(self) -> list[tuple[float, int]]:
        """Values, and how many ranks have each."""
        others = self.ranks - len(self.own)
        alike = [(self.base, others)] if others else []
        return [*((max(0.0, self.base + one), 1) for one in self.own.values()), *alike]

    @property
    def total(self) -> float:
        return sum(value * count for value, count in self._values)

    @property
    def greatest(self) -> float:
        return max((value for value, _ in self._values), default=0.0)

    @property
    def least(self) -> float:
        return min((value for value, _ in self._values), default=0.0)

    @property
    def taking_part(self) -> int:
        """Ranks that have more than nothing."""
        return sum(count for value, count in self._values if value > 0)

    def capped(self, most: float) -> "Spread":
        """No rank has more than `most`."""
        base = min(self.base, most)
        own = {rank: min(self.base + one, most) - base for rank, one in self.own.items()}
        return Spread(self.ranks, base, own, self.is_estimate)

    def values(self) -> tuple[int, ...]:
        """Of each rank, rounded."""
        made = [round(self.base)] * self.ranks
        for rank in self.own:
            made[rank] = max(0, round(self.of(rank)))
        return tuple(made)


def parts_of(ends: Iterable[Extreme], share: float) -> list[tuple[int, float]]:
    """share: what part of the extremes' time is meant."""
    return [(one.rank, one.time * share) for one in ends]
