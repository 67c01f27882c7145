"""How the jobs of `headrace bench collectives` and `headrace tune collectives` start."""

import os
from collections.abc import Sequence
from pathlib import Path

import click

from headrace.bench.collectives.starting import ByLine, OnThisNode, Start
from headrace.bench.programs import ALL
from headrace.bench.runner import find_wanted
from headrace.errors import say
from headrace.mpi.program import locate

RANKS = 2


def job_starts(
    launcher: tuple[str, ...],
    ranks: Sequence[int],
    wanted: tuple[str, ...],
    earlier: Sequence[Path],
) -> list[Start]:
    """One for each MPI and number of ranks, or that of the user's launcher line; none where times
    of earlier runs are taken. ranks: empty: RANKS."""
    if launcher and earlier:
        raise click.UsageError("--from measures nothing, leave out the launcher or --from")
    if earlier:
        return []
    if not launcher:
        hosts = find_wanted(wanted, os.environ, say)
        return [OnThisNode(host, np) for host in hosts for np in ranks or (RANKS,)]
    if ranks:
        raise click.UsageError(
            "-n has no meaning here, the launcher has a count of its own, leave it out"
        )
    if len(wanted) > 1 or ALL in wanted:
        raise click.UsageError("a launcher is of one MPI, name one with --mpi")
    locate(launcher[0], os.environ)
    return [ByLine(launcher, wanted[0])]
