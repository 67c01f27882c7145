"""`headrace demo`: plain MPI, POSIX or rank 0, and Headrace side by side, in about a minute."""

import os
from pathlib import Path

import click

from headrace.bench import report
from headrace.bench.comparison import Comparison
from headrace.bench.runner import Host
from headrace.commands._options import directory_option, mpi_option
from headrace.demo.page import write_page
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
@click.option(
    "--page",
    type=click.Path(path_type=Path),
    default=Path("headrace-demo.html"),
    show_default=True,
    help="File for the report of one run, as a page.",
)
def demo(wanted: str, seconds: float, directory: Path | None, page: Path) -> int:
    """Show on this machine what Headrace does: speed, same bytes, path taken, losses first; and the
    report of one run as a page."""
    console = report.make_console()

    def finish(comparisons: list[Comparison], host: Host, folder: Path) -> None:
        console.print()
        report.show(console, comparisons)
        show_next_steps(console)
        write_page(console, host, folder, page, os.environ)

    comparisons = run_demo(console, wanted, seconds, directory, os.environ, finish)
    return 0 if comparisons and all(report.is_sound(one) for one in comparisons) else 1
