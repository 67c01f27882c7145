"""Statistics of repeated runs: medians and distribution-free intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, exp, log
from statistics import median

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """The median of a sample and an interval for that of its population.

    coverage: probability that the interval holds the population's median; below CONFIDENCE
    where the sample is too small for more, and then the interval is the whole range.
    count: how many values, or pairs of values, the median is of.
    """

    median: float
    low: float
    high: float
    coverage: float
    count: int

    @property
    def is_confident(self) -> bool:
        return self.coverage >= CONFIDENCE


def median_interval(sample: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Interval between the k-th smallest and the k-th largest value, with the largest k whose
    coverage 1 - 2 * P(Binomial(n, 1/2) < k) reaches `confidence`. Assumes nothing about the
    distribution (David and Nagaraja, Order Statistics, section 7.1). `sample` must not be empty.
    """
    values = sorted(sample)
    count = len(values)
    coverage, rank = _coverage(count, 1), 1
    while 2 * (rank + 1) <= count and _coverage(count, rank + 1) >= confidence:
        rank += 1
        coverage = _coverage(count, rank)
    return Interval(median(values), values[rank - 1], values[count - rank], coverage, count)


def paired_ratio(ours: Sequence[float], others: Sequence[float]) -> Interval:
    """The ratios of runs that were made in the same rounds."""
    return median_interval([a / b for a, b in zip(ours, others, strict=True)])


def difference(before: Sequence[float], after: Sequence[float]) -> Interval:
    """How much greater values of `after` are than those of `before`, which are not paired: the
    estimate of Hodges and Lehmann, the median of all differences of two values, with the interval
    that belongs to Mann and Whitney's test (Hollander, Wolfe, Chicken, Nonparametric Statistical
    Methods, sections 4.2 and 4.3). Assumes that both have one shape. Neither may be empty.
    """
    return _of_pairs([b - a for a in before for b in after], len(before), len(after))


def ratio(before: Sequence[float], after: Sequence[float]) -> Interval:
    """As `difference`, of the logarithms: how many times `after` is `before`. All are positive."""
    return _of_pairs([b / a for a in before for b in after], len(before), len(after))


def _of_pairs(values: list[float], first: int, second: int) -> Interval:
    """Between the k-th smallest and the k-th largest value of all pairs, with the largest k whose
    coverage 1 - 2 * P(U < k) reaches CONFIDENCE; U is Mann and Whitney's. One pair covers nothing.
    """
    values.sort()
    ways = _mann_whitney(first, second)
    below, rank = ways[0], 1
    while 2 * (rank + 1) <= len(values) and _beyond(ways, below + ways[rank]) >= CONFIDENCE:
        below += ways[rank]
        rank += 1
    coverage = _beyond(ways, below) if len(values) > 1 else 0.0
    return Interval(median(values), values[rank - 1], values[-rank], coverage, len(values))


def runs_needed() -> int:
    """The least number of runs in each of two groups whose `ratio` reaches CONFIDENCE."""
    count = 1
    while _beyond(_mann_whitney(count, count), 1) < CONFIDENCE:
        count += 1
    return count


def _beyond(ways: Sequence[int], below: int) -> float:
    return 1 - 2 * below / sum(ways)


@cache
def _mann_whitney(first: int, second: int) -> list[int]:
    """In how many of all orders of two samples U is 0, 1, ...: the coefficients of the Gaussian
    binomial, the product of (1 - x^(first + i)) / (1 - x^i) for i = 1 ... second."""
    ways = [1] + [0] * (first * second)
    for i in range(1, second + 1):
        for place in range(first * second, first + i - 1, -1):
            ways[place] -= ways[place - first - i]
        for place in range(i, first * second + 1):
            ways[place] += ways[place - i]
    return ways


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive numbers, at least one."""
    return exp(sum(map(log, values)) / len(values))


def _coverage(count: int, rank: int) -> float:
    return 1 - 2 * sum(comb(count, i) for i in range(rank)) / 2**count if count > 1 else 0.0


def rounds_needed(confidence: float = CONFIDENCE) -> int:
    """The smallest sample whose range covers the median with that confidence."""
    count = 2
    while _coverage(count, 1) < confidence:
        count += 1
    return count
