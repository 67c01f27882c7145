"""`headrace report`: what a run did with MPI, from its record."""

import json
import os
import sys
import tempfile
from pathlib import Path

import click

from headrace.analysis.analyse import Findings, analyse
from headrace.launch.gather import gather
from headrace.record.reader import read
from headrace.report.document import document
from headrace.report.terminal import console, show
from headrace.symbols.resolver import resolve


@click.command(short_help="Shows what a run did with MPI.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print all numbers as JSON.")
def report(file: Path, as_json: bool) -> None:
    """Show what a run did with MPI: where its time went, who waited, which call paths cost most,
    and what Headrace chose. FILE is the run's record (.hrc), or the directory of a job that runs
    or was killed on this node; docs/report.md explains each number.
    """
    found = findings(file)
    symbols = resolve(site.frames for site in found.sites)
    if as_json:
        click.echo(json.dumps(document(found, symbols), indent=1))
        return
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    show(console(), found, symbols)


def findings(file: Path) -> Findings:
    """What a record tells, or what the ranks of a job keep in a directory."""
    if not file.is_dir():
        return analyse(read(file))
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        return analyse(read(gather(file, Path(folder), os.environ)))
