"""What commands that measure a grid share: their options."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from headrace.bench.peers import grid
from headrace.bench.peers.running import Request
from headrace.bench.programs import CHOICES
from headrace.commands._options import directory_option
from headrace.statistics import rounds_needed

USUAL_ROUNDS = 7


def request(**options: Any) -> Request:
    """The options that say what is measured, as one value."""
    wanted = Request(**options)
    if wanted.earlier is not None and wanted.json_file is not None:
        raise click.UsageError("--from shows what was measured, --json measures: give one of them")
    return wanted


def _numbers(
    _context: click.Context, option: click.Parameter, value: str | None
) -> tuple[int, ...]:
    words = (value or "").split(",")
    try:
        numbers = tuple(dict.fromkeys(map(int, words)))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 1:
        raise click.BadParameter(
            f"'{value}' is not a list of numbers from 1, as in {option.default}"
        )
    return numbers


def _words(_context: click.Context, _option: click.Parameter, value: str | None) -> list[str]:
    return [word.strip() for word in value.split(",")] if value is not None else []


def grid_options(ranks: str, mpi: str, figure: str) -> Callable[[Any], Any]:
    """The options of a command that measures a grid; `figure` says what --figure draws. They are
    passed on as `cells`, `listing`, `markdown`, `prefix` and the fields of Request."""
    options = (
        click.option(
            "--cells",
            callback=_words,
            metavar="NAME,...",
            help="Only these, or kinds of them; see --list.",
        ),
        click.option("--list", "listing", is_flag=True, help="List the cells and end."),
        directory_option(
            "Where the files are made; repeatable.  [a temporary directory on disk, and /dev/shm]",
            "directories",
            multiple=True,
        ),
        click.option("--np", "ranks", default=ranks, show_default=True, callback=_numbers),
        click.option(
            "--mpi",
            "wanted",
            multiple=True,
            type=click.Choice(CHOICES),
            default=(mpi,),
            show_default=True,
            help="The MPI to run under; repeatable.",
        ),
        click.option(
            "--rounds",
            type=click.IntRange(min=1),
            default=USUAL_ROUNDS,
            show_default=True,
            help=f"Measured rounds of each cell; a 95 % interval needs {rounds_needed()}.",
        ),
        click.option(
            "--repeats",
            type=click.IntRange(min=0),
            default=1,
            show_default=True,
            help="How often a cell is measured again at the end where other work was heard.",
        ),
        click.option(
            "--minutes",
            type=click.FloatRange(min=0, min_open=True),
            help="Stop after so long; with --json the same line goes on.",
        ),
        click.option(
            "--size",
            type=click.IntRange(min=1),
            default=grid.USUAL_SIZE,
            show_default=True,
            help="Bytes that all ranks together move in a cell.",
        ),
        click.option(
            "--json",
            "json_file",
            type=click.Path(dir_okay=False, path_type=Path),
            help="Keep the results here, round by round, and go on from those that it holds.",
        ),
        click.option(
            "--from",
            "earlier",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="Show what an earlier run kept with --json instead of measuring.",
        ),
        click.option(
            "--markdown",
            type=click.Path(dir_okay=False),
            help="Write tables here, - for standard output; into a file that is there between the "
            "lines that mark their place.",
        ),
        click.option(
            "--figure",
            "prefix",
            type=click.Path(path_type=Path),
            help=f"Draw {figure} as PREFIX.svg and PREFIX.png; needs matplotlib.",
        ),
    )

    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add
