"""A comparison as JSON. docs/reference/compare.schema.json describes it. Seconds are numbers; null
means that it was not measured."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from headrace.analysis.waiting import Wait
from headrace.compare.comparison import Check, Comparison, Row, status
from headrace.compare.profile import Profile
from headrace.report.comparison_text import unnamed, verdict
from headrace.report.document import NS
from headrace.statistics import Interval

VERSION = 1


def comparison_document(found: Comparison, check: Check | None) -> dict[str, Any]:
    return {
        "version": VERSION,
        "outcome": found.outcome,
        "exit_status": status(found, check),
        "verdict": verdict(found),
        "obstacles": list(found.obstacles),
        "tolerance_percent": found.tolerance,
        "before": _group(found.before),
        "after": _group(found.after),
        "speed_up": _speed_up(found.speed_up),
        "answers": _answers(check),
        "changes": [
            {
                "kind": one.kind,
                "name": one.name,
                "before": list(one.before),
                "after": list(one.after),
                "varies": one.varies,
            }
            for one in found.changes
        ],
        "classes": [{"name": name, **_times(row)} for name, row in (found.classes or {}).items()],
        "wait_seconds": {"before": _wait(found.waits[0]), "after": _wait(found.waits[1])},
        "procedures": [
            {"name": name, **_times(row), **_calls(row)}
            for name, row in (found.procedures or {}).items()
        ],
        "regions": [
            {
                "name": name,
                **_times(row),
                "entries_before": row.calls_before,
                "entries_after": row.calls_after,
            }
            for name, row in (found.regions or {}).items()
        ],
        "paths": [
            {"procedure": key[0], "functions": list(key[1]), **_times(row), **_calls(row)}
            for key, row in (found.sites or {}).items()
        ],
        "quality": {"modules_without_names": unnamed(found)},
    }


def _group(runs: Sequence[Profile]) -> dict[str, Any]:
    return {
        "median_seconds": median(one.elapsed for one in runs) / NS,
        "runs": [
            {
                "file": one.file,
                "ranks": one.ranks,
                "seconds": one.elapsed / NS,
                "complete": not one.lacks,
                "lacks": list(one.lacks),
                "folded_calls": one.folded,
                "not_measured": list(one.missing),
            }
            for one in runs
        ],
    }


def _speed_up(one: Interval | None) -> dict[str, Any] | None:
    """Without an interval if there is one run each."""
    if one is None:
        return None
    low, high, coverage = _ends(one, 1)
    return {"ratio": one.median, "low": low, "high": high, "coverage": coverage}


def _ends(one: Interval, unit: float) -> tuple[float | None, float | None, float | None]:
    return (one.low / unit, one.high / unit, one.coverage) if one.coverage else (None,) * 3


def _times(row: Row) -> dict[str, Any]:
    low, high, _ = _ends(row.change, NS)
    return {
        "before_seconds": row.before / NS,
        "after_seconds": row.after / NS,
        "difference_seconds": row.change.median / NS,
        "low_seconds": low,
        "high_seconds": high,
        "certain": row.is_certain,
    }


def _calls(row: Row) -> dict[str, Any]:
    return {"calls_before": row.calls_before, "calls_after": row.calls_after}


def _wait(one: Wait | None) -> dict[str, float] | None:
    return None if one is None else {"least": one.least / NS, "most": one.most / NS}


def _answers(check: Check | None) -> dict[str, Any] | None:
    if check is None:
        return None
    return {"check": check.command, "exit_status": check.code, "same": check.is_same}
