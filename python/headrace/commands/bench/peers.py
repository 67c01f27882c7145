"""`headrace bench peers`."""

from pathlib import Path
from typing import Any

import click

from headrace.bench import report
from headrace.bench.peers import document, figure, grid, output
from headrace.bench.peers.judgement import judge, problems
from headrace.bench.peers.results import FORMAT, Results
from headrace.bench.peers.running import find_results, list_cells
from headrace.bench.peers.session import Session
from headrace.bench.programs import ALL
from headrace.commands.bench._grid import grid_options, request
from headrace.errors import say

USUAL_RANKS = "2,4,8"


@click.command(short_help="Measures a grid of jobs against plain MPI at its best, and the limit.")
@grid_options(USUAL_RANKS, ALL, "the shares of the limit")
def peers(
    cells: list[str], listing: bool, markdown: str | None, prefix: Path | None, **wanted: Any
) -> int:
    """Measure the whole grid: Headrace against plain MPI with its defaults and with an expert's
    best settings, POSIX, and the limit, which is the same ranks moving as many bytes contiguously.

    \b
    headrace bench peers --json results.json --minutes 30      and again, until it is done
    headrace bench peers --from results.json --figure shares --markdown peers.md

    A cell is a job on so many ranks in a directory under an MPI. Its ways alternate; losses come
    first. The exit status is 0 unless Headrace failed or made wrong data somewhere.
    """
    chosen = grid.select(cells)
    if listing:
        list_cells(chosen)
        return 0
    if prefix is not None:
        figure.require()
    found = find_results(request(**wanted), chosen, Session, FORMAT, _show)
    _show(found)
    if prefix is not None:
        for file in figure.draw(judge(found), prefix):
            say(f"the figure is in '{file}'")
    if markdown is not None:
        picture = document.picture_link(prefix, markdown)
        document.write(markdown, document.section(found, picture))
    return 1 if problems(found) else 0


def _show(found: Results) -> None:
    output.show(report.make_console(), found)
