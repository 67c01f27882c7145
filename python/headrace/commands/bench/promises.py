"""`headrace bench promises`."""

import json
import os
from pathlib import Path

import click

from headrace.bench import report
from headrace.bench.partial import kept
from headrace.bench.promises import page
from headrace.bench.promises.findings import Findings, merged, only, read_findings, to_document
from headrace.bench.promises.trying import selected_cases, try_all
from headrace.commands._options import directory_option, mpi_names_option, refuse_given

USUAL_SECONDS = 10


@click.command(short_help="Tries what the MPI standard promises of files, plain and with Headrace.")
@mpi_names_option("its directory")
@click.option(
    "--case", "names", multiple=True, help="Only this case, or those whose names begin so."
)
@click.option("--list", "listing", is_flag=True, help="List the cases and end.")
@directory_option("Where the files are made (128 MiB).  [a temporary directory]")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=USUAL_SECONDS,
    show_default=True,
    help="Seconds after which a case counts as hanging.",
)
@click.option(
    "--json", "json_file", type=click.Path(dir_okay=False), help="Write all findings here."
)
@click.option("--markdown", type=click.Path(dir_okay=False), help="Write a page of them here.")
@click.option(
    "--read",
    "earlier",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Show what earlier runs wrote with --json instead of running; repeatable, the last wins.",
)
def promises(
    wanted: tuple[str, ...],
    names: tuple[str, ...],
    listing: bool,
    directory: Path | None,
    limit: int,
    json_file: str | None,
    markdown: str | None,
    earlier: tuple[Path, ...],
) -> int:
    """Try what the MPI standard promises of files: on the plain MPI, and under Headrace.

    \b
    headrace bench promises --mpi /opt/cray/pe/mpich/default/ofi/gnu/9.1

    Each case is a job of at most four ranks on this node, with a limit of time. It is judged from
    the file's bytes, the counts and the error classes. The exit status is 0 unless Headrace itself
    breaks a promise, or a job could not be run.
    """
    for path in (json_file, markdown):
        report.require_writable(path)
    if listing and not earlier:
        for case in selected_cases(wanted, names, directory, os.environ):
            click.echo(f"{case.name:24} {case.promise} [MPI {case.section}]")
        return 0
    if earlier:
        refuse_given(("wanted", "directory", "limit", "listing"), "--read tries nothing")
    found: list[Findings] = []

    def keep() -> None:
        if json_file is not None:
            report.write_text(json_file, json.dumps(to_document(found), indent=1) + "\n")
        page.show(report.make_console(), found)

    with kept(found, keep):
        if earlier:
            found += only(merged([one for path in earlier for one in read_findings(path)]), names)
        else:
            try_all(wanted, names, directory, limit, os.environ, found)
        if markdown is not None:
            report.write_text(markdown, page.markdown(found))
    return 0 if all(findings.is_sound() for findings in found) else 1
