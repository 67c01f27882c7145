"""Runs the suites that ./dev conformance chose and prints what the layer changes."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "mpi"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from case import run_case
from hosts import all_hosts, headrace_library
from suites import SUITES
from table import Row, report

SETTING = "NAME=VALUE: a variable of the runs with Headrace; may be repeated"


def main() -> int:
    options = _options()
    library = headrace_library()
    if library is None or not library.exists():
        sys.exit("conformance: libheadrace.so is not built, run ./dev build")
    rows = []
    for name in options.suite or SUITES:
        for host in all_hosts():
            if host.name not in (options.mpi or SUITES[name].hosts):
                continue
            if host.name not in SUITES[name].hosts:
                continue
            rows.append(_run(name, host, options))
            print(rows[-1].line(), flush=True)
    return report(rows, options.document)


def _run(name: str, host, options: argparse.Namespace) -> Row:
    row = Row(name, host.name, host.missing)
    if host.missing:
        return row
    for case in SUITES[name].cases(host, SUITES[name].source):
        if options.case not in case.name:
            continue
        plain = run_case(name, host, case, layered=False)
        layered = run_case(name, host, case, layered=True, settings=dict(options.setting))
        row.add(case, plain, layered)
        changed = {key for key in plain | layered if plain.get(key) != layered.get(key)}
        for key in sorted(changed):
            print(f"  {key}: {plain.get(key)} plain, {layered.get(key)} with the layer", flush=True)
    return row


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f"{text!r} has no value (write NAME=VALUE)")
    return name, value


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev conformance", description=__doc__)
    parser.add_argument("--suite", action="append", choices=list(SUITES), help="may be repeated")
    hosts = [host.name for host in all_hosts()]
    parser.add_argument("--mpi", action="append", choices=hosts, help="may be repeated")
    parser.add_argument("--case", default="", help="only cases whose name contains this")
    parser.add_argument("--setting", action="append", default=[], type=_setting, help=SETTING)
    parser.add_argument("--document", type=Path, help="write the table into this Markdown file")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
