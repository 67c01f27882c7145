"""`headrace bench copy`."""

import click

from headrace.bench.programs import become_program


@click.command(
    short_help="Tries ways to copy pieces to a staging slot on this processor.",
    context_settings={"allow_interspersed_args": False},
)
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
def copy(flags: tuple[str, ...]) -> None:
    """Try ways to copy pieces to a staging slot on this processor, without an MPI: what Headrace
    does, the C library's memcpy, vectors, stores past the cache.

    \b
    headrace bench copy -- --dir DIRECTORY     also writes the slots to files there
    headrace bench copy -- -h                  lists the flags
    """
    become_program("copy", flags)
