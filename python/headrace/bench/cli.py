"""`headrace bench`: the benchmark programs under any MPI, with Headrace or without."""

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click

from headrace.bench import report
from headrace.bench.comparison import Comparison, run_rounds, start
from headrace.bench.hand_set import with_hand_set
from headrace.bench.jobs import JOBS
from headrace.bench.options import directory_option, mpi_option
from headrace.bench.paths.command import paths
from headrace.bench.peers.command import peers
from headrace.bench.programs import NAMES, find_file, find_program, kinds_of
from headrace.bench.promises.command import promises
from headrace.bench.runner import fair_settings, find_host, launch, run_shown
from headrace.bench.statistics import rounds_needed
from headrace.bench.workspace import surroundings, workspace
from headrace.errors import say

DEFAULT_RANKS = {name: 2 for name in NAMES} | {"overlap": 1, "strided": 4}

TITLES = {
    "checkpoint": "A time-step loop of several variables: the first call and the later ones.",
    "ior": "Writes and reads a file with IOR's options and layout.",
    "irregular": "Writes and reads random disjoint pieces by one collective call.",
    "lattice": "Exports and imports a 4-D lattice field by one collective call.",
    "overlap": "Transfers while the program computes: what both together cost.",
    "strided": "Writes blocks into a filled file and counts what else was overwritten.",
    "tile": "Writes and reads subarrays of an n-dimensional array by one collective call.",
}

HELP = """

\b
headrace bench {name} [-n N] [--mpi NAME] [--plain] -- FLAGS
headrace bench {name} -- -h      lists the flags
"""

option_mpi = mpi_option("The MPI to run under.")


@click.group()
def bench() -> None:
    """Measure MPI-IO: benchmark programs with Headrace, or plain, under any MPI."""


def _program_command(name: str) -> click.Command:
    @click.command(
        name,
        help=TITLES[name] + HELP.format(name=name),
        short_help=TITLES[name],
        context_settings={"allow_interspersed_args": False},
    )
    @click.option(
        "-n",
        "--np",
        type=click.IntRange(min=1),
        default=DEFAULT_RANKS[name],
        show_default=True,
        help="Ranks.",
    )
    @option_mpi
    @click.option("--plain", is_flag=True, help="Without Headrace.")
    @click.argument("flags", nargs=-1, type=click.UNPROCESSED)
    def command(np: int, wanted: str, plain: bool, flags: tuple[str, ...]) -> int:
        return _run_program(name, np, wanted, plain, flags)

    return command


for _name in NAMES:
    bench.add_command(_program_command(_name))
bench.add_command(paths)
bench.add_command(peers)
bench.add_command(promises)


@bench.command(
    short_help="Tries ways to copy pieces to a staging slot on this processor.",
    context_settings={"allow_interspersed_args": False},
)
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
def copy(flags: tuple[str, ...]) -> None:
    """Try ways to copy pieces to a staging slot on this processor, without an MPI: what Headrace
    does, the C library's memcpy, vectors, stores past the cache.

    \b
    headrace bench copy -- --dir DIRECTORY     also writes the slots to files there
    headrace bench copy -- -h                  lists the flags
    """
    program = str(find_file("copy"))
    os.execv(program, [program, *flags])


def _run_program(name: str, np: int, wanted: str, plain: bool, flags: Sequence[str]) -> int:
    """Exit code of the program, of the first that failed where several MPIs are run."""
    kinds = kinds_of(wanted)
    status = 0
    for kind in kinds:
        host = find_host(kind, os.environ)
        if len(kinds) > 1:
            say(f"{name} under {host.title}, settings: {fair_settings(host, np)}")
        program = find_program(name, kind, os.environ)
        line = launch(host, np, [str(program), *flags], os.environ, preload=not plain)
        code = run_shown(line)
        status = status or code
    return status


@bench.command(short_help="Compares plain MPI, POSIX and Headrace by alternating runs.")
@click.argument("job_name", metavar="JOB", type=click.Choice(tuple(JOBS)))
@click.option(
    "-n",
    "--np",
    type=click.IntRange(min=1),
    help="Ranks.  [overlap: 1; strided: 4; else 2]",
)
@option_mpi
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=11,
    show_default=True,
    help=f"Measured rounds; a 95 % interval needs {rounds_needed()}.",
)
@directory_option("Where the files are made.  [a temporary directory]")
@click.option("--hand-set", is_flag=True, help="Also plain MPI with an expert's settings.")
@click.option("--json", "json_file", type=click.Path(dir_okay=False), help="Write all runs here.")
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
def compare(
    job_name: str,
    np: int | None,
    wanted: str,
    rounds: int,
    directory: Path | None,
    hand_set: bool,
    json_file: str | None,
    flags: tuple[str, ...],
) -> int:
    """Run JOB plain, by POSIX or through rank 0, and with Headrace, in turn; kernels also
    contiguously, which is the limit.

    \b
    headrace bench compare ior --rounds 15 -- -s 500 -b 1000000 -t 1000000

    FLAGS after -- are added to the job's own, and win: a size or a shape replaces the job's. Data
    are checked in every run, the files of a first, unmeasured round are compared byte by byte.
    Cells that Headrace loses come first.
    """
    report.require_writable(json_file)
    job = JOBS[job_name](np or DEFAULT_RANKS[job_name], flags)
    if hand_set:
        job = with_hand_set(job)
    console = report.make_console()
    comparisons: list[Comparison] = []
    base = directory or Path(tempfile.gettempdir())
    with workspace(base) as folder:
        say(f"files in {surroundings(base)}")
        for kind in kinds_of(wanted):
            host = find_host(kind, os.environ)

            def progress(text: str, title: str = host.title) -> None:
                say(f"{job_name}, {title}: {text}")

            comparison = start(job, host, folder, os.environ, progress)
            run_rounds(comparison, folder, os.environ, progress, rounds, rounds, 0)
            comparisons.append(comparison)
    report.show(console, comparisons)
    if json_file is not None:
        documents = [report.to_document(comparison) for comparison in comparisons]
        report.write_text(json_file, json.dumps(documents, indent=1) + "\n")
    return 0 if all(report.is_sound(comparison) for comparison in comparisons) else 1
