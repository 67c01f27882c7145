"""`headrace report`: what a run did with MPI, from its record or a Darshan log."""

import json
import os
import sys
from pathlib import Path

import click

from headrace.commands._findings import Job, job_of, judged, profile_of
from headrace.commands._newest import newest_of_directories
from headrace.commands._options import (
    feedback_option,
    json_option,
    rules_option,
    symbols_option,
)
from headrace.commands._targets import beside, refuse_to_replace
from headrace.compare.comparison import Comparison, compare
from headrace.errors import HeadraceError, say, unwritable
from headrace.report.comparison_document import comparison_document
from headrace.report.comparison_text import since_of
from headrace.report.document import document
from headrace.report.terminal import console, show
from headrace.report.units import typed
from headrace.symbols.kept import NONE_KEPT, KeptFiles
from headrace.symbols.resolver import resolve

TOLERANCE = 5.0  # percent, as headrace compare has it


@click.command(short_help="Shows what a run did with MPI.")
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@json_option
@click.option(
    "--html", "as_html", is_flag=True, help="Write a page beside FILE, and print its path."
)
@click.option(
    "--output", "-o", type=click.Path(path_type=Path), help="File for the page, instead of that."
)
@click.option(
    "--since",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A run before a change: show what has changed since then.",
)
@symbols_option()
@feedback_option()
@rules_option()
def report(
    files: tuple[Path, ...],
    as_json: bool,
    as_html: bool,
    output: Path | None,
    since: tuple[Path, ...],
    symbols: tuple[Path, ...],
    feedback: tuple[Path, ...],
    rules: tuple[Path, ...],
) -> None:
    """Show what a run did with MPI: what to change, and what that would gain at most, where its
    time went, who waited, which call paths cost most, and what Headrace chose. FILE is the run's
    record (.hrc), a directory whose newest record is meant, the directory of a job that was killed
    on this node, or a Darshan log (.darshan). Of a job on several nodes that was killed give each
    node's; docs/report.md explains each number, docs/advice.md the advice.
    """
    if as_json and (as_html or output):
        raise click.UsageError("--json prints to stdout: it goes with neither --html nor --output")
    if as_html:
        _refuse_page_names(files)
    files = newest_of_directories(files)
    since = newest_of_directories(since)
    target = None
    if as_html or output:
        from headrace.report.page import FIRST_WORDS, page  # here, since Jinja takes 40 ms to load

        target = output or beside(files[0], ".html")
        refuse_to_replace(target, FIRST_WORDS, "a page of headrace report")
    kept = KeptFiles(symbols)
    job = job_of(files, feedback, kept)
    found = job.findings
    if feedback and job.profile is None:
        say(f"no remarks are shown: {files[0]} has no samples, which headrace profile takes")
    compared = None
    if since:
        compared = compare([profile_of(since, kept)], [profile_of(files, kept)], TOLERANCE)
    if target is None:
        present(job, as_json, rules, compared, kept)
        return
    names = resolve(found.paths(), kept)
    shown = (job.profile, job.listing, job.counted, job.traced)
    changed = compared and since_of(compared)
    made = page(found, names, judged(found, rules), *shown, since=changed)
    write(target, made)
    click.echo(os.fsencode(target))  # which need not be UTF-8


def _refuse_page_names(files: tuple[Path, ...]) -> None:
    """--html takes no name, but who expects that gives one."""
    for path in files:
        if path.suffix == ".html":
            raise HeadraceError(
                f"'{path}' is no record",
                "--html takes no name",
                f"write --html -o {typed(path)}",
                1,
            )


def present(
    job: Job,
    as_json: bool,
    rules: tuple[Path, ...] = (),
    compared: Comparison | None = None,
    kept: KeptFiles = NONE_KEPT,
) -> None:
    """Prints it, with advice by our rules and those of more files, and what has changed."""
    found = job.findings
    symbols = resolve(found.paths(), kept)
    judgement = judged(found, rules)
    shown = (job.profile, job.listing, job.counted, job.traced)
    if as_json:
        told = document(found, symbols, judgement, *shown)
        told["since"] = compared and comparison_document(compared, None)
        click.echo(json.dumps(told, indent=1))
        return
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    show(console(), found, symbols, judgement, *shown, since=compared and since_of(compared))


def write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise unwritable(path, error) from error
