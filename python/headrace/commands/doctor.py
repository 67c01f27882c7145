"""`headrace doctor`: what Headrace finds on this machine, for those who support its users."""

import os
from pathlib import Path

import click

from headrace import machine
from headrace.doctor import support_report
from headrace.doctor.anonymous import hider
from headrace.doctor.findings import show
from headrace.errors import HeadraceError, say
from headrace.launch.preload import library_or_none
from headrace.settings.resolver import resolve_run
from headrace.tune import standing


@click.command()
@click.option(
    "--front",
    "fronts",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also look whether this front library is good (headrace preload --front).",
)
@click.option(
    "--report",
    "is_for_support",
    is_flag=True,
    help="Also show this machine, its limits and the settings of MPI: what support asks for. "
    "It has ~ for your home directory and USER for your name.",
)
def doctor(fronts: tuple[Path, ...], is_for_support: bool) -> int:
    """Show the library, the MPIs and the launchers found. Exit code 1 if one of them lacks."""
    hide = hider(os.environ) if is_for_support else str
    problems = show(fronts, os.environ, hide)
    if is_for_support:
        here = _here()
        library = library_or_none(os.environ)
        for line in support_report.lines(library, here, os.environ, hide):
            click.echo(_printable(hide(line)))
        click.echo(_printable(hide(f"profile   {_profile(here)}")))
    for problem in problems:
        say(problem)
    return 1 if problems else 0


def _printable(text: str) -> str:
    """Names of files need not be UTF-8."""
    return text.encode(errors="backslashreplace").decode()


def _here() -> Path:
    """The current directory; "." where it was removed."""
    try:
        return Path.cwd()
    except OSError:
        return Path()


def _profile(directory: Path) -> str:
    """Which one jobs here use for files in a directory."""
    try:
        machine.mount_point(directory)
    except OSError as error:
        return f"'{directory}' cannot be looked at ({error.strerror})"
    try:
        found = standing.used(directory, resolve_run(os.environ), os.environ)
    except HeadraceError as error:
        return str(error)
    if found is None:
        return f"none is of this processor and of the file system of '{directory}'"
    of = f"of {found.file_system}{f' at {found.mount}' if found.mount else ''}, {found.date}"
    return f"'{found.path}' ({of}), for files of one node, of up to {found.node_ranks} ranks"
