"""`headrace report`: what a run did with MPI, from its record or a Darshan log."""

import json
import sys
from pathlib import Path

import click

from headrace.commands._findings import Job, job_of, judged
from headrace.commands._options import feedback_option, json_option, rules_option
from headrace.errors import HeadraceError, say, unwritable
from headrace.report.document import document
from headrace.report.page import page
from headrace.report.terminal import console, show
from headrace.symbols.resolver import resolve


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
@feedback_option()
@rules_option()
def report(
    files: tuple[Path, ...],
    as_json: bool,
    as_html: bool,
    output: Path | None,
    feedback: tuple[Path, ...],
    rules: tuple[Path, ...],
) -> None:
    """Show what a run did with MPI: what to change, and what that would gain at most, where its
    time went, who waited, which call paths cost most, and what Headrace chose. FILE is the run's
    record (.hrc), the directory of a job that was killed on this node, or a Darshan log
    (.darshan). Of a job on several nodes that was killed give each node's; docs/report.md explains
    each number, docs/advice.md the advice.
    """
    if as_html:
        _refuse_page_names(files)
    job = job_of(files, feedback)
    found = job.findings
    if feedback and job.profile is None:
        say(f"no remarks are shown: {files[0]} has no samples, which headrace profile takes")
    if not (as_html or output):
        present(job, as_json, rules)
        return
    symbols = resolve(site.frames for site in found.sites)
    target = output or files[0].with_suffix(".html")
    made = page(
        found, symbols, judged(found, rules), job.profile, job.listing, job.counted, job.traced
    )
    write(target, made)
    click.echo(target)


def _refuse_page_names(files: tuple[Path, ...]) -> None:
    """--html takes no name, but who expects that gives one."""
    for path in files:
        if path.suffix == ".html":
            raise HeadraceError(
                f"'{path}' is no record", "--html takes no name", f"write --html -o {path}", 1
            )


def present(job: Job, as_json: bool, rules: tuple[Path, ...] = ()) -> None:
    """Prints it, with advice by our rules and those of more files."""
    found = job.findings
    symbols = resolve(site.frames for site in found.sites)
    judgement = judged(found, rules)
    if as_json:
        told = document(
            found, symbols, judgement, job.profile, job.listing, job.counted, job.traced
        )
        click.echo(json.dumps(told, indent=1))
        return
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    shown = (job.profile, job.listing, job.counted, job.traced)
    show(console(), found, symbols, judgement, *shown)


def write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise unwritable(path, error) from error
