"""`headrace record gather`: records of jobs that were killed."""

import os
import sys
from pathlib import Path

import click

from headrace.commands._options import job_settings_options
from headrace.errors import HeadraceError, say
from headrace.launch.gather import gather as gather_job
from headrace.launch.gather import goes_on, job_directories
from headrace.settings.resolver import resolve_run


@click.command(short_help="Makes the records of jobs that were killed.")
@click.argument("jobs", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--to",
    "records",
    type=click.Path(path_type=Path),
    default="headrace-records",
    show_default=True,
    help="Directory of the records.",
)
@click.option("--keep", is_flag=True, help="Keep what the jobs have left.")
@job_settings_options
def gather(
    jobs: tuple[Path, ...],
    records: Path,
    keep: bool,
    assignments: tuple[str, ...],
    files: tuple[Path, ...],
) -> None:
    """Make a record of each job that has ended on this node without making its own: it was killed,
    or crashed. JOBS are directories that such jobs have left; without any, all of yours are found.
    What was gathered is removed. Where none can be made, a line says why, and the next job follows.
    Jobs are also found in HEADRACE_RECORD_DIRECTORY: what `headrace run` was given for it, give
    here, too.
    """
    settings = resolve_run(os.environ, assignments, files=files)
    found = job_directories(settings, os.environ)
    chosen = jobs or tuple(job for job in found if not goes_on(job))
    failed = 0
    for job in chosen:
        try:
            record = gather_job(job, records, os.environ, remove=not keep)
            click.echo(os.fsencode(record))  # which need not be UTF-8
        except HeadraceError as error:
            say(str(error))
            failed += 1
    if not chosen:
        say("no job of yours has left anything on this node")
    if failed:
        sys.exit(1)
