#!/usr/bin/env python3
"""Whether what advice promises holds: each case of tests/mpi/programs/advised.c with its flaw and
without, in turn, and the gain against the bound that the record of the flawed run gives.

    bench/advice/gain.py --launcher mpiexec --compiler mpicc --library libheadrace.so

By hand, as it takes times; on an idle machine. docs/measurements/advice.md keeps a result."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from headrace.advice.judging import judge  # noqa: E402
from headrace.advice.rules import collect  # noqa: E402
from headrace.analysis.analyse import analyse  # noqa: E402
from headrace.record.reader import read  # noqa: E402
from headrace.statistics import median_interval  # noqa: E402

SOURCE = ROOT / "tests" / "mpi" / "programs" / "advised.c"
# It has no bound; its twin computes where the flawed one sleeps.
WITHOUT_GAIN = {"waiting-not-algorithm", "waiting-for-cores"}
BAD, FIXED = "bad", "not"


@dataclass
class Case:
    """Seconds, by rounds. advised: bounds, their lower ends, and own times."""

    runs: dict[str, list[float]] = field(default_factory=lambda: {BAD: [], FIXED: []})
    advised: list[tuple[float, float, float]] = field(default_factory=list)

    def row(self, name: str) -> str:
        before, after = self.runs[BAD], self.runs[FIXED]
        if not self.advised:
            return f"| {name} | {median(before):.3f} | {median(after):.3f} | | not advised | | |"
        gains = [b - a for b, a in zip(before, after, strict=True)]
        gain = median_interval(gains)
        upper, lower, own = (median(values) for values in zip(*self.advised, strict=True))
        held = (
            "within" if gain.median <= upper else "in the noise" if gain.low <= upper else "ABOVE"
        )
        numbers = f"| {median(before):.3f} | {median(after):.3f} "
        numbers += (
            f"| {gain.median:.3f} [{gain.low:.3f}, {gain.high:.3f}] | {lower:.3f} to {upper:.3f} "
        )
        return f"| {name} {numbers}| {own:.3f} | {held} |"


def run(given: argparse.Namespace, program: Path, case: str, kind: str, into: Case) -> None:
    with tempfile.TemporaryDirectory(dir=given.directory) as folder:
        environ = {
            **os.environ,
            "HEADRACE_RECORD": "1",
            "HEADRACE_QUIET": "1",
            "HEADRACE_LOGPATH": f"{folder}/records",
        }
        preload = ["env", f"LD_PRELOAD={given.library}"]
        line = [*given.launcher.split(), "-n", str(given.ranks), *preload, str(program), case, kind]
        subprocess.run([*line, f"{folder}/file"], env=environ, check=True, stdout=sys.stderr)
        (record,) = Path(folder, "records").glob("*.hrc")
        metrics = analyse(read(record)).metrics
    into.runs[kind].append(metrics["run_seconds"] or 0.0)
    for one in judge(collect(()), metrics).advice:
        if kind == BAD and one.rule.id == case and one.upper is not None:
            into.advised.append((one.upper, one.lower or 0.0, one.own or 0.0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--launcher", default="mpiexec")
    parser.add_argument("--compiler", default="mpicc")
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--directory", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("cases", nargs="*")
    given = parser.parse_args()
    given.library = given.library.absolute()
    every = re.findall(r'^    \{"([a-z-]+)"', SOURCE.read_text(), re.MULTILINE)
    print("| rule | run | fixed | gain [95 %] | bound, lower end to upper | own time | held |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(dir=given.directory) as folder:
        program = Path(folder, "advised")
        subprocess.run([*given.compiler.split(), "-O1", SOURCE, "-o", program], check=True)
        for name in given.cases or [one for one in every if one not in WITHOUT_GAIN]:
            case = Case()
            for _ in range(given.rounds):
                for kind in (BAD, FIXED):
                    run(given, program, name, kind, case)
            print(case.row(name), flush=True)


if __name__ == "__main__":
    main()
