"""Counts of events as tables of texts, and as JSON."""

from typing import Any

from headrace.counters.summary import Counters, EventRow, MetricRow, Spread
from headrace.report.tables import Table
from headrace.report.units import percent, size
from headrace.texts import shown

NOT_KNOWN = "not known"
_HEADERS = ("least", "mean", "greatest", "on rank", "imbalance %")


def counter_tables(found: Counters | None) -> list[Table]:
    if found is None:
        return []
    note = "of ranks; user space, all threads, from MPI_Init to MPI_Finalize"
    if any(one.is_scaled for one in found.events):
        note += "; ~: events took turns at the counters, and the count is scaled up"
    events = [(_event_name(one), *_cells(one.spread, "count", one.why_not)) for one in found.events]
    metrics = [
        (
            one.metric.title,
            *_cells(one.spread, one.metric.form, one.why_not),
            one.metric.formula.text,
        )
        for one in found.metrics
    ]
    made = [Table(f"Counters: {shown(found.group)}", ("event ", *_HEADERS), events, note)]
    if metrics:
        headers = ("what follows from them ", *_HEADERS, "formula ")
        made.insert(0, Table("Rates and ratios of counters", headers, metrics, "of ranks"))
    return made


def _event_name(one: EventRow) -> str:
    return f"{shown(one.name)} ~" if one.is_scaled else shown(one.name)


def _cells(spread: Spread, form: str, why_not: str) -> tuple[str, ...]:
    if why_not:
        return (NOT_KNOWN, "", "", "", why_not)
    numbers = (_text(one, form) for one in (spread.least, spread.mean, spread.greatest))
    return (*numbers, str(spread.greatest_rank), percent(spread.imbalance_percent))


def _text(value: float | None, form: str) -> str:
    if value is None:
        return NOT_KNOWN
    if form == "share":
        return f"{value:.1%}"
    if form == "bytes":
        return f"{size(round(value))}/s"
    if form == "rate":
        return _rate(value)
    return f"{value:,.0f}" if form == "count" else f"{value:,.3f}"


def _rate(value: float) -> str:
    for unit, factor in (("G", 1e9), ("M", 1e6)):
        if value >= factor:
            return f"{value / factor:,.3f} {unit}/s"
    return f"{value:,.1f} /s"


def counter_document(found: Counters | None) -> dict[str, Any] | None:
    """null: nothing was to be counted."""
    if found is None:
        return None
    return {
        "group": found.group,
        "processor": found.processor or None,
        "events": [
            {"name": one.name, "scaled": one.is_scaled, **_document(one)} for one in found.events
        ],
        "metrics": [
            {
                "name": one.metric.name,
                "title": one.metric.title,
                "formula": one.metric.formula.text,
                "form": one.metric.form,
                **_document(one),
            }
            for one in found.metrics
        ],
    }


def _document(one: EventRow | MetricRow) -> dict[str, Any]:
    spread = one.spread
    return {
        "not_known_because": one.why_not or None,
        "least": spread.least,
        "mean": spread.mean,
        "greatest": spread.greatest,
        "greatest_rank": spread.greatest_rank,
        "imbalance_percent": spread.imbalance_percent,
        "ranks": [{"rank": rank, "value": value} for rank, value in spread.values.items()],
    }
