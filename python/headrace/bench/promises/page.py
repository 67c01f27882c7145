"""Findings as tables on the terminal and as a page in Markdown."""

import textwrap
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headrace.bench.promises.cases import Case
from headrace.bench.promises.findings import Findings
from headrace.bench.promises.judgement import Verdict
from headrace.launch.start import PRESETS
from headrace.mpi.kinds import TITLES

PAGE_WIDTH = 104
INTRODUCTION = (
    "Which promises of the MPI standard on files does an MPI keep? The command tries each case in "
    "a job of its own, on the plain MPI and under Headrace. It judges the file's bytes as POSIX "
    "calls read them, the counts, the error classes, and whether the job ended. `--mpi DIRECTORY` "
    "tests your own MPI; `--markdown FILE` writes this page. A file size limit is the process's "
    "own (`RLIMIT_FSIZE`, the error EFBIG); full disks and quotas take the same way through a "
    "library. Races try what atomic mode and threads promise: a library may be lucky in one run."
)
NOTE = (
    "The text of the standard does not demand the cases of practice (marked *), "
    "but programs count on them."
)


def counts(findings: Findings) -> Iterable[str]:
    """How many promises are kept, without Headrace and with it: a line each."""
    for name, layered in ((findings.mpi, False), ("with Headrace", True)):
        kept, tried = findings.kept(layered, True)
        others, others_tried = findings.kept(layered, False)
        line = f"{name}: keeps {kept} of {tried} promises of the standard"
        yield line + (f", {others} of {others_tried} of practice" if others_tried else "")


def show(console: Console, all_findings: Sequence[Findings]) -> None:
    """A table for each MPI; below it what was promised where it was broken, and the counts."""
    for findings in all_findings:
        console.print()
        console.print(_table(findings))
        for line in _details(findings):
            console.print("  " + line, highlight=False, markup=False, soft_wrap=True)
        for line in counts(findings):
            console.print(line, style="bold", highlight=False, markup=False)
    if any(not finding.case.is_standard for every in all_findings for finding in every.findings):
        console.print(NOTE, highlight=False, markup=False, soft_wrap=True)


def _table(findings: Findings) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("case", findings.mpi, "with Headrace"):
        table.add_column(name, no_wrap=name == "case")
    for finding in findings.findings:
        table.add_row(_name(finding.case), _cell(finding.plain), _cell(finding.layered))
    return table


def _cell(verdict: Verdict) -> Text:
    if verdict.kept:
        return Text(verdict.text)
    return Text(f"x {verdict.text}", style="bold red" if verdict.kept is False else "bold")


def _name(case: Case) -> str:
    return case.name if case.is_standard else f"{case.name} *"


def _details(findings: Findings) -> Iterable[str]:
    for finding in findings.findings:
        for way, verdict in (("plain", finding.plain), ("with Headrace", finding.layered)):
            if not verdict.kept:
                more = f", {verdict.detail}" if verdict.detail else ""
                yield (
                    f"{finding.case.name}, {way}: {verdict.text}{more}. Promised: "
                    f"{finding.case.promise} [MPI {finding.case.section}]"
                )


def markdown(all_findings: Sequence[Findings]) -> str:
    """The page of the documentation: how it was run, the table, and what each case promises."""
    parts = [
        "# What MPIs make of their promises on files",
        "",
        "    headrace bench promises --mpi DIRECTORY",
        "",
        *textwrap.wrap(INTRODUCTION, PAGE_WIDTH),
        "",
        *textwrap.wrap(" ".join(_circumstances(all_findings)), PAGE_WIDTH, break_on_hyphens=False),
        "",
        *_markdown_table(all_findings),
        "",
        *textwrap.wrap(NOTE.replace("*", "\\*"), PAGE_WIDTH),
        "",
        *[f"- {line}" for findings in all_findings for line in _markdown_counts(findings)],
        "",
        "## The promises",
        "",
        "Sections are those of the MPI standard, versions 4.1 and 5.0.",
        "",
        "| case | ranks | promise | section |",
        "| --- | --- | --- | --- |",
        *[
            f"| {_escaped(_name(case))} | {case.ranks} | {_escaped(case.promise)} "
            f"| {case.section} |"
            for case in _cases(all_findings)
        ],
    ]
    return "\n".join(parts) + "\n"


def _circumstances(all_findings: Sequence[Findings]) -> Iterable[str]:
    dates = sorted({findings.date for findings in all_findings})
    versions = sorted({findings.headrace for findings in all_findings})
    mpis = [findings.mpi for findings in all_findings]
    yield f"Run on {_listed(dates)} with Headrace {_listed(versions)} under {_listed(mpis)}."
    for kind, variables in PRESETS["filesystem"].items():
        if any(name.startswith(TITLES[kind]) for name in mpis):
            values = " ".join(f"`{name}={value}`" for name, value in variables.items())
            yield f"{TITLES[kind]} runs with {values}, other settings are the defaults."
    yield "A broken promise is in **bold**."


def _markdown_counts(findings: Findings) -> Iterable[str]:
    plain, layered = counts(findings)
    yield f"{plain}; {layered.replace('keeps ', '').replace('promises ', '')}"


def _markdown_table(all_findings: Sequence[Findings]) -> Iterable[str]:
    names = [name for findings in all_findings for name in (findings.mpi, "with Headrace")]
    yield "| case | " + " | ".join(names) + " |"
    yield "| --- |" + " --- |" * len(names)
    for case in _cases(all_findings):
        cells = []
        for findings in all_findings:
            by_case = {finding.case.name: finding for finding in findings.findings}
            found = by_case.get(case.name)
            cells += [
                _markdown_cell(found and found.plain),
                _markdown_cell(found and found.layered),
            ]
        yield f"| {_escaped(_name(case))} | " + " | ".join(cells) + " |"


def _markdown_cell(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    return verdict.text if verdict.kept else f"**{_escaped(verdict.text)}**"


def _cases(all_findings: Sequence[Findings]) -> list[Case]:
    cases = [finding.case for findings in all_findings for finding in findings.findings]
    return list({case.name: case for case in cases}.values())


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_")


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]
