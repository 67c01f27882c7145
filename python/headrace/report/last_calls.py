"""Calls that had not ended, as a table: where a job hangs."""

from headrace.analysis.analyse import Findings
from headrace.analysis.last_calls import LastCall
from headrace.analysis.numbers import ranges
from headrace.report.table import MOST_ROWS, Table, more
from headrace.report.tables import lines_of_path
from headrace.report.units import seconds
from headrace.symbols.resolver import Symbols
from headrace.texts import shown

MOST_RANGES = 8
OUTSIDE = "(outside MPI)"


def last_calls_table(found: Findings, symbols: Symbols) -> Table:
    """Without rows if all ranks came to the end of their run."""
    rows = [
        (
            shown(one.procedure) if one.is_open else f"{OUTSIDE}, last {shown(one.procedure)}",
            _ranks(one),
            _times(one),
            "\n".join(lines_of_path(one.frames, symbols)) or "unknown",
        )
        for one in found.last_calls[:MOST_ROWS]
    ]
    note = "time: since the call began; outside MPI since the last call ended"
    if any(one.unheard for one in found.run.ranks):
        note += "; until the job was last heard of, so it may be longer"
    return Table(
        "Calls that had not ended",
        ("procedure ", "ranks ", "time so far", "called by "),
        rows,
        note + more(len(found.last_calls)),
    )


def _ranks(one: LastCall) -> str:
    numbers = sorted({waiter.rank for waiter in one.waiters})
    parts = ranges(numbers).split(",")
    text = ",".join(parts[:MOST_RANGES]) + (",..." if len(parts) > MOST_RANGES else "")
    return text if len(numbers) == 1 else f"{text} ({len(numbers):,})"


def _times(one: LastCall) -> str:
    longest, shortest = (seconds(each.time) for each in (one.waiters[0], one.waiters[-1]))
    return longest if longest == shortest else f"{shortest} to {longest}"
