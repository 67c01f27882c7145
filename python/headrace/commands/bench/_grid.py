"""What commands that measure a grid share: their options, and what they do with them."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from headrace.bench import report
from headrace.bench.peers import document, grid
from headrace.bench.peers.figure import require
from headrace.bench.peers.grid import Case, select
from headrace.bench.peers.results import Results
from headrace.bench.peers.running import Request, find_results, list_cells
from headrace.bench.peers.session import Session
from headrace.bench.programs import CHOICES, kinds_of
from headrace.commands._options import directory_option, is_given, refuse_given, run_limit_option
from headrace.errors import HeadraceError, say
from headrace.statistics import rounds_needed

USUAL_ROUNDS = 7


@dataclass(frozen=True)
class Grid:
    """What one command measures and how it shows it. form: of the file of results; section: the
    text between the markers `begin` and `end` of a page, with a picture; is_sound: whether Headrace
    worked everywhere."""

    cases: Sequence[Case]
    session: type[Session]
    form: str
    show: Callable[[Console, Results], None]
    draw: Callable[[Results, Path], list[Path]]
    section: Callable[[Results, str], str]
    begin: str
    end: str
    is_sound: Callable[[Results], bool]


def measure(
    what: Grid,
    cells: list[str],
    listing: bool,
    markdown: str | None,
    prefix: Path | None,
    **wanted: Any,
) -> int:
    """Measures, or shows what was measured, as grid_options() were given. The exit code."""
    chosen = select(cells, what.cases)
    if listing:
        list_cells(chosen)
        return 0
    _require_targets(what, markdown, prefix)

    def show(found: Results) -> None:
        what.show(report.make_console(), found)

    request = _request(**wanted)
    found = find_results(request, chosen, what.session, what.form, show)
    if request.earlier is not None:
        _keep_only(found, request, {case.name for case in chosen} if cells else set())
    show(found)
    if markdown is not None:
        text = what.section(found, document.picture_link(prefix, markdown))
        document.write(markdown, text, what.begin, what.end)
    if prefix is not None:
        for file in what.draw(found, prefix):
            say(f"the figure is in '{file}'")
    return 0 if what.is_sound(found) else 1


def _require_targets(what: Grid, markdown: str | None, prefix: Path | None) -> None:
    """Raises where a page or a figure cannot be written, before hours are spent on its numbers."""
    report.require_writable(markdown)
    if markdown is not None:
        document.require_place(markdown, what.begin, what.end)
    if prefix is not None:
        require(prefix)


def _request(**options: Any) -> Request:
    """The options that say what is measured, as one value."""
    wanted = Request(**options)
    if wanted.earlier is not None and wanted.json_file is not None:
        raise click.UsageError("--from shows what was measured, --json measures: give one of them")
    if wanted.earlier is not None:
        refuse_given(
            ("rounds", "repeats", "minutes", "run_seconds", "size"), "--from measures nothing"
        )
    return wanted


def _keep_only(found: Results, request: Request, cases: Collection[str]) -> None:
    """Of what an earlier run kept, the points that the line's options name. cases: none: all."""
    mpis = {kind for value in request.wanted for kind in kinds_of(value)}
    places = {str(folder.resolve()) for folder in request.directories}
    points = list(found.points)
    for point in points:
        is_named = (
            (not cases or point.case in cases)
            and (not is_given("ranks") or point.ranks in request.ranks)
            and (not is_given("wanted") or point.mpi in mpis)
            and (not places or point.directory in places)
        )
        if not is_named:
            del found.points[point]
    if points and not found.points:
        raise HeadraceError(
            f"'{request.earlier}' has nothing of that",
            "no cell that it holds is among those named",
            "leave out --cells, -n, --mpi or --dir",
        )


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


def grid_options(
    ranks: str, mpi: str, figure: str, rounds: int = USUAL_ROUNDS, size: int = grid.USUAL_SIZE
) -> Callable[[Any], Any]:
    """The options of a command that measures a grid; `figure` says what --figure draws. They are
    those of measure()."""
    options = (
        click.option(
            "--cells",
            "--patterns",
            "cells",
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
        click.option("-n", "--np", "ranks", default=ranks, show_default=True, callback=_numbers),
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
            default=rounds,
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
        run_limit_option,
        click.option(
            "--size",
            type=click.IntRange(min=1),
            default=size,
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
