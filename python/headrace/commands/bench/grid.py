"""`headrace bench grid`."""

from pathlib import Path
from typing import Any

import click

from headrace.bench.grid import figure, output
from headrace.bench.grid.cases import CASES
from headrace.bench.grid.judgement import judge
from headrace.bench.grid.session import GridSession
from headrace.bench.peers.judgement import problems
from headrace.bench.peers.results import Results
from headrace.bench.programs import ALL
from headrace.commands.bench._grid import Grid, grid_options, measure

FORMAT = "headrace bench grid 1"
PAIRS = 9
SIZE = 32_000_000


def _draw(found: Results, prefix: Path) -> list[Path]:
    return figure.draw(judge(found), prefix)


GRID = Grid(
    *(CASES, GridSession, FORMAT, output.show, _draw),
    *(output.section, output.BEGIN, output.END),
    lambda found: not problems(found, output.ways(found)),
)


@click.command(short_help="Measures the defaults against the best of Headrace's own settings.")
@grid_options("2", ALL, "the default to the best setting", PAIRS, SIZE)
def grid(**wanted: Any) -> int:
    """Measure whether anybody has to set anything: in each cell, Headrace's defaults against the
    best setting that a search over all those that act there finds.

    \b
    headrace bench grid --json grid.json --minutes 30          and again, until it is done
    headrace bench grid --patterns tile,ior --mpi mpich --dir /scratch/me -n 4
    headrace bench grid --from grid.json --figure grid --markdown grid.md

    A cell is a pattern of access on so many ranks in a directory under an MPI. How long all will
    take is told first. The best of a search meets the default again, in --rounds pairs, and only
    these count; cells that lose come first. All data is checked. The exit status is 0 unless
    Headrace failed or made wrong data somewhere.
    """
    return measure(GRID, **wanted)
