"""`headrace bench paths`."""

from pathlib import Path
from typing import Any

import click

from headrace.bench.paths import figure, output
from headrace.bench.paths.grid import CASES, KEYS, PathSession
from headrace.bench.paths.judgement import judge
from headrace.bench.peers.judgement import problems
from headrace.bench.peers.results import Results
from headrace.commands.bench._grid import Grid, grid_options, measure

FORMAT = "headrace bench paths 2"


def _draw(found: Results, prefix: Path) -> list[Path]:
    return figure.draw(judge(found), found.identity["size"], prefix)


PATHS = Grid(
    *(CASES, PathSession, FORMAT, output.show, _draw),
    *(output.section, output.BEGIN, output.END),
    lambda found: not problems(found, KEYS),
)


@click.command(short_help="Measures whether the cost model takes the better path.")
@grid_options("2", "mpich", "both paths' times, measured and estimated,")
def paths(**wanted: Any) -> int:
    """Measure Headrace with the path of collective calls as its cost model picks it, and with each
    path by force (HEADRACE_WRITE_PATH, HEADRACE_READ_PATH; one at a time), in turn.

    \b
    headrace bench paths --json paths.json --minutes 10       and again, until it is done
    headrace bench paths --from paths.json --figure paths

    Cells in which the model loses more than 10 % against the better path come first. The exit
    status is 0 unless Headrace failed or made wrong data somewhere.
    """
    return measure(PATHS, **wanted)
