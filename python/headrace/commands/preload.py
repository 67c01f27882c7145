"""`headrace preload`: the value for LD_PRELOAD, for module files and scripts."""

import os

import click

from headrace.choice import no_mpi, unsupported_mpi
from headrace.errors import HeadraceError
from headrace.launch import PRELOAD
from headrace.library import combine_preload, find_library
from headrace.mpi import kind_of
from headrace.program import examine, preload_obstacle


@click.command()
@click.argument("program", required=False)
def preload(program: str | None) -> None:
    """Print the value for LD_PRELOAD: one library, whatever the MPI.

    A value LD_PRELOAD has already is kept in front. With PROGRAM, first checks that it can be
    preloaded and uses an MPI that Headrace carries; if not, says why and prints nothing.
    """
    library = find_library(os.environ)
    if program is not None:
        found = examine([program], os.environ)
        obstacle = preload_obstacle(found.image, library)
        if obstacle is not None:
            raise HeadraceError(*obstacle)
        if not found.uses_mpi:
            raise no_mpi(found)
        if found.library is not None and kind_of(found.library) is None:
            raise unsupported_mpi(found)
    click.echo(combine_preload(os.environ.get(PRELOAD), str(library)))
