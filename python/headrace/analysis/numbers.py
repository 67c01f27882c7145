"""Balance over ranks, and efficiencies."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Balance:
    """How a time is spread over `ranks`: its sum and its greatest part."""

    ranks: int
    total: int
    greatest: int

    @property
    def average(self) -> float:
        return self.total / self.ranks if self.ranks else 0.0

    @property
    def imbalance(self) -> float:
        """Imb. Time of CrayPat: max - avg."""
        return self.greatest - self.average

    @property
    def imbalance_percent(self) -> float | None:
        """Imb. Time % of CrayPat; None where one rank or no time leaves nothing to compare."""
        if self.ranks < 2 or not self.greatest:
            return None
        return 100 * self.imbalance / self.greatest * self.ranks / (self.ranks - 1)


def balance(parts: Collection[int], ranks: int) -> Balance:
    """Ranks that have no part have 0."""
    return Balance(ranks, sum(parts), max(parts, default=0))


@dataclass(frozen=True)
class Efficiency:
    """POP's: load balance x communication efficiency = parallel efficiency."""

    load_balance: float
    communication: float
    parallel: float


def efficiency(useful: Collection[int], elapsed: int) -> Efficiency | None:
    """None where there is nothing to compare."""
    greatest = max(useful, default=0)
    if not greatest or not elapsed:
        return None
    average = sum(useful) / len(useful)
    return Efficiency(average / greatest, greatest / elapsed, average / elapsed)


def ranges(numbers: Iterable[int]) -> str:
    """Sorted numbers, as 0-3,8."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(f"{low}" if low == high else f"{low}-{high}" for low, high in parts)


def cores_of(text: str) -> set[int] | None:
    """As 0-3,8. None if it says nothing that can be true."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        if not (low.isascii() and low.isdigit() and (high or low).isascii()):
            return None
        last = high or low
        if not last.isdigit() or max(len(low), len(last)) > 5 or int(last) < int(low):
            return None
        found.update(range(int(low), int(last) + 1))
    return found or None
