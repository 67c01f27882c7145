"""`headrace report`: what a run did with MPI, from its record."""

import json
import os
import sys
import tempfile
from pathlib import Path

import click

from headrace.advice.judging import judge
from headrace.advice.rules import collect
from headrace.analysis.analyse import Findings, analyse
from headrace.commands._options import rules_option
from headrace.errors import unwritable
from headrace.launch.gather import gather
from headrace.record.reader import read
from headrace.report.document import document
from headrace.report.page import page
from headrace.report.terminal import console, show
from headrace.symbols.resolver import resolve


@click.command(short_help="Shows what a run did with MPI.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print all numbers as JSON.")
@click.option(
    "--html", "as_html", is_flag=True, help="Write a page beside FILE, and print its path."
)
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), help="File for the page, instead of that."
)
@rules_option()
def report(
    file: Path, as_json: bool, as_html: bool, output: Path | None, rules: tuple[Path, ...]
) -> None:
    """Show what a run did with MPI: what to change, and what that would gain at most, where its
    time went, who waited, which call paths cost most, and what Headrace chose. FILE is the run's
    record (.hrc), or the directory of a job that runs or was killed on this node; docs/report.md
    explains each number, docs/advice.md the advice.
    """
    found = findings(file)
    symbols = resolve(site.frames for site in found.sites)
    judgement = judge(collect(rules), found.metrics)
    if as_json:
        click.echo(json.dumps(document(found, symbols, judgement), indent=1))
        return
    if as_html or output:
        target = output or file.with_suffix(".html")
        write(target, page(found, symbols, judgement))
        click.echo(target)
        return
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    show(console(), found, symbols, judgement)


def write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise unwritable(path, error) from error


def findings(file: Path) -> Findings:
    """What a record tells, or what the ranks of a job keep in a directory."""
    if not file.is_dir():
        return analyse(read(file))
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        return analyse(read(gather(file, Path(folder), os.environ)))
