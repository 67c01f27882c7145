"""`headrace site check`."""

import os
from pathlib import Path

import click

from headrace.bench.programs import ALL, CHOICES
from headrace.bench.runner import find_wanted
from headrace.bench.workspace import workspace
from headrace.commands._options import directory_option
from headrace.errors import say
from headrace.launch.preload import find_library
from headrace.settings.resolver import resolve_run
from headrace.site.check import checks
from headrace.site.files import SETTINGS


@click.command()
@click.argument(
    "prefix", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.option(
    "--mpi",
    "wanted",
    type=click.Choice(CHOICES),
    default=ALL,
    show_default=True,
    help="The MPI to check under.",
)
@directory_option("Where the job's file goes [the current directory].")
def check(prefix: Path | None, wanted: str, directory: Path | None) -> int:
    """Check that jobs get Headrace, and that users can turn it off.

    Starts small jobs under each MPI with what the module sets, and checks what they wrote. PREFIX
    is what 'headrace site init' was given. Exit code 1 if something is wrong.
    """
    settings = (prefix / SETTINGS).absolute() if prefix is not None else None
    library = find_library(os.environ)
    problems = []
    if settings is not None:
        problems = list(resolve_run({**os.environ, "HEADRACE_SITE": str(settings)}).problems)
        click.echo(f"{settings}: {'not used as it is' if problems else 'used'}")
    hosts = find_wanted([wanted], os.environ, click.echo)
    with workspace(directory or Path.cwd()) as folder:
        for one in checks(hosts, library, settings, folder, os.environ):
            click.echo(f"{one.what}: {one.found}")
            problems += [f"{one.what}: {one.problem}"] if one.problem else []
    for problem in problems:
        say(problem)
    return 1 if problems else 0
