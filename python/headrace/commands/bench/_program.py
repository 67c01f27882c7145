"""The command of a benchmark program. All of them have the same options."""

import os

import click

from headrace.bench.programs import DEFAULT_RANKS
from headrace.bench.runner import run_program
from headrace.commands._options import mpi_option

HELP = """

\b
headrace bench {name} [-n N] [--mpi NAME] [--plain] -- FLAGS
headrace bench {name} -- -h      lists the flags
"""


def program_command(name: str, title: str) -> click.Command:
    """The command `name`, which runs the program of that name. `title` is what the program does."""

    @click.command(
        name,
        help=title + HELP.format(name=name),
        short_help=title,
        context_settings={"allow_interspersed_args": False},
    )
    @click.option(
        "-n",
        "--np",
        type=click.IntRange(min=1),
        default=DEFAULT_RANKS[name],
        show_default=True,
        help="Ranks.",
    )
    @mpi_option("The MPI to run under.")
    @click.option("--plain", is_flag=True, help="Without Headrace.")
    @click.argument("flags", nargs=-1, type=click.UNPROCESSED)
    def command(np: int, wanted: str, plain: bool, flags: tuple[str, ...]) -> int:
        return run_program(name, np, wanted, flags, os.environ, preload=not plain)

    return command
