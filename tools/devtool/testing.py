"""./dev test: the groups, how long they took, and one true sum at the end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from devtool import building, debian, provision
from devtool.lock import exclusive
from devtool.paths import LOGS, RELEASE, ROOT, VENV
from devtool.provision import Layer


@dataclass(frozen=True)
class Group:
    """Tests that one runner runs. On two idle cores they take up to `seconds`, with --quick
    `quick_seconds`; it leaves out a group that has none. Both are only told: no machine is too
    slow."""

    name: str
    what: str
    paths: tuple[str, ...]  # pytest's; none: ctest runs the tests labelled `name`
    seconds: int
    quick_seconds: int
    needs: tuple[debian.Need, ...]
    layers: tuple[Layer, ...] = ()
    ignored: tuple[str, ...] = ()


ALL_MPI = (*provision.WHEELS.values(), *provision.MPI4PY.values())
GROUPS = (
    Group(
        "repository",
        "rooms, generated files, libheadrace.so's needs, style",
        ("tests/repository",),
        60,
        60,
        debian.PYTHON_TESTS,
        ignored=("tests/repository/test_wheel.py",),
    ),
    Group("unit", "each room without an MPI", (), 60, 30, debian.COUNTS),
    Group("sim", "the engine on threads as ranks", (), 270, 60, debian.UNIT_TESTS),
    Group(
        "python",
        "the command line, launching, reports",
        ("tests/python",),
        510,
        110,
        debian.PYTHON_TESTS,
        ALL_MPI,
    ),
    Group(
        "mpi",
        "programs with and without the layer, every MPI",
        ("tests/mpi",),
        900,
        300,
        debian.MPI_TESTS,
        ALL_MPI,
        ("tests/mpi/nodes", "tests/mpi/faults"),
    ),
    Group(
        "faults",
        "failing stores, poor machines, sudden ends; three MPIs",
        ("tests/mpi/faults",),
        300,
        0,
        debian.MPI_TESTS,
        ALL_MPI,
    ),
    Group(
        "nodes",
        "emulated nodes",
        ("tests/mpi/nodes",),
        120,
        40,
        debian.NODE_TESTS,
        ALL_MPI,
    ),
    Group(
        "wheel",
        "builds from nothing, installs, works",
        ("tests/repository/test_wheel.py",),
        840,
        0,
        debian.PYTHON_TESTS,
    ),
)


# Where the runner itself is stopped.
SECONDS_TO_CLEAN_UP = 60
# How a case says that it was ended: pytest, ctest, and what runs programs with limits of their own.
HUNG = re.compile(r"from pytest-timeout|^Timeout$|no end within \d+ s|did not end within \d+ s")


@dataclass
class Outcome:
    """What a group came to; `problem` is set when its counts do not tell the whole truth. `hung`:
    names of failed cases that had to be ended."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0
    problem: str = ""
    hung: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return not self.failed and not self.problem


def run(groups: Sequence[Group], quick: bool, extra: Sequence[str]) -> int:
    """Installs, builds and runs `groups`; `extra` goes to pytest. Returns the exit code."""
    groups = [group for group in groups if group.quick_seconds or not quick]
    needs = [need for group in groups for need in group.needs]
    layers = [layer for group in groups for layer in group.layers]
    # Not only when something is installed: a Debian package may be missing in a set-up checkout.
    debian.ensure([*debian.BUILD, *needs])
    building.prepare([*provision.BUILD, provision.TEST_TOOLS, *layers], (), targets=building.TESTS)
    # The tests' directories and reports are this checkout's.
    with exclusive("tests.lock"):
        outcomes = {group.name: _run_group(group, quick, extra) for group in groups}
    return _summary(outcomes)


def _run_group(group: Group, quick: bool, extra: Sequence[str]) -> Outcome:
    usual = group.quick_seconds if quick else group.seconds
    print(f"\n== {group.name}: {group.what} (up to {usual} s on two idle cores)", flush=True)
    LOGS.mkdir(parents=True, exist_ok=True)
    report = LOGS / f"test-{group.name}.xml"
    report.unlink(missing_ok=True)
    command = _pytest(group, quick, report, extra) if group.paths else _ctest(group, quick, report)
    begin = time.monotonic()
    code = _run_to_the_end(command)
    outcome = _counts(report)
    outcome.seconds = time.monotonic() - begin
    if outcome.passed + outcome.failed == 0:
        outcome.problem = "ran no test"
    elif code != 0 and not outcome.failed:
        outcome.problem = f"its runner ended with exit code {code}"
    return outcome


def _pytest(group: Group, quick: bool, report: Path, extra: Sequence[str]) -> list[str]:
    command = [str(VENV / "bin" / "python"), "-m", "pytest", "-q", f"--junitxml={report}"]
    command += ["-m", "not slow"] if quick else []
    command += [f"--ignore={path}" for path in group.ignored]
    return [*command, *extra, *group.paths]


def _ctest(group: Group, quick: bool, report: Path) -> list[str]:
    command = [str(VENV / "bin" / "ctest"), "--test-dir", str(RELEASE), "-L", f"^{group.name}$"]
    command += ["-LE", "^slow$"] if quick else []
    command += ["--output-on-failure", "--progress", "--output-junit", str(report)]
    return [*command, "-j", str(os.cpu_count() or 1) if group.name == "unit" else "1"]


def _run_to_the_end(command: Sequence[str]) -> int:
    """The command's exit code. Its process group is ended with it where we are ended."""
    environment = {**os.environ, **building.tool_environment(), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, env=environment, start_new_session=True
    )
    try:
        return process.wait()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=SECONDS_TO_CLEAN_UP)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _counts(report: Path) -> Outcome:
    """Sums of a JUnit report; an error counts as a failure. Empty when there is no report."""
    outcome = Outcome()
    try:
        root = ElementTree.parse(report).getroot()
    except (OSError, ElementTree.ParseError):
        return outcome
    for case in root.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            outcome.failed += 1
            if _has_hung(case):
                outcome.hung.append(_name(case))
        elif case.find("skipped") is not None or case.get("status") in ("disabled", "notrun"):
            outcome.skipped += 1
        else:
            outcome.passed += 1
    return outcome


def _has_hung(case: ElementTree.Element) -> bool:
    said = [problem.get("message", "") for problem in case] + list(case.itertext())
    return any(HUNG.search(text) for text in said)


def _name(case: ElementTree.Element) -> str:
    folder, name = case.get("classname", ""), case.get("name", "")
    return name if folder in ("", name) else f"{folder}::{name}"


def _summary(outcomes: dict[str, Outcome]) -> int:
    print("\n== summary")
    for name, one in outcomes.items():
        counts = f"{one.passed:5} passed {one.failed:4} failed {one.skipped:4} skipped"
        note = f"   {one.problem}" if one.problem else ""
        print(f"{name:12} {counts} {one.seconds:6.0f} s{note}")
    for name, one in outcomes.items():
        for case in one.hung:
            print(f"{name:12} ended, as it hung: {case}")
    # A group that ran nothing is a failure that no test reported.
    failed = sum(one.failed or bool(one.problem) for one in outcomes.values())
    passed = sum(one.passed for one in outcomes.values())
    skipped = sum(one.skipped for one in outcomes.values())
    print(f"\n{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 0 if all(one.good for one in outcomes.values()) else 1
