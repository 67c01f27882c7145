"""`headrace bench recorder`."""

import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path

import click
from rich import box
from rich.markup import escape
from rich.table import Table

from headrace.bench import report
from headrace.bench.partial import kept
from headrace.bench.recorder import Cell, costliest_first, measure, measure_line
from headrace.bench.runner import find_wanted
from headrace.bench.workspace import workspace
from headrace.commands._options import mpi_names_option, refuse_given
from headrace.errors import say
from headrace.statistics import Interval, rounds_needed

USUAL_PAIRS = 20


@click.command(
    short_help="Measures what the recorder adds to MPI calls, or to a program.",
)
@mpi_names_option()
@click.option("-n", "ranks", type=click.IntRange(min=1), default=2, show_default=True)
@click.option(
    "--pairs",
    type=click.IntRange(min=rounds_needed()),
    default=USUAL_PAIRS,
    show_default=True,
    help="Jobs with the recorder, and as many without it.",
)
@click.option("--json", "json_file", type=click.Path(dir_okay=False), help="Write all times here.")
@click.argument("line", nargs=-1, type=click.UNPROCESSED)
def recorder(
    wanted: tuple[str, ...], ranks: int, pairs: int, json_file: str | None, line: tuple[str, ...]
) -> None:
    """Measure what the recorder adds to MPI calls: jobs with it and without it in turn, both under
    Headrace. Calls that it costs most of their time come first.

    \b
    headrace bench recorder --mpi all --pairs 20
    headrace bench recorder -- mpiexec -n 4 ./app

    The second line takes the time of a program as a whole. The calls of the first line have 8
    bytes; if the MPI has IMB-MPI1, as Intel MPI has, that runs, too. A program has its standard
    input from a file anew in each run, or none.
    """
    if line:
        refuse_given(("ranks", "wanted"), "the line says it")
    report.require_writable(json_file)
    cells: list[Cell] = []

    def keep() -> None:
        made = costliest_first(cells)
        if json_file is not None:
            text = json.dumps([asdict(cell) for cell in made], indent=1)
            report.write_text(json_file, text + "\n")
        report.make_console().print(_table(made))

    with kept(cells, keep), workspace(Path(tempfile.gettempdir())) as directory:
        if line:
            cells.append(measure_line(line, pairs, directory, os.environ, say))
        else:
            for host in find_wanted(wanted, os.environ, say):
                cells += measure(host, ranks, pairs, directory, os.environ, say)


def _table(cells: list[Cell]) -> Table:
    table = Table(
        box=box.SIMPLE,
        caption=escape(
            "ns a call: medians of jobs; [low, high]: 95% interval of the median over pairs"
        ),
    )
    for title in ("MPI", "calls", "ns a call", "added ns a call", "with / without"):
        table.add_column(title, justify="left" if title in ("MPI", "calls") else "right")
    for cell in cells:
        table.add_row(
            cell.host,
            cell.kind,
            f"{cell.plain.median:.0f}",
            _text(cell.added, ".0f"),
            _text(cell.ratio, ".3f"),
        )
    return table


def _text(interval: Interval, form: str) -> str:
    return f"{interval.median:{form}} [{interval.low:{form}}, {interval.high:{form}}]"
