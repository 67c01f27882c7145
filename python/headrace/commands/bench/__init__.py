"""`headrace bench`: the benchmark programs under any MPI, with Headrace or without."""

import click

from headrace.commands import CommandFolder


@click.group(cls=CommandFolder, package=__name__)
def bench() -> None:
    """Measure MPI-IO: benchmark programs with Headrace, or plain, under any MPI."""
