"""Findings as JSON. docs/reference/report.schema.json describes it. Seconds are numbers; null means
that it was not measured."""

from typing import Any

from headrace.advice.judging import Judgement
from headrace.analysis.analyse import Findings, Procedure, Site
from headrace.analysis.decisions import Decision
from headrace.analysis.eager import Eager
from headrace.analysis.files import Edge
from headrace.analysis.last_calls import LastCall
from headrace.analysis.numbers import Balance
from headrace.analysis.paths import Frame
from headrace.analysis.regions import Region
from headrace.analysis.timeline import Timeline
from headrace.analysis.verdict import verdict
from headrace.analysis.waiting import Messages, Wait
from headrace.counters.summary import Counters
from headrace.profile.loopmark import Listing
from headrace.profile.profile import Profile
from headrace.profile.traced import Traced
from headrace.report.io_document import io_document
from headrace.report.profile_document import profile_document
from headrace.report.timeline_text import export_command
from headrace.report.units import NS, in_seconds, library
from headrace.symbols.resolver import Symbols

VERSION = 1


def document(
    found: Findings,
    symbols: Symbols,
    judgement: Judgement,
    profile: Profile | None = None,
    listing: Listing | None = None,
    counted: Counters | None = None,
    traced: Traced | None = None,
) -> dict[str, Any]:
    """All numbers. Lists of which the findings' source can tell nothing are null, too."""

    def known(field: str, rows: list[Any]) -> list[Any] | None:
        return None if field in found.source.unmeasured else rows

    return {
        "version": VERSION,
        "verdict": verdict(found),
        "advice": advice(judgement),
        "not_judged": [
            {"id": one.rule.id, "title": one.rule.title, "reasons": list(one.reasons)}
            for one in judgement.unjudged
        ],
        "suppressed": [
            {"id": rule.id, "title": rule.title, "by": cause}
            for rule, cause in judgement.suppressed
        ],
        "metrics": found.metrics,
        "run": _run(found),
        "efficiency": _efficiency(found),
        "time": {
            "outside_mpi": found.outside and _balance(found.outside),
            "in_mpi": found.in_mpi and _balance(found.in_mpi),
            "classes": [{"name": one.name, **_balance(one.balance)} for one in found.classes],
        },
        "mpi": {
            "procedures": [_procedure(one) for one in found.procedures],
            "bin_names": list(found.source.bins),
            "eager": _eager(found.eager),
            "matrix": known("matrix", [_edge(one) for one in found.matrix]),
            "wait_seconds": _wait(found.waits.total if found.waits.procedures else None),
            "wait_known_share": found.waits.known if found.waits.procedures else None,
            "awaited": [
                {
                    "rank": one.rank,
                    "late_to": one.kind,
                    "calls": one.calls,
                    "seconds": one.time / NS,
                }
                for one in found.waits.awaited
            ]
            if found.waits.procedures
            else None,
            "messages": _messages(found.waits.messages),
            "paths": known("paths", [_site(one, symbols) for one in found.sites]),
        },
        "last_calls": known("last_calls", [_last_call(one, symbols) for one in found.last_calls]),
        "regions": known("regions", [_region(one) for one in found.regions]),
        "profile": profile_document(
            profile, [one.rank for one in found.run.ranks], listing, counted, traced
        ),
        "io": io_document(found),
        "timeline": _timeline(found.timeline),
        "decisions": known("decisions", [_decision(one) for one in found.decisions]),
        "placement": known("placement", _placement(found)),
        "settings": known("settings", [vars(one) for one in found.settings]),
        "variables": known("variables", [vars(one) for one in found.variables]),
        "quality": _quality(found, symbols),
    }


def advice(judgement: Judgement) -> list[dict[str, Any]]:
    return [
        {
            "id": one.rule.id,
            "title": one.rule.title,
            "hint": one.is_hint,
            "gain_at_most_seconds": one.upper,
            "gain_at_most_lower_seconds": one.lower,
            "own_seconds": one.own,
            "evidence": list(one.evidence),
            "action": one.rule.action,
            "by": list(one.rule.by),
            "settings": one.rule.settings,
        }
        for one in judgement.advice
    ]


def _run(found: Findings) -> dict[str, Any]:
    run = found.run
    return {
        "source": found.source.name,
        "ranks": run.count,
        "nodes": run.nodes,
        "mpi": library(run.mpi) or None,
        "command": run.command,
        "seconds": run.elapsed / NS,
        "complete": run.is_complete,
        "lacks": list(run.lacks),
    }


def _timeline(one: Timeline | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "ranks": one.ranks,
        "events": one.events,
        "file_events": one.files,
        "lost_events": one.lost,
        "export": export_command(one),
    }


def _efficiency(found: Findings) -> dict[str, float] | None:
    one = found.efficiency
    if one is None:
        return None
    return {
        "load_balance": one.load_balance,
        "communication": one.communication,
        "parallel": one.parallel,
    }


def _eager(one: Eager) -> dict[str, Any]:
    return {
        "node_limit": one.node and vars(one.node),
        "network_limit": one.network and vars(one.network),
        "sends": one.messages,
        "sends_that_waited": None if one.least is None else {"least": one.least, "most": one.most},
    }


def _balance(one: Balance) -> dict[str, Any]:
    return {
        "seconds": one.total / NS,
        "average_seconds": one.average / NS,
        "greatest_seconds": one.greatest / NS,
        "imbalance_seconds": one.imbalance / NS,
        "imbalance_percent": one.imbalance_percent,
    }


def _wait(one: Wait | None) -> dict[str, float] | None:
    return None if one is None else {"least": one.least / NS, "most": one.most / NS}


def _messages(one: Messages | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {"wait_seconds": _wait(one.total), "matched": one.matched, "early": one.early}


def _procedure(one: Procedure) -> dict[str, Any]:
    return {
        "name": one.name,
        "calls": one.sums.calls,
        "failed": one.sums.failed,
        "bytes": one.sums.bytes,
        "bins": one.sums.bins or None,
        "longest_call_seconds": in_seconds(one.sums.greatest),
        **_balance(one.balance),
        "wait_seconds": _wait(one.wait),
    }


def _site(one: Site, symbols: Symbols) -> dict[str, Any]:
    return {
        "procedure": one.procedure,
        "calls": one.sums.calls,
        "bytes": one.sums.bytes,
        "bins": one.sums.bins,
        **_balance(one.balance),
        "frames": _frames(one.frames, symbols),
    }


def _frames(frames: tuple[Frame, ...], symbols: Symbols) -> list[dict[str, Any]]:
    return [
        {"function": line.function, "file": line.file or None, "line": line.line or None}
        for line in symbols.shown(frames)
    ]


def _last_call(one: LastCall, symbols: Symbols) -> dict[str, Any]:
    return {
        "procedure": one.procedure,
        "ended": not one.is_open,
        "seconds": one.longest / NS,
        "threads": [
            {"rank": each.rank, "thread": each.thread, "seconds": each.time / NS}
            for each in one.waiters
        ],
        "frames": _frames(one.frames, symbols),
    }


def _region(one: Region) -> dict[str, Any]:
    return {
        "id": None if one.id < 0 else one.id,
        "label": one.label,
        "ranks": one.ranks,
        "entries": one.entries,
        **_balance(one.time),
        "own": _balance(one.own),
        "in_mpi": _balance(one.in_mpi),
        "mpi_share": one.mpi_share,
        "calls": [
            {
                "procedure": calls.procedure,
                "calls": calls.calls,
                "bytes": calls.bytes,
                "seconds": calls.time / NS,
            }
            for calls in one.calls
        ],
    }


def _edge(one: Edge) -> dict[str, Any]:
    return {
        "from": one.sender,
        "to": one.receiver,
        "messages": one.messages,
        "bytes": one.bytes,
    }


def _decision(one: Decision) -> dict[str, Any]:
    return {
        "subject": one.subject,
        "choice": one.choice,
        "reason": one.reason,
        "alternatives": one.alternatives,
        "times": one.times,
        "cost_seconds": in_seconds(one.cost),
    }


def _placement(found: Findings) -> list[dict[str, Any]]:
    return [
        {
            "node": one.node,
            "host": one.host,
            "cores": one.cores,
            "program": one.program,
            "ranks": list(one.ranks),
            "peak_memory_bytes": one.peak_memory,
            "cpu_user_seconds": one.cpu_user / NS,
            "cpu_system_seconds": one.cpu_system / NS,
        }
        for one in found.placement
    ]


def _quality(found: Findings, symbols: Symbols) -> dict[str, Any]:
    one = found.quality
    return {
        "folded_calls": one.folded,
        "lost_calls": one.lost_calls,
        "off_seconds": in_seconds(one.off),
        "mismatched_regions": one.mismatched,
        "unsized_receives": one.unsized,
        "files_at_risk": list(one.held_twice),
        "checked_paths": one.checks,
        "wrong_paths": one.wrong,
        "recorder_seconds": in_seconds(one.recorder),
        "not_measured": [*one.missing, *sorted(found.source.unmeasured)],
        "modules_without_names": dict(sorted(symbols.problems.items())),
    }
