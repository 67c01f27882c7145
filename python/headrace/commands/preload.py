"""`headrace preload`: the value for LD_PRELOAD, for module files and scripts; front libraries."""

import os
from pathlib import Path

import click

from headrace.errors import HeadraceError
from headrace.front import library as front
from headrace.launch.job import require_preloadable
from headrace.launch.preload import combine_preload, find_library
from headrace.launch.values import PRELOAD


@click.command()
@click.argument("program", required=False)
@click.option(
    "--front",
    "mpi_library",
    metavar="LIBMPI",
    help="Make a front library for this MPI library, and print its path (docs/hosts.md).",
)
@click.option(
    "--output", metavar="FILE", help="With --front, the file to make [libmpi-headrace.so.N]."
)
def preload(program: str | None, mpi_library: str | None, output: str | None) -> None:
    """Print the value for LD_PRELOAD: one library, whatever the MPI.

    A value LD_PRELOAD has already is kept in front. With PROGRAM, first checks that it can be
    preloaded and uses an MPI that Headrace carries; if not, says why and prints nothing.

    With --front, makes a library for programs that open LIBMPI themselves and look its functions up
    by dlsym, as ctypes and cffi do, where a preload is not found: they open that one instead.
    """
    library = find_library(os.environ)
    if mpi_library is not None:
        _refuse_program(program)
        click.echo(front.make(Path(mpi_library), library, Path(output) if output else None))
        return
    if output is not None:
        raise HeadraceError(
            "--output has no meaning here",
            "it names a front library",
            "leave it out, or give --front LIBMPI",
        )
    if program is not None:
        require_preloadable([program], library, os.environ)
    click.echo(combine_preload(os.environ.get(PRELOAD), str(library)))


def _refuse_program(program: str | None) -> None:
    if program is not None:
        raise HeadraceError(
            f"'{program}' has no meaning here",
            "a front library is made for an MPI library, not for a program",
            "leave one of them out",
        )
