"""Tries cases under MPIs, plain and with Headrace."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from headrace import __version__
from headrace.bench.promises.cases import Case, list_cases, select
from headrace.bench.promises.findings import Finding, Findings
from headrace.bench.promises.hosts import find_hosts
from headrace.bench.promises.judgement import Verdict
from headrace.bench.promises.trial import require_headrace, try_case
from headrace.bench.runner import Host
from headrace.bench.workspace import surroundings, workspace
from headrace.errors import say

# The case that tells whether Headrace takes part at all.
OPENING = "info-returned"


def selected_cases(
    wanted: Sequence[str], names: Sequence[str], base: Path | None, environ: Mapping[str, str]
) -> list[Case]:
    """The cases of these names, as the first of the MPIs `wanted` has them."""
    with _work(wanted, base, environ) as (_folder, hosts):
        return select(list_cases(hosts[0], environ), names)


def try_all(
    wanted: Sequence[str],
    names: Sequence[str],
    base: Path | None,
    seconds: int,
    environ: Mapping[str, str],
    found: list[Findings],
) -> None:
    """Tries the cases of these names under each MPI `wanted` and adds the findings, also of an MPI
    of which not all can be tried. seconds: a case's usual limit."""
    with _work(wanted, base, environ) as (folder, hosts):
        work = [(host, list_cases(host, environ)) for host in hosts]
        chosen = [select(cases, names) for _, cases in work]
        say(f"files in {surroundings(folder.parent)}")
        for (host, every), cases in zip(work, chosen, strict=True):
            opening = next(case for case in every if case.name == OPENING)
            require_headrace(opening, host, folder, environ, seconds)
            findings = Findings(host.title, __version__, datetime.now(UTC).date().isoformat())
            try:
                _try_under(host, cases, folder, seconds, environ, findings)
            finally:
                if findings.findings:
                    found.append(findings)


@contextmanager
def _work(
    wanted: Sequence[str], base: Path | None, environ: Mapping[str, str]
) -> Iterator[tuple[Path, list[Host]]]:
    """A folder for files and the hosts, as long as it lasts."""
    with workspace(base or Path(tempfile.gettempdir())) as folder:
        yield folder, find_hosts(wanted, folder, environ)


def _try_under(
    host: Host,
    cases: Sequence[Case],
    folder: Path,
    seconds: int,
    environ: Mapping[str, str],
    findings: Findings,
) -> None:
    for number, case in enumerate(cases, start=1):
        plain = try_case(case, host, folder, environ, layered=False, seconds=seconds)
        layered = try_case(case, host, folder, environ, layered=True, seconds=seconds)
        findings.findings.append(Finding(case, plain, layered))
        say(
            f"{host.title}, {number} of {len(cases)}, {case.name}: {_shown(plain)}, "
            f"with Headrace: {_shown(layered)}"
        )


def _shown(verdict: Verdict) -> str:
    return verdict.text + (f", {verdict.detail}" if verdict.detail else "")
