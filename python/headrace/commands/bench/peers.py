"""`headrace bench peers`."""

from pathlib import Path
from typing import Any

import click

from headrace.bench.peers import document, figure, grid, output
from headrace.bench.peers.judgement import judge, problems
from headrace.bench.peers.results import FORMAT, Results
from headrace.bench.peers.session import Session
from headrace.bench.programs import ALL
from headrace.commands.bench._grid import Grid, grid_options, measure

USUAL_RANKS = "2,4,8"


def _draw(found: Results, prefix: Path) -> list[Path]:
    return figure.draw(judge(found), prefix)


PEERS = Grid(
    *(grid.CASES, Session, FORMAT, output.show, _draw),
    *(document.section, document.BEGIN, document.END),
    lambda found: not problems(found),
)


@click.command(short_help="Measures a grid of jobs against plain MPI at its best, and the limit.")
@grid_options(USUAL_RANKS, ALL, "the shares of the limit")
def peers(**wanted: Any) -> int:
    """Measure the whole grid: Headrace against plain MPI with its defaults and with an expert's
    best settings, POSIX, and the limit, which is the same ranks moving as many bytes contiguously.

    \b
    headrace bench peers --json results.json --minutes 30      and again, until it is done
    headrace bench peers --from results.json --figure shares --markdown peers.md

    A cell is a job on so many ranks in a directory under an MPI. Its ways alternate; losses come
    first. The exit status is 0 unless Headrace failed or made wrong data somewhere.
    """
    return measure(PEERS, **wanted)
