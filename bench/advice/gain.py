#!/usr/bin/env python3
"""Whether what advice promises holds: each case of tests/mpi/programs/advised.c with its flaw and
without, in turn, and the gain against the bound that the record of the flawed run gives.

    bench/advice/gain.py --launcher mpiexec --program ./advised --library libheadrace.so

By hand, as it takes times; on an idle machine."""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "tests" / "mpi" / "programs" / "advised.c"
SAYS_NOTHING = {"waiting-not-algorithm"}  # it has no bound
OTHER_WORK = {"blocking-messages", "polling"}  # their twins do less


def recorded(given: argparse.Namespace, case: str, kind: str, folder: Path) -> dict:
    """The report of one run."""
    environ = {
        **os.environ,
        "HEADRACE_RECORD": "1",
        "HEADRACE_QUIET": "1",
        "HEADRACE_LOGPATH": str(folder / "records"),
        "LD_PRELOAD": given.library,
        "PYTHONPATH": str(ROOT / "python"),
    }
    line = [*given.launcher.split(), "-n", str(given.ranks), given.program, case, kind]
    subprocess.run([*line, str(folder / "file")], env=environ, check=True, stdout=sys.stderr)
    (record,) = (folder / "records").glob("*.hrc")
    environ.pop("LD_PRELOAD")
    report = [sys.executable, "-m", "headrace", "report", str(record), "--json"]
    return json.loads(subprocess.run(report, env=environ, check=True, stdout=-1).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--launcher", default="mpiexec")
    parser.add_argument("--program", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    cases = re.findall(r'^    \{"([a-z-]+)"', SOURCE.read_text(), re.MULTILINE)
    print("| rule | run | fixed | gain | bound | own time | held |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for case in cases:
        if case in SAYS_NOTHING | OTHER_WORK:
            continue
        before, after, bounds, own = [], [], [], []
        for _ in range(given.rounds):
            for kind in ("bad", "not"):
                with tempfile.TemporaryDirectory() as folder:
                    report = recorded(given, case, kind, Path(folder))
                (before if kind == "bad" else after).append(report["run"]["seconds"])
                for one in report["advice"]:
                    if kind == "bad" and one["id"] == case:
                        bounds.append(one["gain_at_most_seconds"])
                        own.append(one["own_seconds"])
        if not bounds:
            print(f"| {case} | not advised |||||")
            continue
        gains = [b - a for b, a in zip(before, after, strict=True)]
        gain, bound = statistics.median(gains), statistics.median(bounds)
        numbers = [statistics.median(before), statistics.median(after), gain, bound]
        numbers.append(statistics.median(own))
        texts = " | ".join(f"{number:.3f} s" for number in numbers)
        print(f"| {case} | {texts} | {'yes' if gain <= bound else 'NO'} |", flush=True)


if __name__ == "__main__":
    main()
