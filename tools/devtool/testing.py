"""./dev test: the groups, how long they took, and one true sum at the end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from devtool import building, costs, debian, estimates, provision, tiers
from devtool.costs import Case
from devtool.failure import Failure
from devtool.groups import GROUPS, Group
from devtool.lock import exclusive
from devtool.paths import LOGS, RELEASE, ROOT, VENV

# Where the runner itself is stopped.
SECONDS_TO_CLEAN_UP = 60
NO_TESTS = 5  # pytest's exit code
CHOOSING = ("-k", "-m", "--lf", "--last-failed")  # its options
# How a case says that it was ended: pytest, ctest, and what runs programs with limits of their own.
HUNG = re.compile(r"from pytest-timeout|^Timeout$|no end within \d+ s|did not end within \d+ s")


@dataclass
class Outcome:
    """What a group came to; `problem` is set when its counts do not tell the whole truth. `hung`:
    names of failed cases that had to be ended. `again`: runs of cases that were made once more."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    again: int = 0
    seconds: float = 0
    problem: str = ""
    hung: list[str] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)

    def add(self, more: Outcome) -> None:
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(more, one.name))

    @property
    def good(self) -> bool:
        return not self.failed and not self.problem


@dataclass(frozen=True)
class Plan:
    """What is asked for: a tier, or the default one and of the rest what fits into `minutes`; extra
    goes to pytest; `page`: docs/test-costs.md is written."""

    tier: str = "default"
    minutes: int | None = None
    extra: tuple[str, ...] = ()
    page: bool = False


def run(groups: Sequence[Group], plan: Plan) -> int:
    """Installs, builds and runs `groups`. Returns the exit code."""
    begin = time.monotonic()
    first = "quick" if plan.tier == "quick" else "default"
    has_rest = plan.tier == "full" or plan.minutes is not None
    is_whole = len(groups) == len(GROUPS) and not plan.extra
    if not has_rest:
        groups = [group for group in groups if _runs(group, first)]
    if _chooses(plan.extra):
        groups = [group for group in groups if group.paths]
        if not groups:
            raise Failure(
                "no group is left", "words after -- choose tests of pytest's", "leave them out"
            )
    needs = [need for group in groups for need in group.needs]
    layers = [layer for group in groups for layer in group.layers]
    # Not only when something is installed: a Debian package may be missing in a set-up checkout.
    debian.ensure([*debian.BUILD, *needs])
    building.prepare([*provision.BUILD, provision.TEST_TOOLS, *layers], (), targets=building.TESTS)
    load = costs.Load()
    prepared = time.monotonic() - begin
    outcomes: dict[tuple[str, str], Outcome] = {}
    left_out: list[str] = []
    # The tests' directories and reports are this checkout's.
    with exclusive("tests.lock"):
        for group in groups:
            if _runs(group, first):
                outcomes[group.name, first] = _run_group(group, first, plan.extra)
        if has_rest:
            end = None if plan.minutes is None else begin + plan.minutes * 60
            left_out = _run_rest(groups, plan.extra, end, outcomes)
    if _chooses(plan.extra) and not any(one.passed + one.failed for one in outcomes.values()):
        for one in outcomes.values():
            one.problem = one.problem or "ran no test"
    code = _summary(outcomes, prepared, left_out)
    print(total_line(plan, is_whole, time.monotonic() - begin, prepared), flush=True)
    if plan.page:
        timed = {key: (one.cases, one.seconds, one.failed) for key, one in outcomes.items()}
        costs.write(timed, prepared, load.others(), is_whole)
    return code


def total_line(plan: Plan, is_whole: bool, seconds: float, prepared: float) -> str:
    """What a run took, its installs and builds included, beside what is promised for a whole one:
    nothing fails where it took longer."""
    builds = f"installs and builds {_clock(prepared)}"
    minutes = plan.minutes
    if minutes is None and plan.tier != "full":
        minutes = tiers.minutes(plan.tier)
    if minutes is None or not is_whole:
        return f"total {_clock(seconds)}, of which {builds}"
    if plan.tier == "quick":  # promised of a tree that is built
        return f"total {_clock(seconds - prepared)} of {minutes}:00 promised, after {builds}"
    return f"total {_clock(seconds)} of {minutes}:00 promised, of which {builds}"


def _clock(seconds: float) -> str:
    return f"{round(seconds) // 60}:{round(seconds) % 60:02}"


def _chooses(extra: Sequence[str]) -> bool:
    """Whether words for pytest choose some of its tests."""
    return any(word.startswith(CHOOSING) for word in extra)


def _runs(group: Group, tier: str) -> bool:
    return not group.paths or any(tiers.runs(path, tier) for path in group.paths)


def _run_rest(
    groups: Sequence[Group],
    extra: Sequence[str],
    end: float | None,
    outcomes: dict[tuple[str, str], Outcome],
) -> list[str]:
    """Runs what full has beyond default, the most valuable first, and only what is known to end by
    then. Returns what was left out."""
    known = estimates.Known.read()
    # Words for pytest may leave out tests.
    pace = 1.0 if extra else known.pace({name: one.seconds for (name, _), one in outcomes.items()})
    left_out: list[str] = []
    for group, parts in estimates.rest_in_order(groups):
        if end is not None:
            chosen = known.fitting(group.name, parts, (end - time.monotonic()) / pace)
            left_out += [part for part in parts if part not in chosen]
            parts = chosen
        if parts:
            outcome = outcomes.setdefault((group.name, tiers.REST), Outcome())
            outcome.add(_run_group(group, tiers.REST, extra, parts))
    return left_out


def _run_group(
    group: Group, tier: str, extra: Sequence[str] = (), parts: Sequence[str] = ()
) -> Outcome:
    """`parts`: files of pytest's, if not all of the group."""
    usual = estimates.Known.read().seconds(group.name, tier)
    took = f" (took {usual:.0f} s on the machine of docs/test-costs.md)" if usual else ""
    title = group.name if tier != tiers.REST else f"{group.name}, what only --full has"
    print(f"\n== {title}: {group.what}{took}", flush=True)
    LOGS.mkdir(parents=True, exist_ok=True)
    report = LOGS / f"test-{group.name}-{tier}.xml"
    report.unlink(missing_ok=True)
    if group.paths:
        command = _pytest(group, tier, report, extra, parts or group.paths)
    else:
        command = _ctest(group, tier, report)
    begin = time.monotonic()
    code = _run_to_the_end(command)
    outcome = _counts(report)
    outcome.seconds = time.monotonic() - begin
    if outcome.passed + outcome.failed == 0:
        if _chooses(extra) and code in (0, NO_TESTS):
            return outcome  # tests of other groups
        if tier != tiers.REST or code not in (0, NO_TESTS):
            outcome.problem = "ran no test"
    elif code != 0 and not outcome.failed:
        outcome.problem = f"its runner ended with exit code {code}"
    return outcome


def _pytest(
    group: Group, tier: str, report: Path, extra: Sequence[str], paths: Sequence[str]
) -> list[str]:
    command = [str(VENV / "bin" / "python"), "-m", "pytest", "-q", f"--junitxml={report}"]
    command += ["--tier", tier, "-n", str(group.jobs if group.jobs > 1 else 0)]
    command += [f"--ignore={path}" for path in group.ignored]
    if "tests/mpi" in group.paths:
        command.append(f"--cells={LOGS / 'cells.json'}")
    return [*command, *extra, *paths]


def _ctest(group: Group, tier: str, report: Path) -> list[str]:
    command = [str(VENV / "bin" / "ctest"), "--test-dir", str(RELEASE), "-L", f"^{group.name}$"]
    if tier == tiers.REST:
        command += ["-R", tiers.ctest_pattern("full")]
    else:
        later = tiers.TIERS[tiers.TIERS.index(tier) + 1 :]
        command += ["-E", tiers.ctest_pattern(*later)]
    command += ["--output-on-failure", "--progress", "--output-junit", str(report)]
    return [*command, "-j", str(group.jobs)]


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
    """Sums of a JUnit report; an error counts as a failure, and of a test that was made again the
    last time. Empty when there is no report."""
    outcome = Outcome()
    try:
        root = ElementTree.parse(report).getroot()
    except (OSError, ElementTree.ParseError):
        return outcome
    cases = list(root.iter("testcase"))
    last = {_name(case): case for case in cases}
    outcome.again = len(cases) - len(last)
    for case in last.values():
        outcome.cases.append(costs.case_of(case))
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


def _summary(
    outcomes: dict[tuple[str, str], Outcome], prepared: float = 0, left_out: Sequence[str] = ()
) -> int:
    print("\n== summary")
    if prepared >= 1:
        print(f"{'installs and builds':63} {prepared:6.0f} s")
    for (name, tier), one in outcomes.items():
        counts = f"{one.passed:5} passed {one.failed:4} failed {one.skipped:4} skipped"
        note = f"   {one.again} made again" if one.again else ""
        note += f"   {one.problem}" if one.problem else ""
        print(f"{name:12} {tier:8} {counts} {one.seconds:6.0f} s{note}")
    for (name, _), one in outcomes.items():
        for case in one.hung:
            print(f"{name:12} ended, as it hung: {case}")
    if left_out:
        print("not run, as time would not have been enough (./dev test --full runs it):")
        print("\n".join(f"  {part}" for part in left_out))
    # A group that ran nothing is a failure that no test reported.
    failed = sum(one.failed or bool(one.problem) for one in outcomes.values())
    passed = sum(one.passed for one in outcomes.values())
    skipped = sum(one.skipped for one in outcomes.values())
    print(f"\n{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 0 if all(one.good for one in outcomes.values()) else 1
