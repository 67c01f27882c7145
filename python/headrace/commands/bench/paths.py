"""`headrace bench paths`."""

from pathlib import Path
from typing import Any

import click

from headrace.bench import report
from headrace.bench.paths import figure, output
from headrace.bench.paths.grid import CASES, KEYS, PathSession
from headrace.bench.paths.judgement import judge
from headrace.bench.peers import document
from headrace.bench.peers.figure import require
from headrace.bench.peers.grid import select
from headrace.bench.peers.judgement import problems
from headrace.bench.peers.results import Results
from headrace.bench.peers.running import find_results, list_cells
from headrace.commands.bench._grid import grid_options, request
from headrace.errors import say

FORMAT = "headrace bench paths 2"


@click.command(short_help="Measures whether the cost model takes the better path.")
@grid_options("2", "mpich", "both paths' times, measured and estimated,")
def paths(
    cells: list[str], listing: bool, markdown: str | None, prefix: Path | None, **wanted: Any
) -> int:
    """Measure Headrace with the path of collective calls as its cost model picks it, and with each
    path by force (HEADRACE_WRITE_PATH, HEADRACE_READ_PATH; one at a time), in turn.

    \b
    headrace bench paths --json paths.json --minutes 10       and again, until it is done
    headrace bench paths --from paths.json --figure paths

    Cells in which the model loses more than 10 % against the better path come first. The exit
    status is 0 unless Headrace failed or made wrong data somewhere.
    """
    chosen = select(cells, CASES)
    if listing:
        list_cells(chosen)
        return 0
    if prefix is not None:
        require()
    found = find_results(request(**wanted), chosen, PathSession, FORMAT, _show)
    _show(found)
    if prefix is not None:
        for file in figure.draw(judge(found), found.identity["size"], prefix):
            say(f"the figure is in '{file}'")
    if markdown is not None:
        picture = document.picture_link(prefix, markdown)
        document.write(markdown, output.section(found, picture), output.BEGIN, output.END)
    return 1 if problems(found, KEYS) else 0


def _show(found: Results) -> None:
    output.show(report.make_console(), found)
