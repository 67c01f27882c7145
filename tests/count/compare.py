"""Compares what fixed cases cost, counted, with the recorded baseline; --record writes it anew.

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
MOST_SHOWN = 30

# Instructions per piece or per call may differ by this share: code is laid out a little differently
# wherever something else changes. Operations are exact.
TOLERANCE = {"operations": 0.0, "instructions": 0.03}


class Uncounted(Exception):
    """Nothing could be counted; the text says why."""


@dataclass(frozen=True)
class Result:
    """Counted numbers, and what they depend on besides the sources."""

    made_with: Mapping[str, str]
    counts: Numbers


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
    return Result(document["made_with"], document["counts"])


def write(path: Path, result: Result) -> None:
    """One line a case, so that a new baseline reads well as a difference."""
    lines = [
        f"  {json.dumps(case)}: {json.dumps(counts)}" for case, counts in result.counts.items()
    ]
    path.write_text(
        f'{{\n"made_with": {json.dumps(dict(result.made_with))},\n"counts": {{\n'
        + ",\n".join(lines)
        + "\n}\n}\n"
    )


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
    print(f"where this is meant, record it and commit the baseline: {RECORD}")
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
    if options.record:
        write(baseline, counted)
        print(f"recorded {len(counted.counts)} cases in {os.path.relpath(baseline)}")
        return 0
    return check(options.kind, _parse(baseline.read_text()), counted)


if __name__ == "__main__":
    sys.exit(main())
