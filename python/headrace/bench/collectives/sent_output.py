"""What nodes send as a table and lines."""

from collections.abc import Sequence

from headrace.bench.collectives.findings import Job
from headrace.bench.collectives.sent import MOST_SENT, SentCell, most_sent_first
from headrace.bench.collectives.sizes import size_text
from headrace.bench.peers.tables import Table, ratio_text

METHOD = (
    "bytes, packets: medians of what all nodes send in a call, by the counters of their network "
    "interfaces, with headers and whatever else they send; the least: data alone that nodes must "
    "send; times as many: paired ratios of batches, [95 % interval of the median]; messages: those "
    "of Headrace's plan, where ranks know it beforehand"
)


def sent_table(jobs: Sequence[Job]) -> Table:
    """What nodes send; cells in which Headrace sends more first."""
    headers = (
        *("MPI", "operation", "size", "the least", "plain bytes", "Headrace bytes"),
        *("plain / least", "Headrace / least", "times as many", "plain packets"),
        *("Headrace packets", "messages", "by"),
    )
    rows = [_row(one) for one in most_sent_first(jobs)]
    return Table("What nodes send, plain and with Headrace", headers, rows, METHOD)


def _row(one: SentCell) -> tuple[str, ...]:
    cell, least = one.cell, one.least
    ratio, marks = cell.sent_ratio, []
    if ratio and one.is_seen:
        marks.append(ratio_text(ratio))
    if one.is_greater:
        marks.append("MORE")
    if not one.is_seen:
        marks.append("NOT SEEN")
    return (
        one.job.title,
        cell.operation,
        "" if cell.operation == "barrier" else size_text(cell.bytes),
        f"{least:,}" if least else "",
        *(f"{sent:,.0f}" for sent in cell.sent()),
        *(f"{sent / least:.2f}" if least else "" for sent in cell.sent()),
        " ".join(marks),
        *(f"{packets:.1f}" for packets in cell.packets()),
        "" if cell.planned_messages is None else str(cell.planned_messages),
        cell.taken or "?",
    )


def sent_lines(jobs: Sequence[Job]) -> list[str]:
    """What nodes send in a few words, and where it was not counted, and why."""
    counted = most_sent_first(jobs)
    seen = [one for one in counted if one.is_seen]
    lines = []
    if seen:
        lines.append(
            f"Nodes surely send over {MOST_SENT - 1:.0%} more with Headrace in "
            f"{sum(one.is_greater for one in seen)} of {len(seen)} cells, and surely less in "
            f"{sum(one.is_less for one in seen)}."
        )
    if len(seen) < len(counted):
        lines.append(
            f"In {len(counted) - len(seen)} cells the counters of interfaces had less than nodes "
            "must send (NOT SEEN): data went by others, or they are brought up to date seldom."
        )
    if alone := [job.title for job in jobs if job.nodes == 1]:
        lines.append(f"On one node nothing goes between nodes: {_listed(alone)}.")
    unknown = [
        job.title for job in jobs if job.nodes > 1 and not any(one.is_counted for one in job.cells)
    ]
    if unknown:
        lines.append(
            f"What nodes send was not counted (no counters could be read): {_listed(unknown)}."
        )
    return lines


def _listed(titles: Sequence[str]) -> str:
    return "; ".join(dict.fromkeys(titles))
