"""`headrace bench collectives`."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from headrace.bench import report
from headrace.bench.collectives import figure, guidelines_output, output
from headrace.bench.collectives.findings import read_jobs, to_text
from headrace.bench.collectives.guidelines import read_guidelines, to_document
from headrace.bench.collectives.running import measure, measure_guidelines
from headrace.bench.collectives.starting import Start
from headrace.bench.partial import kept
from headrace.bench.peers.figure import require
from headrace.bench.workspace import ended_in_order
from headrace.commands._options import (
    earlier_option,
    mpis_option,
    refuse_given,
    size_flags,
    sizes_options,
)
from headrace.commands._starts import job_starts
from headrace.errors import say

_FILE = click.Path(dir_okay=False)

# Options of a run that measures.
_MEASURES = ("np", "wanted", "operations", "least", "most", "batches", "always")


@click.command(short_help="Measures collective operations, plain against Headrace.")
@click.argument("launcher", nargs=-1, type=click.UNPROCESSED, metavar="[-- LAUNCHER...]")
@click.option("-n", "--np", type=click.IntRange(min=2), help="Ranks.  [default: 2]")
@mpis_option
@sizes_options
@click.option(
    "--batches",
    type=click.IntRange(min=1),
    default=40,
    show_default=True,
    help="Of each size, in turns: plain and with Headrace; with --guidelines four, the operation "
    "and the others, each plain and with Headrace.",
)
@click.option(
    "--always", is_flag=True, help="With all that Headrace can carry out (HEADRACE_COLL_USE)."
)
@click.option(
    "--guidelines",
    is_flag=True,
    help="Compare operations with others that do the same, plain and with Headrace.",
)
@click.option("--json", "json_file", type=_FILE, help="Write the times here.")
@click.option("--markdown", type=_FILE, help="Write a page of them here.")
@click.option(
    "--figure", "prefix", type=click.Path(path_type=Path), help="Draw FIGURE.svg and FIGURE.png."
)
@earlier_option("Show what earlier runs wrote with --json instead of measuring; repeatable.")
def collectives(
    launcher: tuple[str, ...],
    np: int | None,
    wanted: tuple[str, ...],
    operations: str,
    least: str,
    most: str,
    batches: int,
    always: bool,
    guidelines: bool,
    json_file: str | None,
    markdown: str | None,
    prefix: Path | None,
    earlier: tuple[Path, ...],
) -> int:
    """Measure collective operations on this node, or on those of your launcher's line: the MPI
    library's own, and as a program gets them with HEADRACE_COLLECTIVES=1, in turns within one job.
    Results are checked (a barrier has none). On several nodes, what these send is counted, too.

    \b
    headrace bench collectives -n 2 --mpi mpich --mpi openmpi --json c.json
    headrace bench collectives --always --json c.json -- srun -N 4 -n 16
    headrace bench collectives --from c.json --figure c
    headrace bench collectives -n 2 --guidelines --operations allreduce,bcast

    Cells in which Headrace loses, or its nodes send more, come first, with --guidelines those in
    which an operation is slower than others that do the same. The exit status is 0 unless a result
    was wrong.
    """
    starts = job_starts(launcher, (np,) if np else (), wanted, earlier)
    if guidelines and prefix is not None:
        raise click.UsageError("guidelines are not drawn, leave out --figure or --guidelines")
    for path in (json_file, markdown):
        report.require_writable(path)
    if prefix is not None:
        require(prefix)
    if earlier:
        refuse_given(_MEASURES, "--from measures nothing")
    flags = [*size_flags(operations, least, most), "--batches", str(batches)]
    kind = _GUIDELINES if guidelines else _CELLS
    found: list[Any] = []

    def keep() -> None:
        _write(json_file, kind.text(found))
        kind.show(report.make_console(), found)

    with kept(found, keep):
        _add(found, kind, starts, flags, always, earlier)
        _write(markdown, kind.page(found))
    if prefix is not None:
        for file in figure.draw(found, prefix):
            say(f"the figure is in '{file}'")
    return 1 if kind.wrong_lines(found) else 0


@dataclass(frozen=True)
class _Kind:
    """What is done with what is found, of all MPIs."""

    measure: Callable[..., Any]
    read: Callable[[Path], list[Any]]
    text: Callable[[Sequence[Any]], str]
    show: Callable[[Console, Sequence[Any]], None]
    page: Callable[[Sequence[Any]], str]
    wrong_lines: Callable[[Sequence[Any]], Sequence[str]]


_CELLS = _Kind(measure, read_jobs, to_text, output.show, output.page, output.wrong_lines)
_GUIDELINES = _Kind(
    measure_guidelines,
    read_guidelines,
    to_document,
    guidelines_output.show,
    guidelines_output.page,
    guidelines_output.wrong_lines,
)


def _add(
    found: list[Any],
    kind: _Kind,
    starts: Sequence[Start],
    flags: Sequence[str],
    always: bool,
    earlier: Sequence[Path],
) -> None:
    """What is measured under each MPI, or that of earlier runs."""
    for path in earlier:
        found += kind.read(path)
    with ended_in_order():
        for start in starts:
            found.append(kind.measure(start, flags, os.environ, always))


def _write(file: str | None, text: str) -> None:
    if file is not None:
        report.write_text(file, text)
