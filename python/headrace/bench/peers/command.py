"""`headrace bench peers`."""

import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from headrace.bench import report
from headrace.bench.options import directory_option
from headrace.bench.peers import document, figure, grid, output
from headrace.bench.peers import results as storage
from headrace.bench.peers.grid import Point
from headrace.bench.peers.identity import identity, usual_directories
from headrace.bench.peers.judgement import judge, problems
from headrace.bench.peers.progress import Progress
from headrace.bench.peers.results import Results
from headrace.bench.peers.session import OutOfTime, Session
from headrace.bench.programs import ALL, CHOICES
from headrace.bench.runner import Host, find_wanted
from headrace.bench.statistics import rounds_needed
from headrace.bench.workspace import file_system, surroundings, workspace
from headrace.errors import HeadraceError, say

USUAL_ROUNDS = 7
USUAL_RANKS = "2,4,8"


def _numbers(_context: click.Context, _option: click.Parameter, value: str) -> tuple[int, ...]:
    try:
        numbers = tuple(dict.fromkeys(int(word) for word in value.split(",")))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 1:
        raise click.BadParameter(f"'{value}' is not a list of numbers from 1, as in {USUAL_RANKS}")
    return numbers


def _words(_context: click.Context, _option: click.Parameter, value: str | None) -> list[str]:
    return [word.strip() for word in value.split(",")] if value is not None else []


@click.command(short_help="Measures a grid of jobs against plain MPI at its best, and the limit.")
@click.option(
    "--cells", callback=_words, metavar="NAME,...", help="Only these, or kinds of them; see --list."
)
@click.option("--list", "listing", is_flag=True, help="List the cells and end.")
@directory_option(
    "Where the files are made; repeatable.  [a temporary directory on disk, and /dev/shm]",
    "directories",
    multiple=True,
)
@click.option("--np", "ranks", default=USUAL_RANKS, show_default=True, callback=_numbers)
@click.option(
    "--mpi",
    "wanted",
    multiple=True,
    type=click.Choice(CHOICES),
    default=(ALL,),
    show_default=True,
    help="The MPI to run under; repeatable.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=USUAL_ROUNDS,
    show_default=True,
    help=f"Measured rounds of each cell; a 95 % interval needs {rounds_needed()}.",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="How often a cell is measured again at the end where other work was heard.",
)
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    help="Stop after so long; with --json the same line goes on.",
)
@click.option(
    "--size",
    type=click.IntRange(min=1),
    default=grid.USUAL_SIZE,
    show_default=True,
    help="Bytes that all ranks together move in a cell.",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep the results here, round by round, and go on from those that it holds.",
)
@click.option(
    "--from",
    "earlier",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Show what an earlier run kept with --json instead of measuring.",
)
@click.option(
    "--markdown",
    type=click.Path(dir_okay=False),
    help="Write tables here, - for standard output; into a file that is there between the lines "
    f"'{document.BEGIN}' and '{document.END}'.",
)
@click.option(
    "--figure",
    "prefix",
    type=click.Path(path_type=Path),
    help="Draw the shares of the limit as PREFIX.svg and PREFIX.png; needs matplotlib.",
)
def peers(
    cells: list[str],
    listing: bool,
    directories: tuple[Path, ...],
    ranks: tuple[int, ...],
    wanted: tuple[str, ...],
    rounds: int,
    repeats: int,
    minutes: float | None,
    size: int,
    json_file: Path | None,
    earlier: Path | None,
    markdown: str | None,
    prefix: Path | None,
) -> int:
    """Measure the whole grid: Headrace against plain MPI with its defaults and with an expert's
    best settings, POSIX, and the limit, which is the same ranks moving as many bytes contiguously.

    \b
    headrace bench peers --json results.json --minutes 30      and again, until it is done
    headrace bench peers --from results.json --figure shares --markdown README.md

    A cell is a job on so many ranks in a directory under an MPI. Its ways alternate; losses come
    first. The exit status is 0 unless Headrace failed or made wrong data somewhere.
    """
    chosen = grid.select(cells)
    if listing:
        for case in chosen:
            print(f"{case.name:16} {case.title}")
        return 0
    if earlier is not None and json_file is not None:
        raise click.UsageError("--from shows what was measured, --json measures: give one of them")
    if prefix is not None:
        figure.require()
    if earlier is not None:
        found = storage.load(earlier)
    else:
        # The directory that is there is the one that counts, by whichever name.
        places = [folder.resolve() for folder in directories]
        places = places or usual_directories(Path(tempfile.gettempdir()))
        hosts = {host.name: host for host in find_wanted(wanted, os.environ, say)}
        found = _open(json_file, size, os.environ)
        points = [
            Point(case.name, count, kind, str(place))
            for count in ranks
            for place in dict.fromkeys(places)
            for kind in hosts
            for case in chosen
        ]
        with _session(points, hosts, found, json_file, size, rounds, repeats, minutes) as session:
            _run(session, json_file)
    output.show(report.make_console(), found)
    if prefix is not None:
        for file in figure.draw(judge(found), prefix):
            say(f"the figure is in '{file}'")
    if markdown is not None:
        picture = f"{prefix.as_posix()}.svg" if prefix is not None else ""
        document.write(markdown, document.section(found, picture))
    return 1 if problems(found) else 0


def _open(json_file: Path | None, size: int, environ: Mapping[str, str]) -> Results:
    """The results so far: those of the file, where there is one."""
    now = identity(size, environ)
    if json_file is None or not json_file.exists():
        found = Results(now)
    else:
        found = storage.load(json_file)
        storage.check_identity(found, now, json_file)
    if json_file is not None:
        storage.save(found, json_file)  # if that fails, then now
    return found


@contextmanager
def _session(
    points: Sequence[Point],
    hosts: Mapping[str, Host],
    found: Results,
    json_file: Path | None,
    size: int,
    rounds: int,
    repeats: int,
    minutes: float | None,
) -> Iterator[Session]:
    """The session, with directories for its files as long as it lasts. Raises before anything is
    measured where a job cannot be made or its files do not fit."""
    with ExitStack() as stack:
        folders = {}
        for place in dict.fromkeys(point.directory for point in points):
            folders[place] = stack.enter_context(workspace(Path(place)))
            found.file_systems[place] = file_system(Path(place))
            say(f"files in {surroundings(Path(place))}")
        names = {point: _name(point, hosts, found) for point in points}

        def save() -> None:
            if json_file is not None:
                storage.save(found, json_file)

        session = Session(
            points,
            hosts,
            folders,
            size,
            rounds,
            repeats,
            os.environ,
            found,
            save,
            Progress(say, points, found, rounds, names),
            time.monotonic() + 60 * minutes if minutes is not None else float("inf"),
        )
        session.check()
        yield session


def _name(point: Point, hosts: Mapping[str, Host], found: Results) -> str:
    kind = found.file_systems[point.directory]
    return f"{point.case}, {point.ranks} ranks, {kind}, {hosts[point.mpi].title}"


def _run(session: Session, json_file: Path | None) -> None:
    """Measures; says where the results are when it ends before all are there."""
    kept = f"; what was measured is in '{json_file}', the same line goes on" if json_file else ""
    try:
        session.run()
    except OutOfTime:
        say(f"the time is over, {session.progress.left()}{kept}")
    except KeyboardInterrupt:
        say(f"stopped, {session.progress.left()}{kept}")
        raise
    except HeadraceError:
        output.show(report.make_console(), session.results)
        say(f"stopped, {session.progress.left()}{kept}")
        raise
