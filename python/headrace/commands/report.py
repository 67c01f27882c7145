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
from headrace.commands._options import json_option, rules_option
from headrace.errors import unwritable
from headrace.launch.gather import gather
from headrace.profile.profile import Profile, profile
from headrace.profile.samples import Samples
from headrace.record.merge import merge
from headrace.record.reader import read
from headrace.record.tables import Record
from headrace.report.document import document
from headrace.report.page import page
from headrace.report.terminal import console, show
from headrace.symbols.resolver import resolve, resolve_frames


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
@rules_option()
def report(
    files: tuple[Path, ...],
    as_json: bool,
    as_html: bool,
    output: Path | None,
    rules: tuple[Path, ...],
) -> None:
    """Show what a run did with MPI: what to change, and what that would gain at most, where its
    time went, who waited, which call paths cost most, and what Headrace chose. FILE is the run's
    record (.hrc), or the directory of a job that was killed on this node. Of a job on several
    nodes that was killed give each node's; docs/report.md explains each number, docs/advice.md the
    advice.
    """
    record = merge([record_of(file) for file in files])
    found = analyse(record)
    sampled = profile_of(record, found)
    if not (as_html or output):
        present(found, as_json, rules, sampled)
        return
    symbols = resolve(site.frames for site in found.sites)
    target = output or files[0].with_suffix(".html")
    write(target, page(found, symbols, judge(collect(rules), found.metrics), sampled))
    click.echo(target)


def profile_of(record: Record, found: Findings) -> Profile | None:
    """None where nothing was sampled."""
    samples = Samples(record)
    frames = {frame for path in samples.paths() for frame in path}
    return profile(samples, resolve_frames(frames), found.run.count)


def present(
    found: Findings,
    as_json: bool,
    rules: tuple[Path, ...] = (),
    sampled: Profile | None = None,
) -> None:
    """Prints them, with advice by our rules and those of more files."""
    symbols = resolve(site.frames for site in found.sites)
    judgement = judge(collect(rules), found.metrics)
    if as_json:
        click.echo(json.dumps(document(found, symbols, judgement, sampled), indent=1))
        return
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    show(console(), found, symbols, judgement, sampled)


def write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise unwritable(path, error) from error


def record_of(file: Path) -> Record:
    """A record, or what the ranks of a job keep in a directory."""
    if not file.is_dir():
        return read(file)
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        return read(gather(file, Path(folder), os.environ))
