"""Intervals against the binomial table, and against what they promise."""

import random
from statistics import median

import pytest

from headrace.statistics import difference, median_interval, ratio, rounds_needed, runs_needed


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


@pytest.mark.parametrize(
    ("count", "critical"),
    # Tables of Mann and Whitney's test, two-sided at 5 %: the greatest U that is significant.
    [(4, 0), (5, 2), (6, 5), (8, 13), (10, 23)],
)
def test_ranks_of_mann_and_whitney(count: int, critical: int) -> None:
    source = random.Random(count)
    before = [source.uniform(1, 2) for _ in range(count)]
    after = [source.uniform(1, 2) for _ in range(count)]
    found = difference(before, after)
    every = sorted(b - a for a in before for b in after)
    assert (found.low, found.high) == (every[critical], every[-1 - critical])
    assert found.is_confident and found.median == median(every)
    turned = difference(after, before)
    assert (turned.low, turned.high) == (-found.high, -found.low)


@pytest.mark.parametrize(
    ("before", "after", "coverage"), [(1, 1, 0), (2, 2, 2 / 3), (3, 3, 0.9), (1, 9, 0.8)]
)
def test_few_runs_are_not_told_apart(before: int, after: int, coverage: float) -> None:
    found = ratio([float(one) for one in range(1, before + 1)], [2.0] * after)
    assert found.coverage == pytest.approx(coverage) and not found.is_confident
    assert (found.low, found.high) == (2 / before, 2)


def test_runs_needed_is_the_least() -> None:
    assert runs_needed() == 4


def test_holds_the_ratio_as_often_as_it_says() -> None:
    source = random.Random(11)
    trials = 3000
    held = 0
    for _ in range(trials):
        before = [source.lognormvariate(0, 0.3) for _ in range(6)]
        after = [1.5 * source.lognormvariate(0, 0.3) for _ in range(5)]
        found = ratio(before, after)
        held += found.low <= 1.5 <= found.high
    assert held / trials == pytest.approx(found.coverage, abs=0.015)
