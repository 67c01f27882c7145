"""Comparisons as tables and JSON."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from headrace.bench.comparison import Cell, Comparison, damaged, losing_first
from headrace.bench.jobs import HEADRACE
from headrace.bench.runner import fair_settings
from headrace.errors import unwritable
from headrace.settings.resolver import resolve_run
from headrace.statistics import Interval, rounds_needed

METHOD = (
    "MiB/s: medians of alternating runs; spread: lowest-highest; ratio: Headrace to this way; "
    "[low, high]: order-statistic interval of the median of the ratios of paired runs"
)


def verdict(ratio: Interval) -> str:
    """faster, slower, or not told apart: whether the interval excludes 1."""
    if not ratio.is_confident:
        return "too few rounds"
    if ratio.low > 1:
        return "faster"
    return "slower" if ratio.high < 1 else "not told apart"


def make_console() -> Console:
    """Standard output; where that is no terminal, wide enough to break no line."""
    console = Console()
    return console if console.is_terminal else Console(width=160)


def show_losses(console: Console, comparisons: list[Comparison]) -> None:
    """Says first where Headrace lost, or that it nowhere did."""
    cells = losing_first(comparisons)
    losses = [cell for cell in cells if cell.is_loss]
    if not cells:
        return
    if not losses:
        console.print("Headrace was slower nowhere (no median ratio below 1).", style="bold")
        return
    console.print("Where Headrace was slower:", style="bold")
    for cell in losses:
        console.print(
            f"  {cell.job.key} {cell.access}, {cell.host.title}: {cell.ratio.median:.2f} times "
            f"{cell.other.label} [{cell.ratio.low:.2f}, {cell.ratio.high:.2f}], "
            f"{verdict(cell.ratio)}",
            highlight=False,
            markup=False,
        )


def speed_table(comparison: Comparison) -> Table:
    """A row for each access and way: median, spread, and Headrace's ratio to it."""
    job = comparison.job
    table = Table(
        title=f"{job.title}: {job.line}\n{comparison.host.title}, {job.ranks} ranks, "
        f"{comparison.rounds} rounds",
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for name in ("access", "way"):
        table.add_column(name, no_wrap=True)
    for name in ("MiB/s", "spread", "ratio", "interval"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Headrace is", no_wrap=True)
    cells = {(cell.access, cell.other.key): cell for cell in comparison.cells()}
    for access in job.accesses:
        for way in comparison.ways:
            values = comparison.bandwidths(way.key, access)
            median = comparison.spread(way.key, access).median
            spread = f"{min(values):.0f}-{max(values):.0f}"
            row = [access, way.label, f"{median:.0f}", spread]
            cell = cells.get((access, way.key))
            table.add_row(*row, *(_ratio_columns(cell) if cell else ("", "", "")))
    return table


def _ratio_columns(cell: Cell) -> tuple[str, str, str]:
    ratio = cell.ratio
    told = f"{ratio.median:.0%} of it" if cell.other.is_limit else verdict(ratio)
    return f"{ratio.median:.2f}", f"[{ratio.low:.2f}, {ratio.high:.2f}]", told


def facts(comparison: Comparison) -> Iterable[str]:
    """Lines below the table: path taken, data, settings."""
    for access in comparison.job.accesses:
        path, reason = comparison.path(access)
        if path:
            yield f"{access}: path '{path}'" + (f" ({reason})" if reason else "")
    if not comparison.took_part():
        yield "Headrace did not carry this file (its hints are not there)"
    for problem in comparison.failed.values():
        yield f"left out: {problem}"
    for way in comparison.ways:
        if way.key in comparison.identical:
            answer = "yes" if comparison.identical[way.key] else "NO"
            if answer == "NO" and any(not run.is_right for run in comparison.all_runs(way.key)):
                answer += f", {way.label} made a wrong one"
            yield f"file identical to the byte, Headrace and {way.label}: {answer}"
    yield from _call_facts(comparison)
    wrong = damaged(comparison)
    if comparison.job.key == "strided":
        yield "bytes of others overwritten or missing: " + _listed(wrong)
    else:
        yield "wrong data found by checking every run: " + _listed(wrong)
    for way in comparison.ways:
        if way.variables:
            values = (f"{name}={value}" for name, value in way.variables)
            yield f"{way.label}: " + ", ".join(values)
    yield f"settings of {comparison.host.title} in all runs: " + fair_settings(
        comparison.host, comparison.job.ranks
    )
    own = resolve_run(os.environ).told()
    if own:
        yield "settings of Headrace: " + ", ".join(own)


def _call_facts(comparison: Comparison) -> Iterable[str]:
    for access in comparison.job.accesses:
        times = {way.label: comparison.call_times(way.key, access) for way in comparison.ways}
        parts = [
            f"{label} {first * 1e6:.0f}/{later * 1e6:.0f}"
            for label, (first, later) in ((label, pair) for label, pair in times.items() if pair)
        ]
        if parts:
            yield f"{access}: first call/median later call in us: " + ", ".join(parts)


def _listed(counts: dict[str, int | None]) -> str:
    return ", ".join(
        f"{label} not checked" if count is None else f"{label} {count:,}"
        for label, count in counts.items()
    )


def show(console: Console, comparisons: list[Comparison]) -> None:
    """Losing cells, then each comparison with its facts, then how it was measured."""
    show_losses(console, comparisons)
    for comparison in comparisons:
        console.print()
        console.print(speed_table(comparison))
        for line in facts(comparison):
            console.print("  " + line, highlight=False, markup=False, soft_wrap=True)
    coverages = {cell.ratio.coverage for cell in losing_first(comparisons)}
    if coverages:
        console.print()
        console.print(
            f"{METHOD}; it covers {min(coverages):.1%} or more", highlight=False, markup=False
        )
        if min(coverages) < 0.95:
            console.print(
                f"95 % needs {rounds_needed()} rounds; fewer were made somewhere", highlight=False
            )


def to_document(comparison: Comparison) -> dict[str, Any]:
    """A comparison for JSON."""
    job = comparison.job
    return {
        "job": job.key,
        "line": job.line,
        "ranks": job.ranks,
        "mpi": comparison.host.title,
        "settings": fair_settings(comparison.host, job.ranks),
        "rounds": comparison.rounds,
        "tookPart": comparison.took_part(),
        "identical": comparison.identical,
        "damaged": damaged(comparison),
        "paths": {access: comparison.path(access) for access in job.accesses},
        "MiB/s": {
            access: {way.key: comparison.bandwidths(way.key, access) for way in comparison.ways}
            for access in job.accesses
        },
        "calls": {
            access: {way.key: comparison.call_times(way.key, access) for way in comparison.ways}
            for access in job.accesses
        },
        "failed": comparison.failed,
        "ratios": [
            {
                "access": cell.access,
                "to": cell.other.key,
                "median": cell.ratio.median,
                "low": cell.ratio.low,
                "high": cell.ratio.high,
                "coverage": cell.ratio.coverage,
            }
            for cell in comparison.cells()
        ],
    }


def is_sound(comparison: Comparison) -> bool:
    """Whether Headrace took part, damaged nothing that was checked, and agrees with the ways that
    are right."""
    ours_right = all(run.is_right for run in comparison.all_runs(HEADRACE))
    agrees = all(
        same
        for way, same in comparison.identical.items()
        if all(run.is_right for run in comparison.all_runs(way))
    )
    return comparison.took_part() and ours_right and agrees


def require_writable(path: str | None) -> None:
    """Raises unless write_text() can write there; what is there stays as it is."""
    if path is None or path == "-":
        return
    file = Path(path)
    is_new = not os.path.lexists(file)
    if not is_new and not file.is_file():
        return  # a pipe, which would wait for its reader
    try:
        file.open("a").close()
    except OSError as error:
        raise unwritable(path, error) from error
    if is_new:
        file.unlink()


def write_text(path: str, text: str) -> None:
    """Writes a file that the user named; "-" is standard output."""
    try:
        if path == "-":
            sys.stdout.write(text)
        else:
            Path(path).write_text(text)
    except OSError as error:
        raise unwritable(path, error) from error
