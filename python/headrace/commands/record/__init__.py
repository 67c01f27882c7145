"""`headrace record`: what is done with records but showing them."""

import click

from headrace.commands import CommandFolder


@click.group(cls=CommandFolder, package=__name__)
def record() -> None:
    """Give records of runs to other programs."""
