"""The findings as tables, on the terminal and as Markdown."""

from collections.abc import Sequence

from rich.console import Console

from headrace.bench.collectives.findings import (
    LEAST_SHARE,
    MOST_SENT,
    Cell,
    Job,
    losing_first,
    most_sent_first,
)
from headrace.bench.peers.output import show_line, show_table
from headrace.bench.peers.tables import Table, markdown, ratio_text
from headrace.bench.report import verdict

METHOD = (
    "us: medians of a call, of the rank that took longest in each batch; times as fast: paired "
    "ratios of batches that alternate within one job, [95 % interval of the median]; buffers are "
    "written anew before each call"
)
SENT_METHOD = (
    "bytes, packets: medians of what all nodes send in a call, by the counters of their network "
    "interfaces, with headers and whatever else they send; the least: data alone that nodes must "
    "send; times as many: paired ratios of batches, [95 % interval of the median]"
)


def size_text(size: int) -> str:
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


def cell_table(jobs: Sequence[Job]) -> Table:
    """Losing cells first."""
    rows = [_row(job, cell) for job, cell in losing_first(jobs)]
    headers = (
        "MPI",
        "operation",
        "size",
        "plain us",
        "Headrace us",
        "times as fast",
        "it is",
        "by",
    )
    return Table("Collective operations, plain against Headrace", headers, rows, METHOD)


def _row(job: Job, cell: Cell) -> tuple[str, ...]:
    plain, ours = cell.microseconds()
    marks = [ratio_text(cell.speedup), *(["LOST"] if cell.is_lost else [])]
    return (
        job.title,
        cell.operation,
        "" if cell.operation == "barrier" else size_text(cell.bytes),
        f"{plain:.2f}",
        f"{ours:.2f}",
        " ".join(marks),
        verdict(cell.speedup),
        cell.taken or "?",
    )


def sent_table(jobs: Sequence[Job]) -> Table:
    """What nodes send; cells in which Headrace sends more first."""
    rows = [_sent_row(job, cell) for job, cell in most_sent_first(jobs)]
    headers = (
        *("MPI", "operation", "size", "the least", "plain bytes", "Headrace bytes"),
        *("plain / least", "Headrace / least", "times as many", "plain packets"),
        *("Headrace packets", "by"),
    )
    return Table("What nodes send, plain and with Headrace", headers, rows, SENT_METHOD)


def _sent_row(job: Job, cell: Cell) -> tuple[str, ...]:
    least = job.least_sent(cell.operation, cell.bytes)
    sent, ratio = cell.sent(), cell.sent_ratio
    marks = [ratio_text(ratio)] if ratio else []
    plain_packets, packets = cell.packets()
    return (
        job.title,
        cell.operation,
        "" if cell.operation == "barrier" else size_text(cell.bytes),
        f"{least:,}" if least else "",
        *(f"{one:,.0f}" for one in sent),
        *(f"{one / least:.2f}" if least else "" for one in sent),
        " ".join([*marks, *(["MORE"] if cell.sends_more else [])]),
        f"{plain_packets:.1f}",
        f"{packets:.1f}",
        cell.taken or "?",
    )


def sent_lines(jobs: Sequence[Job]) -> list[str]:
    """What nodes send in a few words, and where it was not counted, and why."""
    counted = [cell for job in jobs for cell in job.cells if cell.is_counted]
    lines = []
    if counted:
        ratios = [one.sent_ratio for one in counted]
        fewer = sum(one is not None and one.is_confident and one.high < 1 for one in ratios)
        lines.append(
            f"Nodes surely send over {MOST_SENT - 1:.0%} more with Headrace in "
            f"{sum(one.sends_more for one in counted)} of {len(counted)} cells, and surely less in "
            f"{fewer}."
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


def summary(jobs: Sequence[Job]) -> list[str]:
    cells = [cell for job in jobs for cell in job.cells]
    lost = sum(cell.is_lost for cell in cells)
    won = sum(cell.speedup.is_confident and cell.speedup.low > 1 for cell in cells)
    ours = sum(cell.by_layer for cell in cells)
    return [
        f"Headrace surely loses more than {1 - LEAST_SHARE:.0%} in {lost} of {len(cells)} cells, "
        f"and surely wins {won}. It carries {ours} out itself.",
        *sent_lines(jobs),
        *(job.line for job in jobs),
    ]


def wrong_lines(jobs: Sequence[Job]) -> list[str]:
    return [
        f"WRONG: {job.title}, {cell.operation}, {size_text(cell.bytes)}: {cell.wrong} elements"
        for job in jobs
        for cell in job.cells
        if cell.wrong
    ]


def show(console: Console, jobs: Sequence[Job]) -> None:
    show_lines(console, [*wrong_lines(jobs), *summary(jobs)], *_tables(jobs))


def page(jobs: Sequence[Job]) -> str:
    """As Markdown."""
    return page_of([*wrong_lines(jobs), *summary(jobs)], *_tables(jobs))


def _tables(jobs: Sequence[Job]) -> list[Table]:
    """What nodes send is shown where they do."""
    tables = [cell_table(jobs), sent_table(jobs)]
    return [one for one in tables if one.rows or one is tables[0]]


def show_lines(console: Console, lines: Sequence[str], *tables: Table) -> None:
    for line in lines:
        show_line(console, line)
    for table in tables:
        show_table(console, table)


def page_of(lines: Sequence[str], *tables: Table) -> str:
    """Lines and tables as Markdown."""
    rows = [row for table in tables for row in markdown(table)]
    return "\n".join([*(f"- {line}" for line in lines), "", *rows]) + "\n"
