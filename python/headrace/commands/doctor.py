"""`headrace doctor`: what Headrace finds on this machine, for those who support its users."""

import os
from pathlib import Path

import click

from headrace.doctor.findings import show
from headrace.errors import say


@click.command()
@click.option(
    "--front",
    "fronts",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also look whether this front library is good (headrace preload --front).",
)
def doctor(fronts: tuple[Path, ...]) -> int:
    """Show the library, the MPIs and the launchers found. Exit code 1 if one of them lacks."""
    problems = show(fronts, os.environ)
    for problem in problems:
        say(problem)
    return 1 if problems else 0
