"""Statistics of paired runs: medians and distribution-free intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, exp, log
from statistics import median

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """The median of a sample and an interval for that of its population.

    coverage: probability that the interval holds the population's median; below CONFIDENCE
    where the sample is too small for more, and then the interval is the whole range.
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
