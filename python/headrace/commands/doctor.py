"""`headrace doctor`: what Headrace finds on this machine, for those who support its users."""

import os
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from headrace import __version__, front, machine
from headrace.errors import HeadraceError
from headrace.library import find_library
from headrace.mpi import embedded, find_all

# Columns where the output is no terminal: lines stay whole for grep.
PLAIN_WIDTH = 240


@click.command()
@click.option(
    "--front",
    "fronts",
    multiple=True,
    metavar="FILE",
    help="Also look whether this front library is good (headrace preload --front).",
)
def doctor(fronts: tuple[str, ...]) -> None:
    """Show the library, the MPIs and the launchers found. Exit code 1 if one of them lacks."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
    console.print(f"headrace  {__version__}, {machine.available_cores()} cores")
    problems = []
    try:
        console.print(f"library   {find_library(os.environ)}", markup=False)
    except HeadraceError as error:
        problems.append(str(error))
    mpis = find_all(os.environ)
    if mpis:
        table = Table(box=None, pad_edge=False)
        for heading in ("MPI", "version", "launcher", "library", "standard ABI", "found by"):
            table.add_column(heading, overflow="fold")
        for mpi in mpis:
            standard = "yes" if mpi.abi_library else "no"
            row = (
                mpi.title,
                mpi.version,
                str(mpi.launcher),
                str(mpi.library),
                standard,
                mpi.source,
            )
            table.add_row(*row)
        console.print(table)
    else:
        problems.append(
            "no MPI was found (no launcher in PATH), load a module or set HEADRACE_MPI_PATH"
        )
    if embedded(os.environ) is None:
        console.print("embedded  no MPICH wheel beside headrace (pip install mpich)", markup=False)
    for name in fronts:
        problems += _show_front(console, Path(name).absolute())
    for problem in problems:
        click.echo(f"headrace: {problem}", err=True)
    raise SystemExit(1 if problems else 0)


def _show_front(console: Console, path: Path) -> list[str]:
    found = front.read(path)
    if found is not None:
        line = f"front     {path}: {found.headrace}, then {found.mpi}"
        console.print(line, markup=False)
    return front.problems(path)
