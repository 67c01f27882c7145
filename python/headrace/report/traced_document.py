"""Traced functions as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

from headrace.analysis.numbers import Balance
from headrace.profile.traced import Caller, Traced, TracedFunction
from headrace.report.units import NS, in_seconds

LEAST_SHARE = 0.001  # of a function's calls or time, of the callers that are written


def traced_document(found: Traced | None, ranks: Sequence[int]) -> dict[str, Any] | None:
    """null: nothing was to be traced. ranks: that the record has."""
    if found is None:
        return None
    return {
        "functions": [_function(one, ranks) for one in found.functions],
        "uncalled": found.uncalled,
        "groups": [
            {
                "name": one.name,
                "functions": one.functions,
                "calls": one.calls,
                "own_seconds": one.own / NS,
                "bytes": one.moved,
                **_balance(one.balance),
            }
            for one in found.groups
        ],
        "refused": [vars(one) for one in found.refused],
        "call_cost_seconds": {way: cost / NS for way, cost in found.costs.items()},
        "cost_is_left_out": found.is_left_out,
        "left_out": found.left_out,
        "missed_calls": found.missed,
    }


def _function(one: TracedFunction, ranks: Sequence[int]) -> dict[str, Any]:
    return {
        "name": one.name,
        "group": one.group or None,
        "way": one.way,
        "module": one.module or None,
        "calls": one.calls,
        "unended": one.unended,
        "seconds": one.time / NS,
        "own_seconds": one.own / NS,
        "mpi_seconds": one.mpi / NS,
        "least_seconds": in_seconds(one.least),
        "greatest_call_seconds": in_seconds(one.greatest),
        "bytes": one.moved,
        **_balance(one.balance),
        "rank_seconds": [one.by_rank.get(rank, 0) / NS for rank in ranks],
        "tracing_seconds": one.cost / NS,
        "tracing_dominates": one.is_costly,
        "called_by": one.first_caller or None,
        "callers": list(_callers(one, one.callers, ())),
        "regions": [
            {"label": label or None, "seconds": time / NS} for label, time in one.regions.items()
        ],
    }


def _balance(one: Balance) -> dict[str, Any]:
    return {
        "average_seconds": one.average / NS,
        "greatest_seconds": one.greatest / NS,
        "imbalance_seconds": one.imbalance / NS,
        "imbalance_percent": one.imbalance_percent,
    }


def _callers(
    whole: TracedFunction, node: Caller, path: tuple[str, ...]
) -> Iterator[dict[str, Any]]:
    for one in node.costliest():
        if max(one.calls / whole.calls, one.time / max(1, whole.time)) < LEAST_SHARE:
            continue
        own = (*path, one.name)
        yield {"path": list(own), "calls": one.calls, "seconds": one.time / NS}
        yield from _callers(whole, one, own)
