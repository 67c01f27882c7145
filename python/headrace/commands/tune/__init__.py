"""`headrace tune`: what to set on this machine, by measuring."""

import click

from headrace.commands import CommandFolder


@click.group(cls=CommandFolder, package=__name__)
def tune() -> None:
    """Measure on this machine, and write what should be set."""
