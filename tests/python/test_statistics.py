"""Intervals against the binomial table, and against what they promise."""

import random

import pytest

from headrace.statistics import median_interval, rounds_needed


@pytest.mark.parametrize(
    ("count", "low", "high", "coverage"),
    # Tables of the sign test at 95 %: the ranks for n values, and what they cover.
    [(6, 1, 6, 0.96875), (9, 2, 8, 0.9609375), (11, 2, 10, 0.98828125), (15, 4, 12, 0.96484375)],
)
def test_ranks_of_the_sign_test(count: int, low: int, high: int, coverage: float) -> None:
    values = [float(i) for i in range(1, count + 1)]
    random.Random(count).shuffle(values)
    interval = median_interval(values)
    assert (interval.low, interval.high) == (low, high)
    assert interval.coverage == pytest.approx(coverage)
    assert interval.median == (count + 1) / 2
    assert interval.is_confident


@pytest.mark.parametrize("count", [1, 2, 5])
def test_small_samples_do_not_claim_confidence(count: int) -> None:
    interval = median_interval([1.0, 3.0, 2.0, 5.0, 4.0][:count])
    assert not interval.is_confident
    assert interval.low == 1.0


def test_rounds_needed_is_the_least() -> None:
    assert rounds_needed() == 6
    assert rounds_needed(0.99) == 8


def test_covers_the_median_as_often_as_it_says() -> None:
    source = random.Random(7)
    trials = 4000
    held = 0
    for _ in range(trials):
        interval = median_interval([source.lognormvariate(0, 1) for _ in range(9)])
        held += interval.low <= 1 <= interval.high
    assert held / trials == pytest.approx(0.9609, abs=0.012)
