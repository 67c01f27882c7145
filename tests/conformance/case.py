"""One run of somebody's program, with and without the layer, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hosts import REPOSITORY, Host
from running import Result, launch, work_directory

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
BUILD = REPOSITORY / "build" / "conformance"
LOGS = REPOSITORY / ".dev" / "log" / "conformance"
# Ranks that hang must not outlive their launcher: some launchers cannot end them.
DIES_WITH_PARENT = ["setpriv", "--pdeathsig", "KILL"]

OUT_OF_TIME = 124  # running.run's exit code
PATIENCE = 2  # a case that ran out of time gets this much more of it, once

Verdicts = dict[str, str]
Judge = Callable[["Run"], Verdicts]


@dataclass(frozen=True)
class Run:
    """What a case's program left: its result and its directory."""

    case: Case
    result: Result
    directory: Path

    @property
    def text(self) -> str:
        return self.result.out + self.result.err


@dataclass(frozen=True)
class Case:
    """A program on some ranks. `judge` names the tests in it and how each of them ended."""

    name: str
    ranks: int
    program: list
    judge: Judge
    timeout: float = 40
    environment: Mapping[str, str] = field(default_factory=dict)
    missing: str = ""
    """Why it cannot be run here (it does not compile), or empty."""


def whole(passed: Callable[[Run], bool]) -> Judge:
    """The judge of a program that is one test."""

    def judge(run: Run) -> Verdicts:
        return {run.case.name: PASSED if passed(run) else FAILED}

    return judge


def ends_well(run: Run) -> bool:
    return run.result.code == 0


def says(pattern: str) -> Callable[[Run], bool]:
    """It ended with exit code 0 and said so."""
    expression = re.compile(pattern, re.MULTILINE)
    return lambda run: run.result.code == 0 and bool(expression.search(run.text))


def run_case(
    suite: str, host: Host, case: Case, layered: bool, settings: Mapping[str, str] | None = None
) -> Verdicts:
    """Runs it in an empty directory, which is left behind; the output goes to a log. `settings`
    are variables of the run with the layer."""
    if case.missing:
        return {case.name: SKIPPED}
    way = "layer" if layered else "plain"
    directory = work_directory(f"conformance-{suite}-{host.name}-{case.name}-{way}")
    environment = {**case.environment, **((settings or {}) if layered else {})}
    if host.family.startswith("openmpi") and case.ranks <= 2:
        environment["OMPI_MCA_mpi_yield_when_idle"] = "0"
    program = [*DIES_WITH_PARENT, *case.program]
    result = launch(host, case.ranks, program, layered, environment, case.timeout, cwd=directory)
    if result.code == OUT_OF_TIME:  # ranks that spin on a busy machine, or a true hang
        directory = work_directory(directory.name)
        patience = PATIENCE * case.timeout
        result = launch(host, case.ranks, program, layered, environment, patience, cwd=directory)
    log = LOGS / suite / host.name / f"{case.name}-{way}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(f"{result.explain()}\n{result.out}\n{result.err}\n")
    return case.judge(Run(case, result, directory))
