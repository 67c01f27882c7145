"""`headrace tune collectives`."""

import os
import platform
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import click
from rich.console import Console

from headrace import machine
from headrace.bench import report
from headrace.bench.collectives import library_choice, library_output, library_times, output, table
from headrace.bench.collectives.findings import (
    FORMAT,
    LIBRARIES,
    LIBRARY_FORMAT,
    Job,
    read_jobs,
    to_text,
)
from headrace.bench.collectives.library_running import measure_library, require_own_choice
from headrace.bench.collectives.library_times import LibraryJob
from headrace.bench.collectives.running import measure
from headrace.bench.collectives.starting import Start
from headrace.bench.runner import find_wanted
from headrace.bench.workspace import ended_in_order, workspace
from headrace.commands._options import (
    earlier_option,
    is_given,
    mpis_option,
    refuse_given,
    size_flags,
    sizes_options,
)
from headrace.commands._starts import RANKS, job_starts
from headrace.commands._targets import STDOUT, require_target, write_target
from headrace.demo.progress import DemoProgress
from headrace.errors import say

SECONDS = 60
_FILE = click.Path(dir_okay=False)
_PAGE = "Times that 'headrace tune collectives' measured."
# Of a run that measures.
_MEASURES = ("ranks", "wanted", "operations", "least", "most", "batches", "minutes")


@click.command(short_help="Measures which collective operations Headrace should carry out here.")
@click.option(
    "-n",
    "--np",
    "ranks",
    multiple=True,
    type=click.IntRange(min=2),
    help="Ranks of a job; repeatable. What is taken must win with fewer, too.  [default: 2]",
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
@click.option("--json", "json_file", type=_FILE, help="Write the times here, for --from.")
@click.option("--markdown", type=_FILE, help="Write a page of them here.")
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
    _refuse_unused(library, bool(earlier), bool(launcher))
    files = (file, json_file, markdown)
    times = _Times(library or any(map(library_times.is_of_library, earlier)), json_file, markdown)
    targets = [one if one == STDOUT else os.path.realpath(one) for one in files if one is not None]
    if len(set(targets)) < len(targets):
        raise click.UsageError("FILE, --json and --markdown are one file, give several")
    require_target(file, table.FIRST_WORDS, "a table of headrace tune collectives", earlier)
    times.require(earlier)
    starts = [] if library else job_starts(launcher, ranks, wanted, earlier)
    if earlier:
        jobs, found = _read(earlier)
    else:
        sizes, count = size_flags(operations, least, most), ["--batches", str(batches)]
        jobs = _measured(starts, [*sizes, *count], times.keep)
        of_library = wanted, ranks or (RANKS,), sizes, count, minutes * SECONDS
        found = _measured_library(*of_library, times.keep) if library else []
    times.write(jobs, found)
    is_printed = STDOUT in files
    console = Console(stderr=True, width=160) if is_printed else report.make_console()
    return _end(console, file, [*jobs, *library_choice.headrace_jobs(found)], jobs, found)


def _refuse_unused(library: bool, is_earlier: bool, has_launcher: bool) -> None:
    """Options that would have no effect."""
    if library and (has_launcher or is_given("operations")):
        raise click.UsageError(
            "--library measures all operations on this node, "
            "leave out the launcher and --operations"
        )
    if is_earlier:
        refuse_given(_MEASURES, "--from measures nothing")
    if not library:
        refuse_given(("minutes",), "it is of --library")


class _Times:
    """Where the times are written, by option. They are of one kind, of_library or not."""

    def __init__(self, of_library: bool, json_file: str | None, markdown: str | None):
        self._of_library = of_library
        self._json = json_file
        self._markdown = markdown

    def require(self, inputs: Sequence[Path]) -> None:
        form = LIBRARY_FORMAT if self._of_library else FORMAT
        begin = to_text([], form).partition(",")[0]
        require_target(self._json, begin, "a file of such times", inputs)
        require_target(self._markdown, _PAGE, "a page of headrace tune collectives", inputs)

    def keep(self, jobs: Sequence[Job], found: Sequence[LibraryJob]) -> None:
        """So that they are there if what is measured next fails."""
        if self._json is not None and not _is_read_at_once(self._json):
            write_target(self._json, self._text(jobs, found))

    def write(self, jobs: Sequence[Job], found: Sequence[LibraryJob]) -> None:
        if jobs and self._of_library and (self._json or self._markdown):
            raise click.UsageError("--json and --markdown are of times of one kind, as --from has")
        if self._json is not None:
            write_target(self._json, self._text(jobs, found))
        if self._markdown is not None:
            page = library_output.page(found) if self._of_library else output.page(jobs)
            write_target(self._markdown, f"{_PAGE}\n\n{page}")

    def _text(self, jobs: Sequence[Job], found: Sequence[LibraryJob]) -> str:
        return library_times.to_document(found) if self._of_library else to_text(jobs)


def _is_read_at_once(path: str) -> bool:
    """Whether it is standard output, a pipe or a device."""
    return path == STDOUT or (os.path.exists(path) and not os.path.isfile(path))


def _read(earlier: Sequence[Path]) -> tuple[list[Job], list[LibraryJob]]:
    jobs: list[Job] = []
    found: list[LibraryJob] = []
    for path in earlier:
        if library_times.is_of_library(path):
            found += library_times.read_library_jobs(path)
        else:
            jobs += read_jobs(path)
    return jobs, found


Keep = Callable[[Sequence[Job], Sequence[LibraryJob]], None]


def _measured(starts: list[Start], flags: list[str], keep: Keep) -> list[Job]:
    jobs: list[Job] = []
    with ended_in_order():
        for start in starts:
            jobs.append(measure(start, flags, os.environ, always=True))
            keep(jobs, [])
    return jobs


def _measured_library(
    wanted: tuple[str, ...],
    ranks: tuple[int, ...],
    sizes: list[str],
    batches: list[str],
    seconds: float,
    keep: Keep,
) -> list[LibraryJob]:
    """The library's algorithms, then Headrace against the library with the best of them."""
    hosts = find_wanted(wanted, os.environ, say)
    if len({LIBRARIES[host.name] for host in hosts}) < len(hosts):
        raise click.UsageError("a table has one library for mpich and abi, give one of them")
    for host in hosts:
        require_own_choice(host, os.environ)
    whole = seconds * len(hosts) * len(set(ranks))
    with (
        workspace(Path(tempfile.gettempdir())) as folder,
        DemoProgress(Console(stderr=True), whole) as progress,
    ):
        found: list[LibraryJob] = []
        for host in hosts:
            found += measure_library(
                host, ranks, sizes, batches, folder, os.environ, seconds, progress.tell
            )
            keep([], found)
        return found


def _end(
    console: Console,
    file: str,
    all_jobs: list[Job],
    jobs: list[Job],
    found: list[LibraryJob],
) -> int:
    """all_jobs: also those of Headrace against the library with other algorithms."""
    cores = machine.available_cores()
    more = library_choice.table_lines(found)
    write_target(file, table.to_toml(all_jobs, f"{platform.machine()}, {cores} cores", more))
    if jobs:
        output.show(console, jobs)
    if found:
        library_output.show(console, found)
    if file != STDOUT:
        say(f"the table is in '{file}', set HEADRACE_COLL_TABLE to it")
    for line in table.told(all_jobs):
        say(line)
    return 1 if output.wrong_lines(all_jobs) or library_output.wrong_lines(found) else 0
