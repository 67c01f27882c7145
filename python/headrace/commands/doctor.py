"""`headrace doctor`: what Headrace finds on this machine, for those who support its users."""

import os
from pathlib import Path

import click

from headrace.doctor import support_report
from headrace.doctor.findings import show
from headrace.errors import say
from headrace.launch.preload import library_or_none


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
    help="Also show this machine, its limits and the settings of MPI: what support asks for.",
)
def doctor(fronts: tuple[Path, ...], is_for_support: bool) -> int:
    """Show the library, the MPIs and the launchers found. Exit code 1 if one of them lacks."""
    problems = show(fronts, os.environ)
    if is_for_support:
        for line in support_report.lines(library_or_none(os.environ), Path.cwd(), os.environ):
            click.echo(line)
    for problem in problems:
        say(problem)
    return 1 if problems else 0
