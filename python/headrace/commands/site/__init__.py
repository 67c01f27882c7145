"""`headrace site`: Headrace for all users of a site."""

import click

from headrace.commands import CommandFolder


@click.group(cls=CommandFolder, package=__name__)
def site() -> None:
    """Give Headrace to all users of a site, and check that they have it."""
