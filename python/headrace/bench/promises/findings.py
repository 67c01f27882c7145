"""What was found: verdicts by MPI and case, their counts, and their form on disk."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from headrace.bench.promises.cases import Case, select
from headrace.bench.promises.judgement import Verdict
from headrace.errors import HeadraceError


@dataclass(frozen=True)
class Finding:
    """One case under one MPI, without Headrace and with it."""

    case: Case
    plain: Verdict
    layered: Verdict


@dataclass(frozen=True)
class Findings:
    """All cases under one MPI. date: of the run, YYYY-MM-DD."""

    mpi: str
    headrace: str
    date: str
    findings: list[Finding] = field(default_factory=list)

    def kept(self, layered: bool, is_standard: bool) -> tuple[int, int]:
        """Promises kept, and all that could be tried: the standard's, or those of practice."""
        verdicts = [
            finding.layered if layered else finding.plain
            for finding in self.findings
            if finding.case.is_standard == is_standard
        ]
        tried = [verdict for verdict in verdicts if verdict.kept is not None]
        return sum(bool(verdict.kept) for verdict in tried), len(tried)

    def is_sound(self) -> bool:
        """Whether all jobs could be run and Headrace broke nothing."""
        return all(
            finding.layered.kept and finding.plain.kept is not None for finding in self.findings
        )


def merged(all_findings: Sequence[Findings]) -> list[Findings]:
    """One entry for each MPI; of two findings on the same case the later one holds."""
    by_mpi: dict[str, Findings] = {}
    for later in all_findings:
        earlier = by_mpi.get(later.mpi)
        before = earlier.findings if earlier else []
        cases = {finding.case.name: finding for finding in [*before, *later.findings]}
        by_mpi[later.mpi] = replace(later, findings=list(cases.values()))
    return list(by_mpi.values())


def only(all_findings: Sequence[Findings], names: Sequence[str]) -> list[Findings]:
    """The cases of these names, or whose names begin so; all where none is named."""
    cases = {one.case.name: one.case for each in all_findings for one in each.findings}
    chosen = {case.name for case in select(list(cases.values()), names)}
    parts = [
        replace(each, findings=[one for one in each.findings if one.case.name in chosen])
        for each in all_findings
    ]
    return [each for each in parts if each.findings]


def to_document(all_findings: Sequence[Findings]) -> list[dict[str, Any]]:
    return [asdict(findings) for findings in all_findings]


def from_document(document: list[dict[str, Any]]) -> list[Findings]:
    return [
        Findings(
            **{
                **entry,
                "findings": [
                    Finding(
                        Case(**finding["case"]),
                        Verdict(**finding["plain"]),
                        Verdict(**finding["layered"]),
                    )
                    for finding in entry["findings"]
                ],
            }
        )
        for entry in document
    ]


def read_findings(path: Path) -> list[Findings]:
    """What an earlier run wrote with --json."""
    try:
        return from_document(json.loads(path.read_text()))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise HeadraceError(
            f"'{path}' cannot be read",
            str(error) or type(error).__name__,
            "give a file that 'headrace bench promises --json' wrote",
        ) from error
