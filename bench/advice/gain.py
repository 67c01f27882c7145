#!/usr/bin/env python3
"""Whether what advice promises holds: each trial (trials.py) with its flaw and mended, in turn, and
the gain against the bound that the record of the flawed run gives.

    bench/advice/gain.py --launcher mpiexec --compiler mpicc --library libheadrace.so

By hand, as it takes times; on an idle machine. docs/measurements/advice.md keeps a result."""

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from trials import BAD, MENDED, PROGRAMS, ROOT, Trial, Way, trials

sys.path.insert(0, str(ROOT / "python"))

from headrace.commands._findings import job_of, judged
from headrace.statistics import median_interval

SAMPLING = {"HEADRACE_SAMPLING": "1", "HEADRACE_SAMPLING_RATE": "1000"}


@dataclass
class Result:
    """Seconds, by rounds. advised: bounds, their lower ends, and own times."""

    runs: dict[str, list[float]] = field(default_factory=lambda: {BAD: [], MENDED: []})
    advised: list[tuple[float, float, float]] = field(default_factory=list)

    def row(self, name: str) -> str:
        before, after = self.runs[BAD], self.runs[MENDED]
        if not self.advised:
            return f"| {name} | {median(before):.3f} | {median(after):.3f} | | not advised | | |"
        gains = [b - a for b, a in zip(before, after, strict=True)]
        gain = median_interval(gains)
        upper, lower, own = (median(values) for values in zip(*self.advised, strict=True))
        held = (
            "within" if gain.median <= upper else "in the noise" if gain.low <= upper else "ABOVE"
        )
        held += "" if gain.low > 0 else "; no certain gain"
        numbers = f"| {median(before):.3f} | {median(after):.3f} "
        numbers += (
            f"| {gain.median:.3f} [{gain.low:.3f}, {gain.high:.3f}] | {lower:.3f} to {upper:.3f} "
        )
        return f"| {name} {numbers}| {own:.3f} | {held} |"


def program_of(
    given: argparse.Namespace, trial: Trial, way: Way, folder: Path
) -> tuple[list[Path | str], Path]:
    """Its words, and the file of its compiler's remarks."""
    if trial.source.endswith(".py"):
        return [given.python, PROGRAMS / trial.source], folder
    program = folder / f"{trial.source}-{'-'.join(way.options)}"
    if not program.exists():
        remarks = (f"-fopt-info-all={program}.optinfo",)
        line = [*given.compiler.split(), *way.options, *remarks, PROGRAMS / trial.source]
        subprocess.run([*line, "-o", program, "-lm", "-lpthread"], check=True)
    return [program], Path(f"{program}.optinfo")


def run(given: argparse.Namespace, trial: Trial, kind: str, programs: Path, into: Result) -> None:
    way = trial.bad if kind == BAD else trial.mended
    program, remarks = program_of(given, trial, way, programs)
    with tempfile.TemporaryDirectory(dir=given.directory) as folder:
        environ = {
            **os.environ,
            "HEADRACE_RECORD": "1",
            "HEADRACE_QUIET": "1",
            "HEADRACE_LOGPATH": f"{folder}/records",
            **(SAMPLING if trial.is_sampled else {}),
            **way.settings,
        }
        words = [*way.before, "env", f"LD_PRELOAD={given.library}", *program, *way.words]
        line = [*given.launcher.split(), "-n", str(trial.ranks), *words]
        if trial.source == "advised.c":
            line.append(f"{folder}/file")
        subprocess.run(line, env=environ, check=True, stdout=sys.stderr)
        (record,) = Path(folder, "records").glob("*.hrc")
        found = job_of([record], [remarks] if trial.has_remarks else ()).findings
    into.runs[kind].append(found.metrics["run_seconds"] or 0.0)
    for one in judged(found).advice:
        if kind == BAD and one.rule.id == trial.rule and one.upper is not None:
            into.advised.append((one.upper, one.lower or 0.0, one.own or 0.0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--launcher", default="mpiexec")
    parser.add_argument("--compiler", default="mpicc")
    parser.add_argument("--python", default=sys.executable, help="one with mpi4py and NumPy")
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--directory", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("rules", nargs="*")
    given = parser.parse_args()
    given.library = given.library.absolute()
    print("| rule | run, s | mended, s | gain, s [95 %] | bound, s, both ends | own time, s | |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(dir=given.directory) as folder:
        for trial in trials():
            if given.rules and trial.rule not in given.rules:
                continue
            result = Result()
            for _ in range(given.rounds):
                for kind in (BAD, MENDED):
                    run(given, trial, kind, Path(folder), result)
            print(result.row(trial.name or trial.rule), flush=True)


if __name__ == "__main__":
    main()
