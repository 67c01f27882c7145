"""`headrace hints FILE`: which hints would be in force, and what would be chosen, without a job."""

import os
import subprocess
from pathlib import Path

import click

from headrace.bench.programs import find_file
from headrace.commands._options import settings_option
from headrace.errors import HeadraceError
from headrace.settings.resolver import resolve_run


def number(name: str, default: int, text: str, least: int = 1) -> object:
    return click.option(
        name, type=click.IntRange(least, 1 << 30), default=default, show_default=True, help=text
    )


@click.command(short_help="Shows which hints count for a file, and what would be chosen.")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("hints", nargs=-1, metavar="[KEY=VALUE]...")
@number("--ranks", 4, "Ranks of the job.")
@number("--ranks-per-node", 4, "Ranks on a node.")
@number("--piece", 8192, "Bytes of a contiguous piece; the pieces of all ranks take turns.")
@number("--pieces", 100, "Pieces that a rank writes in a call.")
@number("--cores", 0, "Cores of a node; 0: as many as this one has.", 0)
@settings_option("A file of settings and hints, as for headrace run.")
def hints(file: Path, hints: tuple[str, ...], files: tuple[Path, ...], **flags: int) -> int:
    """Show which hints would be in force for FILE, where each comes from, and which path a
    collective write and read of the given pieces would take. FILE need not exist; its directory
    must. KEY=VALUE: hints as the program would give them.

    \b
    headrace hints /scratch/me/out.h5
    headrace hints out.h5 --ranks 256 --ranks-per-node 64 --piece 1000 cb_nodes=8
    """
    names = ("ranks", "ranks_per_node", "piece", "pieces", "cores")
    numbers = [str(flags[name]) for name in names]
    program = find_file("hints", os.environ)
    own = resolve_run(os.environ, files=files).for_ranks()
    done = subprocess.run([program, file, *numbers, *hints], env={**os.environ, **own})
    if done.returncode != 0:
        raise HeadraceError(
            f"'{file}' cannot be looked at",
            f"the program 'hints' ended with code {done.returncode}",
            "see its line above",
        )
    return 0
