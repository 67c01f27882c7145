"""`headrace include`: where the header and the Fortran module for regions are."""

from importlib.resources import files

import click


@click.command()
def include() -> None:
    """Print the folder of headrace.h, headrace.f90 and pat_api.h.

    cc -I$(headrace include) program.c

    mpif90 $(headrace include)/headrace.f90 program.f90

    By these a program names its phases, and switches recording off and on (docs/regions.md). Built
    with them, it runs without Headrace as before.
    """
    click.echo(files("headrace") / "include")
