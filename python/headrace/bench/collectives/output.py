"""The findings as tables, on the terminal and as Markdown."""

from collections.abc import Sequence

from rich.console import Console

from headrace.bench.collectives.findings import LEAST_SHARE, Cell, Job, losing_first
from headrace.bench.collectives.sent_output import sent_lines, sent_table
from headrace.bench.collectives.sizes import size_text
from headrace.bench.peers.output import show_line, show_table
from headrace.bench.peers.tables import Table, markdown, ratio_text
from headrace.bench.report import verdict

METHOD = (
    "us: medians of a call, of the rank that took longest in each batch; times as fast: paired "
    "ratios of batches that alternate within one job, [95 % interval of the median]; buffers are "
    "written anew before each call"
)


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
