"""The end of the demo: one run that is recorded, and its report as a page."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from headrace.advice.judging import judge
from headrace.advice.rules import collect
from headrace.analysis.analyse import analyse
from headrace.bench.runner import Host, measure
from headrace.demo.sizing import PARTS
from headrace.errors import HeadraceError
from headrace.record.reader import read
from headrace.report.page import page
from headrace.report.terminal import first_lines, put_line
from headrace.symbols.resolver import resolve

RECORDED = PARTS[1]  # the lattice, at its smallest size: about a second


def write_page(
    console: Console, host: Host, folder: Path, target: Path, environ: Mapping[str, str]
) -> None:
    """Runs a small job with a record in `folder`, writes the report of it to `target`, and prints
    its path and its first lines. What goes wrong is said, and is no failure of the demo."""
    try:
        record = _recorded(host, folder, environ)
        found = analyse(read(record))
        symbols = resolve(found.paths())
        judgement = judge(collect(()), found.metrics)
        target.write_text(page(found, symbols, judgement), encoding="utf-8")
    except (HeadraceError, OSError) as error:
        console.print()
        put_line(console, f"No page of a run was made: {error}")
        return
    console.print()
    put_line(console, f"What one of these runs did, as a page for a browser: {target}")
    for line in first_lines(found, judgement):
        put_line(console, f"  {line}")


def _recorded(host: Host, folder: Path, environ: Mapping[str, str]) -> Path:
    job = RECORDED.make(RECORDED.sizes[-1])
    plain = next(way for way in job.ways if way.preload)
    settings = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(folder / "records")}
    way = replace(plain, variables=(*plain.variables, *settings.items()))
    measure(job, way, host, folder / "recorded", environ)
    records = sorted((folder / "records").glob("*.hrc"))
    if not records:
        raise HeadraceError("the run left no record", "recording failed", "see its messages", 1)
    return records[-1]
