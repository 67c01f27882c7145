"""Counts -> rates and ratios. The formulas are data (spec/counters.toml). What needs a count that
is not known, or divides by 0, is not known."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from headrace.advice.expression import Expression, parse
from headrace.counters.generated.table import METRICS, PEAKS

WALL = "wall"
PEAK = "flops_per_cycle"


@dataclass(frozen=True)
class Metric:
    """form: ratio, share, rate, count, bytes."""

    name: str
    title: str
    formula: Expression
    form: str


ALL = tuple(Metric(name, title, parse(formula), form) for name, title, formula, form in METRICS)


def metrics_for(events: Iterable[str], known: Iterable[str] | None = None) -> list[Metric]:
    """Those that a run's events are for, known or not; of each name the first one whose events are
    known, or else the first. known: events; None: all."""
    events = frozenset(events)
    chosen = _first_of(events)
    better = _first_of(events if known is None else events & {*known})
    return [better.get(name, metric) for name, metric in chosen.items()]


def _first_of(events: frozenset[str]) -> dict[str, Metric]:
    names = {*events, WALL, PEAK}
    chosen: dict[str, Metric] = {}
    for metric in ALL:
        if metric.formula.names <= names and metric.name not in chosen:
            chosen[metric.name] = metric
            names.add(metric.name)
    return chosen


def worked_out(
    metrics: Iterable[Metric], known: Mapping[str, float | None]
) -> dict[str, float | None]:
    """Each metric's value, in their order; None: not known. known: counts, wall, peak."""
    values = dict(known)
    made: dict[str, float | None] = {}
    for metric in metrics:
        value = metric.formula.value(values)
        values[metric.name] = made[metric.name] = None if value is None else float(value)
    return made


def peak_of(processor: str) -> float | None:
    """Most double-precision operations that a core does in a cycle; None: not known for sure.
    processor: as a record has it, "VENDOR FAMILY MODEL"."""
    words = processor.split()
    if len(words) != 3 or not (words[1].isdecimal() and words[2].isdecimal()):
        return None
    vendor, family, model = words[0], int(words[1]), int(words[2])
    for known, of, first, last, peak in PEAKS:
        if (known, of) == (vendor, family) and first <= model <= last:
            return float(peak)
    return None
