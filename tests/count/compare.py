"""Compares what fixed cases cost, counted, with the recorded baseline; --record writes it anew, and
asks why where a number has grown.

Exit code 0: as recorded; 1: not; 2: could not count; 77: not compared (ctest: skipped)."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

Numbers = Mapping[str, Mapping[str, float]]  # case -> what is counted -> how many

HERE = Path(__file__).resolve().parent
NOT_COMPARED = 77
RECORD = "./dev count --record"
PAGE = "docs/measurements/counts.md"
MOST_SHOWN = 30

# Instructions per piece or per call may differ by this share: code is laid out a little differently
# wherever something else changes. Operations are exact.
TOLERANCE = {"operations": 0.0, "instructions": 0.03}
# A number that has grown by more than this share is not recorded without a reason.
UNEXPLAINED = {"operations": 0.0, "instructions": 0.005}


class Unexplained(Exception):
    """Numbers have grown, and nobody says why; the text names them, a line each."""


class Uncounted(Exception):
    """Nothing could be counted; the text says why."""


@dataclass(frozen=True)
class Result:
    """Counted numbers, and what they depend on besides the sources. raised: by case and name the
    numbers that were smaller once: "first", "now", and "why"."""

    made_with: Mapping[str, str]
    counts: Numbers
    raised: Mapping[str, Mapping[str, float | str]] = field(default_factory=dict)


@dataclass
class Differences:
    """Lines for people: counts that grew, counts that shrank, cases that came or went."""

    more: list[str] = field(default_factory=list)
    fewer: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.more or self.fewer or self.other)


def compare(recorded: Numbers, counted: Numbers, tolerance: float) -> Differences:
    """What differs by more than `tolerance`, a share of the recorded number."""
    result = Differences()
    for case in [*recorded, *(case for case in counted if case not in recorded)]:
        if case not in counted or case not in recorded:
            result.other.append(f"{case}: {'new' if case in counted else 'gone'}")
            continue
        was, now = recorded[case], counted[case]
        for name in [*was, *(name for name in now if name not in was)]:
            before, after = was.get(name, 0), now.get(name, 0)
            if abs(after - before) <= tolerance * before:
                continue
            line = f"{case}: {name} {before:.10g} -> {after:.10g}"
            (result.more if after > before else result.fewer).append(line)
    return result


def with_reasons(recorded: Result, counted: Result, why: str, share: float) -> Result:
    """What is to be recorded: what was counted, with a reason for each number that has grown since
    its case was new. Errors: Unexplained."""
    raised = {}
    unexplained = []
    for case, numbers in counted.counts.items():
        for name, now in numbers.items():
            # A new case is as it is; a new count of an old one was none.
            was = recorded.counts[case].get(name, 0) if case in recorded.counts else now
            key = f"{case}: {name}"
            known = recorded.raised.get(key, {})
            first = known.get("first", was)
            has_grown = now > was * (1 + share)
            if has_grown and not why:
                unexplained.append(f"{key} {was:.10g} -> {now:.10g}")
            reasons = [known["why"]] if known else []
            reasons += [why] if has_grown else []
            if now > first and reasons:
                raised[key] = {"first": first, "now": now, "why": "; ".join(reasons)}
    if unexplained:
        raise Unexplained("\n".join(f"  {line}" for line in unexplained))
    return Result(counted.made_with, counted.counts, raised)


def count_operations(program: Path, plant: str) -> Result:
    return _parse(_run([str(program), *([plant] if plant else [])]))


def count_instructions(program: Path) -> Result:
    """Instructions by valgrind's callgrind: one dump for each call of `headrace_counted`."""
    if shutil.which("valgrind") is None:
        raise Uncounted("valgrind is missing (it counts instructions), install it")
    function = "headrace_counted"
    with tempfile.TemporaryDirectory(prefix="headrace-count-") as folder:
        dump = Path(folder) / "dump"
        options = ["--collect-atstart=no", f"--toggle-collect={function}"]
        options += [f"--dump-after={function}", f"--callgrind-out-file={dump}"]
        printed = _run(["valgrind", "-q", "--tool=callgrind", *options, str(program)])
        document = json.loads(printed)
        counts = {
            case["name"]: {f"instructions a {case['unit']}": _total(f"{dump}.{i}") / case["units"]}
            for i, case in enumerate(document["cases"], start=1)
        }
    rounded = {
        case: {name: round(number, 3) for name, number in numbers.items()}
        for case, numbers in counts.items()
    }
    return Result(document["made_with"], rounded)


def _total(dump: str) -> int:
    for line in Path(dump).read_text().splitlines():
        if line.startswith("totals: "):
            return int(line.split()[1])
    raise Uncounted(f"'{dump}' has no totals")


def _run(command: list[str]) -> str:
    # The C library's copies would depend on the processor otherwise.
    plain = "-AVX512F,-AVX512VL,-AVX2,-AVX,-ERMS,-FSRM"
    environment = {name: value for name, value in os.environ.items() if "HEADRACE" not in name}
    environment |= {
        "HEADRACE_QUIET": "1",
        "HEADRACE_CORE_DISTANCE": "80",
        "GLIBC_TUNABLES": f"glibc.cpu.hwcaps={plain}",
    }
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Uncounted(str(error)) from error
    if done.returncode != 0:
        raise Uncounted(f"exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def _parse(text: str) -> Result:
    document = json.loads(text)
    return Result(document["made_with"], document["counts"], document.get("raised", {}))


def write(path: Path, result: Result) -> None:
    """One line a case, so that a new baseline reads well as a difference."""
    tables = {"counts": result.counts, "raised": result.raised}
    parts = [f'"made_with": {json.dumps(dict(result.made_with))}']
    for title, table in tables.items():
        lines = [f"  {json.dumps(name)}: {json.dumps(table[name])}" for name in table]
        if lines or title == "counts":
            parts.append(f'"{title}": {{\n' + ",\n".join(lines) + "\n}")
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n")


def check(kind: str, recorded: Result, counted: Result) -> int:
    """Tells what differs; returns the exit code."""
    if recorded.made_with != counted.made_with:
        print(f"{kind} not compared (the baseline was made with {_words(recorded.made_with)},")
        print(f"this build with {_words(counted.made_with)})")
        return NOT_COMPARED
    differences = compare(recorded.counts, counted.counts, TOLERANCE[kind])
    if not differences:
        print(f"{kind}: {len(counted.counts)} cases as recorded")
        return 0
    _show(f"{kind} MORE than recorded (a regression unless it is meant):", differences.more)
    _show(f"{kind} fewer than recorded:", differences.fewer)
    _show("cases:", differences.other)
    why = " --why TEXT" if differences.more else ""
    print(f"where this is meant, record it and commit the baseline: {RECORD}{why}")
    return 1


def _show(title: str, lines: list[str]) -> None:
    if not lines:
        return
    print(title)
    for line in lines[:MOST_SHOWN]:
        print(f"  {line}")
    if len(lines) > MOST_SHOWN:
        print(f"  and {len(lines) - MOST_SHOWN} more")


def _words(made_with: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in made_with.items()) or "nothing"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=tuple(TOLERANCE))
    parser.add_argument("program", type=Path)
    parser.add_argument("--record", action="store_true", help="write the baseline anew")
    parser.add_argument("--why", default="", help="why numbers that have grown had to")
    parser.add_argument("--baseline", type=Path, help="instead of baseline/KIND.json")
    parser.add_argument("--plant", default="", help="a regression to plant in the operations")
    options = parser.parse_args()
    baseline = options.baseline or HERE / "baseline" / f"{options.kind}.json"
    try:
        if options.kind == "operations":
            counted = count_operations(options.program, options.plant)
        else:
            counted = count_instructions(options.program)
    except Uncounted as error:
        print(f"{options.kind} could not be counted: {error}", file=sys.stderr)
        return 2
    if not options.record:
        return check(options.kind, _parse(baseline.read_text()), counted)
    return record(options.kind, baseline, counted, options.why)


def record(kind: str, baseline: Path, counted: Result, why: str) -> int:
    recorded = _parse(baseline.read_text()) if baseline.exists() else counted
    try:
        explained = with_reasons(recorded, counted, why, UNEXPLAINED[kind])
    except Unexplained as error:
        print(f"{kind} not recorded (these have grown, and no reason is given):\n{error}")
        print(f"say why: {RECORD} --only {kind} --why TEXT, or let them shrink")
        return 1
    write(baseline, explained)
    print(f"recorded {len(counted.counts)} cases in {os.path.relpath(baseline)}")
    if explained.raised != recorded.raised:
        print(f"write into {PAGE} what has grown")
    return 0


if __name__ == "__main__":
    sys.exit(main())
