"""Options of commands that start a program, and what is executed by them."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from headrace.commands._options import set_option, settings_option
from headrace.errors import HeadraceError, say
from headrace.launch.cache import write
from headrace.launch.execution import shown
from headrace.launch.job import find_preload, launch_of_line, launch_of_program
from headrace.launch.values import Launch
from headrace.launchers.families import FAMILIES
from headrace.mpi.kinds import KINDS, STANDARD_ABI
from headrace.settings.resolver import Resolution, resolve_run

_OPTIONS = (
    click.option("-n", "--np", type=click.IntRange(min=1), metavar="N", help="Start N ranks."),
    click.option(
        "--mpi",
        "wanted",
        metavar="NAME|PATH",
        help=f"With -n, the MPI to use: {', '.join((*KINDS, STANDARD_ABI))}, or where it is "
        "installed.",
    ),
    click.option(
        "--launcher",
        "family_name",
        type=click.Choice(list(FAMILIES)),
        help="Treat the launcher as this kind; 'inherit': it passes its environment to the ranks.",
    ),
    set_option,
    settings_option(
        "Set what the table [settings] of a TOML file has; what [headrace] and [environment] "
        "have only where you have set nothing. Repeatable, the last wins."
    ),
    click.option(
        "--verify",
        is_flag=True,
        help="Read back and compare every collective write (HEADRACE_VERIFY).",
    ),
    click.option(
        "--rank-order",
        metavar="0|1|2|3|FILE|auto",
        help="Put ranks on nodes in this order (HEADRACE_RANK_ORDER): round robin, node by node, "
        "folded, that of the file MPICH_RANK_ORDER or of FILE, or computed from the last record.",
    ),
    click.option(
        "--no-limits",
        is_flag=True,
        help="Leave variables of MPI and its network alone that should grow with the job "
        "(HEADRACE_LIMITS=0).",
    ),
    click.option(
        "--explain",
        is_flag=True,
        help="Say on stderr which of these were set, and why; rank 0 shows the eager limits.",
    ),
    click.option(
        "--dry-run",
        is_flag=True,
        help="Print what would be executed, and do not; on stderr each setting that is not at its "
        "default, where it comes from, and the ranks of each node if their order changes.",
    ),
)


@dataclass(frozen=True)
class Prepared:
    """launch: None where it was only to be shown."""

    launch: Launch | None
    settings: Resolution


def launch_options(command: Callable) -> Callable:
    """Adds the options and the program with its arguments, as `prepare` takes them."""
    argument = click.argument("command", nargs=-1, type=click.UNPROCESSED, required=True)
    for add in reversed((*_OPTIONS, argument)):
        command = add(command)
    return command


def prepare(
    np: int | None,
    wanted: str | None,
    family_name: str | None,
    assignments: tuple[str, ...],
    files: tuple[Path, ...],
    verify: bool,
    rank_order: str | None,
    no_limits: bool,
    explain: bool,
    dry_run: bool,
    command: tuple[str, ...],
) -> Prepared:
    """Says on stderr, and with dry_run on stdout, what there is to say."""
    _refuse_meaningless(np, wanted, family_name)
    if explain:
        assignments = (*assignments, "EAGER_DISPLAY=1")
    if no_limits:
        assignments = (*assignments, "LIMITS=0")
    if rank_order is not None:
        assignments = (*assignments, f"RANK_ORDER={rank_order}")
    settings = resolve_run(os.environ, assignments, verify, files)
    preload = find_preload(settings, os.environ)
    if not preload.is_quiet:
        for line in (*settings.kept, *(() if dry_run else settings.untold)):
            say(line)
    if np is None:
        launch = launch_of_line(command, family_name, preload)
    else:
        launch = launch_of_program(command, np, wanted, preload)
    if launch.file is not None:
        write(launch.file)
    if dry_run:
        for line in (*settings.told(), *launch.notes):
            say(line)
    elif launch.notes and not preload.is_quiet:
        say(launch.notes[0])  # which order it is, and why
    if explain or dry_run:
        for line in launch.algorithms:
            say(line)
    if explain:
        for line in launch.explained:
            say(line)
    if dry_run:
        click.echo(shown(launch, os.environ))
    return Prepared(None if dry_run else launch, settings)


def _refuse_meaningless(np: int | None, wanted: str | None, family_name: str | None) -> None:
    if np is None and wanted is not None:
        raise HeadraceError(
            "--mpi has no meaning here",
            "a launcher line already says which MPI it is",
            "leave it out, or give -n N and the program",
        )
    if np is not None and family_name is not None:
        raise HeadraceError(
            "--launcher has no meaning with -n",
            "the launcher is found then",
            "leave one of them out",
        )
