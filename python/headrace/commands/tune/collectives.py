"""`headrace tune collectives`."""

import os
import platform
import tempfile
from pathlib import Path

import click
from rich.console import Console

from headrace import machine
from headrace.bench import report
from headrace.bench.collectives import library_choice, library_output, library_times, output, table
from headrace.bench.collectives.findings import Job, read_jobs
from headrace.bench.collectives.library_running import measure_library, require_own_choice
from headrace.bench.collectives.library_times import LibraryJob
from headrace.bench.collectives.running import measure
from headrace.bench.collectives.starting import Start
from headrace.bench.runner import find_wanted
from headrace.bench.workspace import ended_in_order, workspace
from headrace.commands._options import earlier_option, mpis_option, size_flags, sizes_options
from headrace.commands._starts import RANKS, job_starts
from headrace.demo.progress import DemoProgress
from headrace.errors import say

SECONDS = 60
_FILE = click.Path(dir_okay=False)


@click.command(short_help="Measures which collective operations Headrace should carry out here.")
@click.option(
    "-n",
    "--np",
    "ranks",
    multiple=True,
    type=click.IntRange(min=2),
    help="Ranks of a job; repeatable. What is taken must win in all.  [default: 2]",
)
@mpis_option
@sizes_options
@click.option(
    "--batches",
    type=click.IntRange(min=6),
    default=40,
    show_default=True,
    help="Pairs of batches of each size, plain and with Headrace.",
)
@click.option(
    "--library",
    is_flag=True,
    help="Find which of the MPI library's own algorithms are faster than those it takes, too.",
)
@click.option(
    "--minutes",
    type=click.FloatRange(min=0.1, max=24 * 60),
    default=6,
    show_default=True,
    help="With --library: for that, for each MPI and number of ranks, about.",
)
@click.option(
    "--json", "json_file", type=_FILE, help="With --library: write these times here, for --from."
)
@click.option("--markdown", type=_FILE, help="With --library: write a page of them here.")
@earlier_option(
    "Take what 'headrace bench collectives --always --json' wrote, or --json here; repeatable."
)
@click.argument("file", type=_FILE)
@click.argument("launcher", nargs=-1, type=click.UNPROCESSED, metavar="[-- LAUNCHER...]")
def collectives(
    ranks: tuple[int, ...],
    wanted: tuple[str, ...],
    operations: str,
    least: str,
    most: str,
    batches: int,
    library: bool,
    minutes: float,
    json_file: str | None,
    markdown: str | None,
    earlier: tuple[Path, ...],
    file: str,
    launcher: tuple[str, ...],
) -> int:
    """Measure all collective operations that Headrace can carry out, on this node or on those of
    your launcher's line, and write to FILE where they are surely faster than the MPI library's own.
    With --library first measure the MPI library's other algorithms, in launches that alternate, and
    write those that surely are faster than its own choice; Headrace is then measured against these.

    \b
    headrace tune collectives -n 2 -n 4 --mpi openmpi table.toml
    headrace tune collectives table.toml -- srun -N 4 -n 16
    HEADRACE_COLLECTIVES=1 HEADRACE_COLL_TABLE=table.toml headrace run -n 4 ./app
    headrace tune collectives -n 2 --library table.toml
    HEADRACE_COLL_TABLE=table.toml headrace run -n 2 ./app
    """
    if library and (launcher or operations):
        raise click.UsageError(
            "--library measures all operations on this node, "
            "leave out the launcher and --operations"
        )
    for path in (file, json_file, markdown):
        report.require_writable(path)
    starts = [] if library else job_starts(launcher, ranks, wanted, earlier)
    if earlier:
        jobs = [
            job
            for path in earlier
            if not library_times.is_of_library(path)
            for job in read_jobs(path)
        ]
        found = [
            job
            for path in earlier
            if library_times.is_of_library(path)
            for job in library_times.read_library_jobs(path)
        ]
    else:
        sizes, count = size_flags(operations, least, most), ["--batches", str(batches)]
        jobs = _measured(starts, [*sizes, *count])
        of_library = wanted, ranks or (RANKS,), sizes, count, minutes * SECONDS
        found = _measured_library(*of_library) if library else []
    for path, text in ((json_file, library_times.to_document), (markdown, library_output.page)):
        if path is not None:
            report.write_text(path, text(found))
    return _end(file, [*jobs, *library_choice.headrace_jobs(found)], jobs, found)


def _measured(starts: list[Start], flags: list[str]) -> list[Job]:
    with ended_in_order():
        return [measure(start, flags, os.environ, always=True) for start in starts]


def _measured_library(
    wanted: tuple[str, ...],
    ranks: tuple[int, ...],
    sizes: list[str],
    batches: list[str],
    seconds: float,
) -> list[LibraryJob]:
    """The library's algorithms, then Headrace against the library with the best of them."""
    hosts = find_wanted(wanted, os.environ, say)
    for host in hosts:
        require_own_choice(host, os.environ)
    whole = seconds * len(hosts) * len(set(ranks))
    with (
        workspace(Path(tempfile.gettempdir())) as folder,
        DemoProgress(Console(stderr=True), whole) as progress,
    ):
        return [
            job
            for host in hosts
            for job in measure_library(
                host, ranks, sizes, batches, folder, os.environ, seconds, progress.tell
            )
        ]


def _end(file: str, all_jobs: list[Job], jobs: list[Job], found: list[LibraryJob]) -> int:
    """all_jobs: also those of Headrace against the library with other algorithms."""
    console = report.make_console()
    if jobs:
        output.show(console, jobs)
    if found:
        library_output.show(console, found)
    cores = machine.available_cores()
    more = library_choice.table_lines(found)
    report.write_text(file, table.to_toml(all_jobs, f"{platform.machine()}, {cores} cores", more))
    say(f"the table is in '{file}', set HEADRACE_COLL_TABLE to it")
    for line in table.told(all_jobs):
        say(line)
    return 1 if output.wrong_lines(all_jobs) or library_output.wrong_lines(found) else 0
