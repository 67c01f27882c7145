"""`headrace demo`: plain MPI, POSIX or rank 0, and Headrace side by side, in about a minute."""

import os
from pathlib import Path

import click

from headrace.bench import report
from headrace.commands._options import directory_option, mpi_option
from headrace.demo.running import run_demo, show_next_steps


@click.command()
@mpi_option("MPICH is the embedded one; all: MPICH, Open MPI and Intel MPI.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=5),
    default=60,
    show_default=True,
    help="About how long, for each MPI.",
)
@directory_option(
    "Where the files are made: a disk, a tmpfs, a parallel file system.  [a temporary directory]"
)
def demo(wanted: str, seconds: float, directory: Path | None) -> int:
    """Show on this machine what Headrace does: speed, same bytes, path taken, losses first."""
    console = report.make_console()
    comparisons = run_demo(console, wanted, seconds, directory, os.environ)
    console.print()
    report.show(console, comparisons)
    show_next_steps(console)
    return 0 if comparisons and all(report.is_sound(one) for one in comparisons) else 1
