"""The profile as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any

from headrace.counters.summary import Counters
from headrace.profile.loopmark import ListedLine, Listing
from headrace.profile.profile import Function, Profile, TreeNode
from headrace.profile.samples import SOURCES
from headrace.profile.traced import Traced
from headrace.report.counter_tables import counter_document
from headrace.report.traced_document import traced_document
from headrace.report.units import NS

LEAST_SHARE = 0.001  # of the branches of the tree
MOST_LINES = 1000


# Of a run that was counted or traced, and not sampled.
_UNSAMPLED = Profile((), 0, 0, (), (), TreeNode(""), {})


def profile_document(
    found: Profile | None,
    ranks: Sequence[int],
    listing: Listing | None = None,
    counted: Counters | None = None,
    traced: Traced | None = None,
) -> dict[str, Any] | None:
    """null: nothing was sampled, counted or traced. ranks: that the record has."""
    if found is None:
        if counted is None and traced is None:
            return None
        found = _UNSAMPLED
    return {
        "samples": found.samples,
        "seconds": found.time / NS,
        "cpu_seconds": found.cpu / NS,
        "functions": [
            {
                "name": one.name,
                "module": one.module,
                "share": found.share(one.time),
                "samples": one.samples,
                "seconds": one.time / NS,
                "with_callees_seconds": one.with_callees / NS,
                "average_seconds": one.balance.average / NS,
                "greatest_seconds": one.balance.greatest / NS,
                "imbalance_seconds": one.balance.imbalance / NS,
                "imbalance_percent": one.balance.imbalance_percent,
                "rank_seconds": _rank_seconds(one, ranks),
            }
            for one in found.functions
        ],
        "lines": [
            {
                "file": one.place.file or None,
                "line": one.place.line or None,
                "function": one.place.function,
                "inlined": one.place.inlined or None,
                "share": found.share(one.time),
                "samples": one.samples,
                "seconds": one.time / NS,
            }
            for one in found.lines[:MOST_LINES]
        ],
        "tree": list(_branches(found, found.tree, ())),
        "regions": [
            {"label": label or None, "seconds": time / NS, "share": found.share(time)}
            for label, time in found.regions.items()
        ],
        "threads": [
            {
                "rank": one.rank,
                "thread": one.number,
                "name": one.name,
                "caller": None if one.caller < 0 else one.caller,
                "source": SOURCES[min(one.source, len(SOURCES) - 1)],
                "period_seconds": one.period / NS,
                "samples": one.samples,
                "seconds": one.time / NS,
                "cpu_seconds": one.cpu / NS,
                "lost": one.lost,
                "cut": one.cut,
            }
            for one in found.threads
        ],
        "feedback": None if listing is None else _feedback(found, listing),
        "counters": counter_document(counted),
        "traced": traced_document(traced, ranks),
    }


def _rank_seconds(one: Function, ranks: Sequence[int]) -> list[float]:
    return [one.by_rank.get(rank, 0) / NS for rank in ranks] if one.by_rank else []


def _feedback(found: Profile, listing: Listing) -> dict[str, Any]:
    return {
        "files_read": listing.read,
        "problems": list(listing.problems),
        "notes": list(listing.notes),
        "files": [
            {"file": one.file, "lines": [_listed(found, own) for own in one.lines]}
            for one in listing.files
        ],
    }


def _listed(found: Profile, one: ListedLine) -> dict[str, Any]:
    return {
        "line": one.line,
        "marks": one.marks,
        "share": found.share(one.time),
        "samples": one.samples,
        "seconds": one.time / NS,
        "functions": list(one.functions),
        "source": one.source,
        "vectorised": one.is_vectorised,
        "not_vectorised_because": one.no_vector or None,
        "remarks": [
            {"what": own.kind, "done": own.is_done, "text": own.text or None} for own in one.remarks
        ],
    }


def _branches(found: Profile, node: TreeNode, callers: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for one in node.costliest():
        if found.share(one.time) < LEAST_SHARE:
            return
        path = (*callers, one.name)
        yield {
            "path": list(path),
            "seconds": one.time / NS,
            "own_seconds": one.own / NS,
            "samples": one.samples,
        }
        yield from _branches(found, one, path)
