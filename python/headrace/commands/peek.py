"""`headrace peek`: what a job that runs has done with MPI so far."""

import os
from pathlib import Path

import click

from headrace.analysis.analyse import analyse
from headrace.commands._findings import Job, record_of
from headrace.commands._options import job_settings_options, json_option
from headrace.commands.report import present
from headrace.launch.gather import find_job
from headrace.settings.resolver import resolve_run


@click.command(short_help="Shows what a running job has done so far.")
@click.argument("job", default="")
@job_settings_options
@json_option
def peek(job: str, assignments: tuple[str, ...], files: tuple[Path, ...], as_json: bool) -> None:
    """Show what a job of yours that runs on this node has done with MPI so far, as `headrace
    report` does. JOB is its number in the batch system, or its directory below
    /dev/shm/headrace-record-UID; without one it is the only job that runs. Of a job on several
    nodes you see the ranks of this node. The job is not disturbed. Jobs are also
    found in HEADRACE_RECORD_DIRECTORY: what `headrace run` was given for it, give here, too.
    """
    settings = resolve_run(os.environ, assignments, files=files)
    directory = Path(job)
    found = directory if job and directory.is_dir() else find_job(job, settings, os.environ)
    present(Job(analyse(record_of(found))), as_json)
