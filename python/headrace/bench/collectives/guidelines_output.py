"""The guidelines as tables, on the terminal and as Markdown."""

from collections.abc import Sequence

from rich.console import Console

from headrace.bench.collectives.findings import LEAST_SHARE
from headrace.bench.collectives.guidelines import (
    Contest,
    GuidelineCell,
    GuidelineJob,
    violations_first,
)
from headrace.bench.collectives.output import page_of, show_lines
from headrace.bench.collectives.sizes import size_text
from headrace.bench.peers.tables import Table, ratio_text

METHOD = (
    "us: medians of a call, the operation / the same by others, of the rank that took longest in "
    "each batch; times as long: paired ratios of batches that alternate within one job, [95 % "
    "interval of the median]; *: Headrace carried the operation out; buffers are written anew "
    "before each call"
)
HEADERS = (
    "MPI",
    "operation",
    "size",
    "by others",
    "plain us",
    "times as long",
    "Headrace us",
    "times as long",
    "violated",
)


def guideline_table(jobs: Sequence[GuidelineJob]) -> Table:
    """Violations first."""
    rows = [_row(job, cell) for job, cell in violations_first(jobs)]
    return Table("Operations against the same by others", HEADERS, rows, METHOD)


def _row(job: GuidelineJob, cell: GuidelineCell) -> tuple[str, ...]:
    return (
        job.title,
        cell.operation,
        "" if cell.operation == "barrier" else size_text(cell.bytes),
        cell.emulation,
        *_columns(cell.by_library),
        *_columns(cell.by_headrace, "*" if cell.by_layer else ""),
        violated(cell),
    )


def _columns(contest: Contest, mark: str = "") -> tuple[str, str]:
    operation, emulation = contest.microseconds()
    return f"{operation:.2f}{mark} / {emulation:.2f}", ratio_text(contest.ratio)


def violated(cell: GuidelineCell) -> str:
    """By whom."""
    words = [
        *(["plain"] if cell.by_library.is_violation else []),
        *(["HEADRACE"] if cell.by_headrace.is_violation else []),
    ]
    return ", ".join(words)


def summary(jobs: Sequence[GuidelineJob]) -> list[str]:
    cells = [cell for job in jobs for cell in job.cells]
    plain = sum(cell.by_library.is_violation for cell in cells)
    ours = sum(cell.by_headrace.is_violation for cell in cells)
    return [
        f"An operation surely takes more than {1 / LEAST_SHARE:.2f} times as long as the same by "
        f"others in {plain} of {len(cells)} cells plain, and in {ours} with Headrace.",
        *(job.line for job in jobs),
    ]


def wrong_lines(jobs: Sequence[GuidelineJob]) -> list[str]:
    return [
        f"WRONG: {job.title}, {cell.operation} or {cell.emulation}, {size_text(cell.bytes)}: "
        f"{cell.wrong} elements"
        for job in jobs
        for cell in job.cells
        if cell.wrong
    ]


def show(console: Console, jobs: Sequence[GuidelineJob]) -> None:
    show_lines(console, [*wrong_lines(jobs), *summary(jobs)], guideline_table(jobs))


def page(jobs: Sequence[GuidelineJob]) -> str:
    """As Markdown."""
    return page_of([*wrong_lines(jobs), *summary(jobs)], guideline_table(jobs))
