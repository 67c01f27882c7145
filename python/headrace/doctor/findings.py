"""Looks for the library, the MPIs and front libraries, and shows them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from headrace import __version__, machine
from headrace.errors import HeadraceError
from headrace.front import library as front
from headrace.launch.preload import find_library
from headrace.mpi.installed import Mpi, embedded, find_all
from headrace.settings.resolver import resolve_run

# Columns where the output is no terminal: lines stay whole for grep.
PLAIN_WIDTH = 240

HEADINGS = ("MPI", "version", "launcher", "library", "standard ABI", "found by")


def show(
    fronts: Sequence[Path], environ: Mapping[str, str], hide: Callable[[str], str] = str
) -> list[str]:
    """Shows what is found on stdout, with what `hide` leaves of each text. Returns what lacks or is
    wrong, a line each."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
    console.print(f"headrace  {__version__}, {machine.available_cores()} cores")
    problems = []
    try:
        console.print(hide(f"library   {find_library(environ)}"), markup=False)
    except HeadraceError as error:
        problems.append(str(error))
    mpis = find_all(environ)
    if mpis:
        console.print(_table(mpis, hide))
    else:
        problems.append(
            "no MPI was found (no launcher in PATH), load a module or set HEADRACE_MPI_PATH"
        )
    if embedded(environ) is None:
        console.print("embedded  no MPICH wheel beside headrace (pip install mpich)", markup=False)
    for path in fronts:
        problems += _show_front(console, path.absolute(), hide)
    problems += _show_settings(console, environ, hide)
    return [hide(problem) for problem in problems]


def _show_settings(
    console: Console, environ: Mapping[str, str], hide: Callable[[str], str]
) -> list[str]:
    """Settings that are not at their defaults, and who says so. What cannot be used is wrong."""
    found = resolve_run(environ)
    for one in found.changed():
        line = f"setting   {one.setting.name}={one.text} from {one.origin}"
        console.print(hide(line), markup=False)
    return list(found.problems)


def _table(mpis: Sequence[Mpi], hide: Callable[[str], str]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in HEADINGS:
        table.add_column(heading, overflow="fold")
    for mpi in mpis:
        standard = "yes" if mpi.abi_library else "no"
        row = (mpi.title, mpi.version, mpi.launcher, mpi.library, standard, mpi.source)
        table.add_row(*(Text(hide(str(cell))) for cell in row))  # whose brackets are no markup
    return table


def _show_front(console: Console, path: Path, hide: Callable[[str], str]) -> list[str]:
    found = front.read(path)
    if found is not None:
        line = f"front     {path}: {found.headrace}, then {found.mpi}"
        console.print(hide(line), markup=False)
    return front.problems(path)
