"""`headrace bench promises`."""

import json
import os
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from headrace import __version__
from headrace.bench import report
from headrace.bench.options import directory_option
from headrace.bench.programs import CHOICES
from headrace.bench.promises import page
from headrace.bench.promises.cases import Case, list_cases, select
from headrace.bench.promises.findings import Finding, Findings, merged, read_findings, to_document
from headrace.bench.promises.hosts import find_hosts
from headrace.bench.promises.judgement import Verdict
from headrace.bench.promises.trial import try_case
from headrace.bench.runner import Host
from headrace.bench.workspace import surroundings, workspace
from headrace.errors import say

USUAL_SECONDS = 10


@click.command(short_help="Tries what the MPI standard promises of files, plain and with Headrace.")
@click.option(
    "--mpi",
    "wanted",
    multiple=True,
    default=("mpich",),
    show_default=True,
    metavar="NAME",
    help=f"The MPI: {', '.join(CHOICES)} (every one that is found), or its directory; repeatable.",
)
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
    if earlier:
        found = merged([findings for path in earlier for findings in read_findings(path)])
    else:
        with workspace(directory or Path(tempfile.gettempdir())) as folder:
            hosts = find_hosts(wanted, folder, os.environ)
            if listing:
                return _list(select(list_cases(hosts[0], os.environ), names))
            work = [(host, select(list_cases(host, os.environ), names)) for host in hosts]
            say(f"files in {surroundings(folder.parent)}")
            found = [_try_all(host, cases, folder, limit) for host, cases in work]
    page.show(report.make_console(), found)
    if json_file is not None:
        report.write_text(json_file, json.dumps(to_document(found), indent=1) + "\n")
    if markdown is not None:
        report.write_text(markdown, page.markdown(found))
    return 0 if all(findings.is_sound() for findings in found) else 1


def _list(cases: Sequence[Case]) -> int:
    for case in cases:
        print(f"{case.name:24} {case.promise} [MPI {case.section}]")
    return 0


def _try_all(host: Host, cases: Sequence[Case], folder: Path, limit: int) -> Findings:
    findings = Findings(host.title, __version__, datetime.now(UTC).date().isoformat())
    for number, case in enumerate(cases, start=1):
        plain = try_case(case, host, folder, os.environ, layered=False, seconds=limit)
        layered = try_case(case, host, folder, os.environ, layered=True, seconds=limit)
        findings.findings.append(Finding(case, plain, layered))
        say(
            f"{host.title}, {number} of {len(cases)}, {case.name}: {_shown(plain)}, "
            f"with Headrace: {_shown(layered)}"
        )
    return findings


def _shown(verdict: Verdict) -> str:
    return verdict.text + (f", {verdict.detail}" if verdict.detail else "")
