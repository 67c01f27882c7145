"""`headrace report`: what a run did with MPI, from its record."""

import json
import os
import sys
import tempfile
from pathlib import Path

import click

from headrace.analysis.analyse import Findings, analyse
from headrace.commands._options import json_option
from headrace.launch.gather import gather
from headrace.record.merge import merge
from headrace.record.reader import read
from headrace.record.tables import Record
from headrace.report.document import document
from headrace.report.terminal import console, show
from headrace.symbols.resolver import resolve


@click.command(short_help="Shows what a run did with MPI.")
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@json_option
def report(files: tuple[Path, ...], as_json: bool) -> None:
    """Show what a run did with MPI: where its time went, who waited, which call paths cost most,
    and what Headrace chose. FILE is the run's record (.hrc), or the directory of a job that was
    killed on this node. Of a job on several nodes that was killed give each node's; docs/report.md
    explains each number.
    """
    present(analyse(merge([record_of(file) for file in files])), as_json)


def present(found: Findings, as_json: bool) -> None:
    """Prints them."""
    symbols = resolve(site.frames for site in found.sites)
    if as_json:
        click.echo(json.dumps(document(found, symbols), indent=1))
        return
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    show(console(), found, symbols)


def record_of(file: Path) -> Record:
    """A record, or what the ranks of a job keep in a directory."""
    if not file.is_dir():
        return read(file)
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        return read(gather(file, Path(folder), os.environ))
