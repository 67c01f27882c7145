"""The findings on the terminal, losses first."""

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.table import Table

from headrace.bench.peers import document, tables
from headrace.bench.peers.judgement import Problem, judge, problems
from headrace.bench.peers.results import Results
from headrace.bench.peers.tables import Table as Texts
from headrace.bench.report import METHOD


def show(console: Console, results: Results) -> None:
    """What is wrong, then losses, every cell, means, targets, and how it was measured."""
    show_problems(console, problems(results))
    verdicts = judge(results)
    if not verdicts:
        show_line(console, "Nothing was measured yet.")
        return
    for table in (
        tables.loss_table(verdicts),
        tables.cell_table(verdicts),
        tables.mean_table(verdicts),
        tables.target_table(verdicts),
    ):
        show_table(console, table)
    for measured in results.points.values():
        attempt = measured.best()
        for way, why in attempt.failed.items() if attempt else ():
            label = attempt.labels.get(way, way)
            point = measured.point
            show_line(
                console,
                f"left out: {point.case}, {point.ranks} ranks, {measured.title}, {label}: {why}",
            )
    for line in document.settings(results):
        show_line(console, line)
    show_line(console, document.circumstances(results, verdicts))
    show_line(console, METHOD)


def show_problems(console: Console, found: Iterable[Problem]) -> None:
    for problem in found:
        place = f"{problem.point.case}, {problem.point.ranks} ranks, {problem.title}"
        show_line(console, f"WRONG: {place}: {problem.text}")


def show_table(console: Console, texts: Texts) -> None:
    console.print()
    console.print(texts.title, style="bold", highlight=False)
    if texts.rows:
        table = Table(box=box.SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
        for header in texts.headers:
            table.add_column(header, overflow="fold")
        for row in texts.rows:
            table.add_row(*row)
        console.print(table, markup=False, highlight=False)
    if texts.note:
        show_line(console, texts.note)


def show_line(console: Console, text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
