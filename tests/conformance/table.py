"""Counts by suite and MPI, with and without the layer, as text and as Markdown."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from case import FAILED, PASSED, SKIPPED, Case, Verdicts

from headrace.bench.peers import document
from headrace.bench.peers.tables import markdown_rows

BEGIN, END = "<!-- table begin -->", "<!-- table end -->"
LOST = "not reached"


@dataclass
class Row:
    """A suite under an MPI. A test that a run did not reach counts as failed in it."""

    suite: str
    host: str
    missing: str = ""
    plain: Verdicts = field(default_factory=dict)
    layered: Verdicts = field(default_factory=dict)
    not_built: list[str] = field(default_factory=list)

    def add(self, case: Case, plain: Verdicts, layered: Verdicts) -> None:
        if case.missing:
            self.not_built.append(case.name)
        names = [*plain, *(name for name in layered if name not in plain)]
        self.plain |= {name: plain.get(name, LOST) for name in names}
        self.layered |= {name: layered.get(name, LOST) for name in names}

    def regressions(self) -> list[str]:
        """What passes without the layer, or is left out there, and fails with it."""
        return [
            name
            for name in self.plain
            if self._bad(self.layered, name) and not self._bad(self.plain, name)
        ]

    def mended(self) -> list[str]:
        return [
            name
            for name in self.plain
            if self._bad(self.plain, name) and self.layered[name] == PASSED
        ]

    def failing_both(self) -> list[str]:
        return [
            name
            for name in self.plain
            if self._bad(self.plain, name) and self._bad(self.layered, name)
        ]

    @staticmethod
    def _bad(verdicts: Verdicts, name: str) -> bool:
        return verdicts[name] in (FAILED, LOST)

    def counts(self, verdicts: Verdicts) -> tuple[int, int, int]:
        found = Counter(verdicts.values())
        return found[PASSED], found[FAILED] + found[LOST], found[SKIPPED]

    def line(self) -> str:
        if self.missing:
            return f"{self.suite:10} {self.host:16} {self.missing}"
        both = [self.counts(self.plain), self.counts(self.layered)]
        words = ["{:5} /{:4} /{:4}".format(*counts) for counts in both]
        return f"{self.suite:10} {self.host:16} {words[0]:>20} {words[1]:>20}"


def report(rows: list[Row], page: Path | None) -> int:
    """Prints the table and what differs. Returns the exit code: 1 when the layer breaks a test, or
    when a suite could not be run at all (nothing in it passes without the layer)."""
    print(f"\n{'suite':10} {'MPI':16} {'plain':>20} {'with the layer':>20}   passed/failed/skipped")
    for row in rows:
        print(row.line())
    _print_names("fails with the layer only", rows, Row.regressions)
    _print_names("passes with the layer only", rows, Row.mended)
    _print_names("fails in both", rows, Row.failing_both)
    _print_names("not built", rows, lambda row: row.not_built)
    if page:
        document.write(str(page), _table(rows), BEGIN, END)
    idle = [row for row in rows if PASSED not in row.plain.values()]
    _print_names("did not run", idle, lambda row: [row.missing or "nothing in it passes"])
    return 1 if not rows or idle or any(row.regressions() for row in rows) else 0


def _print_names(title: str, rows: list[Row], names) -> None:
    found = [(row, names(row)) for row in rows if names(row)]
    if found:
        print(f"\n{title}:")
    for row, listed in found:
        print(f"  {row.suite} on {row.host}: {', '.join(listed)}")


def _table(rows: list[Row]) -> str:
    headers = ["suite", "MPI", "plain", "with Headrace", "only with Headrace"]
    return "\n".join(markdown_rows(headers, map(_columns, rows))) + "\n"


def _columns(row: Row) -> list[str]:
    if row.missing:
        return [row.suite, row.host, "", "", row.missing]
    cells = ["{} / {} / {}".format(*row.counts(found)) for found in (row.plain, row.layered)]
    change = f"{len(row.mended())} mended, {len(row.regressions())} broken"
    return [row.suite, row.host, *cells, change]
