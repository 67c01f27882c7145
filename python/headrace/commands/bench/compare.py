"""`headrace bench compare`."""

import json
import os
from dataclasses import replace
from pathlib import Path

import click

from headrace.bench import report
from headrace.bench.compare import compare_ways
from headrace.bench.comparison import Comparison
from headrace.bench.flags import require_no_way
from headrace.bench.hand_set import with_hand_set
from headrace.bench.jobs import JOBS
from headrace.bench.partial import kept
from headrace.bench.programs import DEFAULT_RANKS
from headrace.commands._options import directory_option, mpi_option, run_limit_option
from headrace.statistics import rounds_needed


@click.command(short_help="Compares plain MPI, POSIX and Headrace by alternating runs.")
@click.argument("job_name", metavar="JOB", type=click.Choice(tuple(JOBS)))
@click.option(
    "-n",
    "--np",
    type=click.IntRange(min=1),
    help="Ranks.  [overlap: 1; strided: 4; else 2]",
)
@mpi_option("The MPI to run under.")
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
@run_limit_option
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
def compare(
    job_name: str,
    np: int | None,
    wanted: str,
    rounds: int,
    directory: Path | None,
    hand_set: bool,
    json_file: str | None,
    run_seconds: int,
    flags: tuple[str, ...],
) -> int:
    """Run JOB plain, by POSIX or through rank 0, and with Headrace, in turn; kernels also
    contiguously, which is the limit.

    \b
    headrace bench compare ior --rounds 15 -- -s 500 -b 1000000 -t 1000000

    FLAGS after -- are added to the job's own, and win: a size or a shape replaces the job's. Those
    that make a way (-a, -c, --way) are refused. Data are checked in every run, the files of a
    first, unmeasured round are compared byte by byte. Cells that Headrace loses come first.
    """
    report.require_writable(json_file)
    require_no_way(job_name, flags)
    job = JOBS[job_name](np or DEFAULT_RANKS[job_name], flags)
    job = replace(job, seconds=run_seconds)
    if hand_set:
        job = with_hand_set(job)
    found: list[Comparison] = []

    def keep() -> None:
        if json_file is not None:
            documents = [report.to_document(one) for one in found]
            report.write_text(json_file, json.dumps(documents, indent=1) + "\n")
        report.show(report.make_console(), found)

    with kept(found, keep):
        compare_ways(job_name, job, wanted, rounds, directory, os.environ, found)
    return 0 if all(report.is_sound(one) for one in found) else 1
