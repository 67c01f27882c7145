"""Rules and metrics -> advice: what would gain how much at most, and what could not be judged."""

import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from headrace.advice.expression import Expression
from headrace.advice.rules import Rule
from headrace.analysis.metrics import ABSENT

LEAST_SHARE = 0.01  # of the run: what gains less is not said


@dataclass(frozen=True)
class Advice:
    """seconds: the run would gain at most upper, and lower is the lower end of that bound; None for
    what has no bound. own: the average rank's time in it. is_hint: the lower end does not reach 1 %
    of the run, or the rule is not proven."""

    rule: Rule
    upper: float | None
    lower: float | None
    own: float | None
    evidence: tuple[str, ...]
    is_hint: bool


@dataclass(frozen=True)
class Unjudged:
    rule: Rule
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Judgement:
    """advice: in order. suppressed: rules that apply, and what speaks for another cause."""

    advice: tuple[Advice, ...]
    suppressed: tuple[tuple[Rule, str], ...]
    unjudged: tuple[Unjudged, ...]


def judge(
    rules: Iterable[Rule],
    metrics: Mapping[str, float | None],
    absent: Mapping[str, str] = ABSENT,
) -> Judgement:
    """absent: why metrics may be unknown, by name."""
    made: list[Advice] = []
    unjudged: list[Unjudged] = []
    for rule in rules:
        holds = rule.when.value(metrics)
        if holds is None:
            unjudged.append(_unjudged(rule, rule.when, metrics, absent))
        elif holds:
            one = _advice(rule, metrics)
            if one is None:
                unjudged.append(_unjudged(rule, rule.bound, metrics, absent))
            elif _is_worth_it(one, metrics):
                made.append(one)
    present = {one.rule.id for one in made if not one.is_hint}
    kept, suppressed = [], []
    for one in made:
        causes = [cause for cause in one.rule.suppressed_by if cause in present]
        if causes:
            suppressed.append((one.rule, causes[0]))
        else:
            kept.append(one)
    run = metrics.get("run_seconds") or 1.0
    kept.sort(key=lambda one: _order(one, run))
    return Judgement(tuple(kept), tuple(suppressed), tuple(unjudged))


def _order(one: Advice, run: float) -> tuple:
    """Actions by their bounds, then hints, then what has no bound. Bounds that differ by less than
    1 % of the run are alike: where most of the run is messages or files, many reach all of it. Then
    the lower end decides."""
    upper = round((one.upper or 0.0) / (LEAST_SHARE * run))
    return (
        one.upper is None,
        one.is_hint,
        -upper,
        -(one.lower or 0.0),
        -(one.own or 0.0),
        one.rule.id,
    )


def _unjudged(
    rule: Rule, asked: Expression | None, metrics: Mapping[str, float | None],
    absent: Mapping[str, str],
) -> Unjudged:  # fmt: skip
    names = asked.unknown(metrics) if asked else []
    why = [absent.get(name, f"{name} was not measured") for name in names]
    return Unjudged(rule, tuple(dict.fromkeys(why)))


def _is_worth_it(one: Advice, metrics: Mapping[str, float | None]) -> bool:
    run = metrics.get("run_seconds")
    return one.upper is None or run is None or one.upper >= LEAST_SHARE * run


def _advice(rule: Rule, metrics: Mapping[str, float | None]) -> Advice | None:
    """None if its bound is unknown."""
    run = metrics.get("run_seconds")
    upper = None
    if rule.bound is not None:
        upper = rule.bound.value(metrics)
        if upper is None or isinstance(upper, bool):
            return None
        upper = max(0.0, float(upper))
    lower = rule.lower.value(metrics) if rule.lower else upper
    lower = None if lower is None or upper is None else max(0.0, min(float(lower), upper))
    own = rule.own.value(metrics) if rule.own else None
    weak = lower is not None and run is not None and lower < LEAST_SHARE * run
    evidence = tuple(text for one in rule.evidence if (text := filled(one, metrics)))
    return Advice(
        rule, upper, lower, None if own is None else float(own), evidence, rule.is_hint or weak
    )


def filled(text: str, metrics: Mapping[str, float | None]) -> str | None:
    """The text with {metrics} in it. None if one is not measured: then there is no evidence."""
    parts = []
    try:
        pieces = list(string.Formatter().parse(text))
    except ValueError:
        return text
    for plain, name, _, _ in pieces:
        parts.append(plain)
        if name is not None:
            value = metrics.get(name)
            if value is None:
                return None
            parts.append(number(name, value))
    return "".join(parts)


def number(name: str, value: float) -> str:
    """A metric as text, by the unit that ends its name."""
    if name.endswith("_seconds"):
        return f"{value:,.2f} s" if value >= 0.1 else f"{value * 1e3:,.3g} ms"
    if name.endswith("_share"):
        return f"{value:.0%}" if value >= 0.1 else f"{value:.1%}"
    if name.endswith("_ratio"):
        return f"{value:,.2f}"
    if "bytes" in name:
        return f"{value / (1 << 20):,.1f} MiB" if value >= 1 << 20 else f"{value:,.0f} B"
    return f"{value:,.0f}"
