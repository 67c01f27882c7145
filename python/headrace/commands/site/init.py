"""`headrace site init`."""

import os
import sys
from pathlib import Path

import click

from headrace import __version__
from headrace.errors import say
from headrace.launch.preload import find_library
from headrace.site.files import Site, write


@click.command()
@click.argument("prefix", type=click.Path(file_okay=False, path_type=Path))
def init(prefix: Path) -> None:
    """Write module files, a file of settings and a directory of profiles for all users into PREFIX.

    \b
    PREFIX/modulefiles/headrace/VERSION.lua     for Lmod
    PREFIX/modulefiles/headrace/VERSION         for Environment Modules
    PREFIX/headrace.toml                        settings and hints of the site; kept if it is there
    PREFIX/profiles                             for what 'headrace tune' measures for all users

    docs/site.md leads through all of it.
    """
    commands = Path(sys.argv[0]).absolute().parent
    if not os.access(commands / "headrace", os.X_OK):
        commands = Path(sys.executable).parent
    if not os.access(commands / "headrace", os.X_OK):
        say(
            f"the module adds '{commands}' to PATH, which has no headrace (it is not installed), "
            "install it, or correct the module"
        )
    site = Site(prefix.absolute(), __version__, find_library(os.environ), commands)
    for path, done in write(site):
        click.echo(f"{done:8} {path}")
    click.echo("\nNext, on a node where jobs run:")
    click.echo(f"    headrace site check {site.prefix}")
    click.echo(f"    module use {site.modules} && module load headrace")
    click.echo(f"    headrace tune DIRECTORY --output {site.profiles}/NAME.toml")
