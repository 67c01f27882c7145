"""`headrace tune io`, or `headrace tune DIR`."""

import os
import stat
import time
from pathlib import Path

import click
from rich.console import Console

from headrace import machine
from headrace.bench import report
from headrace.bench.workspace import surroundings, workspace
from headrace.commands._options import mpi_option
from headrace.demo.progress import DemoProgress
from headrace.errors import HeadraceError, say
from headrace.settings.resolver import Resolution, resolve_run
from headrace.settings.standing import remedy_of
from headrace.tune import output, profile, standing
from headrace.tune.gains import range_text
from headrace.tune.running import Way
from headrace.tune.session import Session

# Of the time, for the two patterns that are measured with and without the profile.
SHARE_TO_CONFIRM = 0.15
CHECK_MINUTES = 0.5
SECONDS = 60


@click.command(short_help="Measures a file system, and writes the costs that choices go by.")
@click.argument("directory", type=click.Path(path_type=Path))
@click.argument("launcher", nargs=-1, type=click.UNPROCESSED, metavar="[-- LAUNCHER...]")
@click.option(
    "-n",
    "--np",
    "ranks",
    type=click.IntRange(min=2),
    help="Ranks of the job, if no launcher is given; as many as there are cores.",
)
@mpi_option("The MPI to measure under, if no launcher is given or it does not tell.")
@click.option(
    "--minutes",
    type=click.FloatRange(min=0.02, max=24 * 60),
    help="How long to measure.  [default: 3; with --check 0.5]",
)
@click.option(
    "--output",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write the profile, or with --check the one to look at; the directory 'profiles' "
    "beside your file of settings.",
)
@click.option("--check", is_flag=True, help="Only say whether the profile still fits.")
@click.option("--raw", is_flag=True, help="Show every figure that was measured.")
def io(
    directory: Path,
    launcher: tuple[str, ...],
    ranks: int | None,
    wanted: str,
    minutes: float | None,
    file: Path | None,
    check: bool,
    raw: bool,
) -> int:
    """Measure the file system of DIRECTORY, and write its profile: the costs by which Headrace
    chooses the path of each collective call. Jobs find it by the file system. docs/tune.md explains
    it.

    \b
    headrace tune /scratch/me
    headrace tune /scratch/me -- mpiexec -n 64
    headrace tune --check /scratch/me
    """
    if wanted == "all":
        raise HeadraceError("--mpi all has no meaning here", "a profile is of one job", "name one")
    if launcher and ranks is not None:
        raise HeadraceError(
            "-n has no meaning here", "the launcher has a count of its own", "leave it out"
        )
    if why := _why_no_directory(directory):
        raise HeadraceError(f"'{directory}' cannot be measured", why, "name another one")
    run = resolve_run(os.environ)
    if run.value("HEADRACE_DISABLE"):
        raise HeadraceError(
            "Headrace's choices cannot be measured",
            "HEADRACE_DISABLE turns Headrace off",
            "unset it",
        )
    way = Way(wanted, ranks or max(2, machine.available_cores()), launcher)
    if minutes is None:
        minutes = CHECK_MINUTES if check else 3
    console, told = report.make_console(), Console(stderr=True)
    there = _to_check(directory, file, run) if check else []
    places = Path() if check else _places(file, run)
    say(f"measuring {surroundings(directory.absolute())}")
    begin = time.monotonic()
    with workspace(directory.absolute()) as folder:
        session = Session(way, folder, os.environ)
        with DemoProgress(told, minutes * SECONDS) as progress:
            share = 1 - (0 if check else SHARE_TO_CONFIRM)
            session.measure(minutes * SECONDS * share, progress.tell)
        if check:
            if raw:
                output.show_table(console, output.raw_table(session.measured))
            return _check(session, standing.fitting(there, session.measured))
        wanted_place = file or places / profile.file_name(session.measured)
        choices = session.choices(session.draft())
        output.show(console, session.measured, session.rows, choices, raw)
        with DemoProgress(told, minutes * SECONDS) as progress:
            left = max(2.0, minutes * SECONDS - (time.monotonic() - begin))
            denied = session.confirm(console, choices, left, progress.tell)
        place, counts = session.keep_somewhere(wanted_place, choices, denied)
    say(f"the profile is '{place}', its figures are '{profile.figures_file(place)}'")
    for way_of, pairs in counts.items():
        say(f"it applies to {way_of}s with pieces of: {range_text(pairs)}{' B' if pairs else ''}")
    say(f"it applies to files of one node, of up to {session.measured.node_ranks} ranks")
    say(standing.use_of(place, run))
    return 0 if place == wanted_place else 1


def _why_no_directory(path: Path) -> str:
    """Nothing if it is one."""
    try:
        return "" if stat.S_ISDIR(path.stat().st_mode) else "it is no directory"
    except OSError as error:
        is_absent = isinstance(error, FileNotFoundError | NotADirectoryError)
        return "it is no directory" if is_absent else error.strerror or str(error)


def _to_check(directory: Path, file: Path | None, run: Resolution) -> list[profile.Profile]:
    """Before anything is measured: what is to be checked is there."""
    if file is None:
        return standing.candidates(directory, run)
    found = profile.read_profile(file)
    if why := standing.why_ignored(file):
        say(f"jobs ignore '{file}' ({why}), {remedy_of(why, file.absolute())}")
    return [found]


def _places(file: Path | None, run: Resolution) -> Path:
    """The directory of the profile, in which it can be written."""
    if file is None:
        places = profile.user_directory(str(run.value("HEADRACE_USER")), os.environ)
        standing.require_trusted(places)
    else:
        places = file.absolute().parent
    profile.require_place(file or places / "profile.toml")
    return places


def _check(session: Session, there: profile.Profile) -> int:
    verdict, place = session.check(there), there.path
    for line in (*verdict.misfits, *verdict.chosen):
        say(f"'{place}' does not fit: {line}")
    for line in verdict.changed:
        say(f"another cost than in '{place}': {line}")
    if verdict.fits:
        say(f"'{place}' still fits: it makes the choices that what was measured now makes")
        return 0
    say("measure anew: headrace tune DIRECTORY")
    return 1
