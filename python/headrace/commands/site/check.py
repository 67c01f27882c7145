"""`headrace site check`."""

import os
from collections.abc import Mapping
from pathlib import Path

import click

from headrace.bench.programs import ALL, CHOICES
from headrace.bench.runner import Host, find_wanted
from headrace.bench.workspace import workspace
from headrace.commands._options import directory_option
from headrace.errors import HeadraceError, say
from headrace.launch.preload import find_library, preloaded_library
from headrace.places import visible_in
from headrace.settings.standing import with_home
from headrace.site.check import checks, settings_problems
from headrace.site.given import Given, read_modules, unreadable
from headrace.tune import standing


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

    Reads what the module files in PREFIX set, which is what 'headrace site init' was given, and
    starts small jobs with that under each MPI; their bytes are checked. Tells what is wrong in the
    site's settings and hints, what each of its profiles applies to, and what users cannot read.
    Without PREFIX: jobs get what this shell
    has loaded. Exit code 1 if something is wrong.
    """
    every = read_modules(prefix.absolute()) if prefix is not None else [_loaded(os.environ)]
    hosts = find_wanted([wanted], os.environ, click.echo)
    problems = [line for given in every for line in unreadable(given)]
    for given in every:
        if given.module is not None:
            click.echo(f"{given.module}: preloads {given.library}")
    # Those of a version for both module systems say the same.
    different = {(given.library, given.settings): given for given in every}
    with workspace(directory or Path.cwd()) as folder:
        for given in different.values():
            problems += _check(given, hosts, folder)
    for problem in dict.fromkeys(problems):
        say(problem)
    return 1 if problems else 0


def _loaded(environ: Mapping[str, str]) -> Given:
    """What this shell gives jobs; what this command has, if no module is loaded."""
    settings = environ.get("HEADRACE_SITE")
    library = preloaded_library(environ) or find_library(environ)
    return Given(None, library, Path(settings) if settings else None)


def _check_profiles(settings: Path) -> list[str]:
    """Shows what each profile beside the site's settings applies to, and returns what is wrong."""
    problems = []
    for path in visible_in(settings.parent / standing.FOLDER, ".toml"):
        try:
            applies_to = standing.scope_of(path)
        except HeadraceError as error:
            problems.append(str(error))
            continue
        click.echo(f"{path}: applies to {applies_to}")
    return problems


def _check(given: Given, hosts: list[Host], folder: Path) -> list[str]:
    """Shows what is found, and returns what is wrong."""
    problems = settings_problems(given, folder, os.environ)
    if given.settings is not None:
        click.echo(f"{given.settings}: {'not used as it is' if problems else 'used'}")
        problems += _check_profiles(Path(with_home(str(given.settings), os.environ)))
    if not os.path.isfile(given.library):
        return [
            *problems,
            f"jobs do not get Headrace ('{given.library}' is not there), install it there, or run "
            "headrace site init anew",
        ]
    for one in checks(hosts, given, folder, os.environ):
        click.echo(f"{one.what}: {one.found}")
        problems += [f"{one.what}: {one.problem}"] if one.problem else []
        problems += one.told
    return problems
