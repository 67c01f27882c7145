"""What tests cost: tests/costs.json has what was measured; costs_page.py makes a page of it."""

from __future__ import annotations

import ast
import datetime
import json
import os
import platform
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from devtool import costs_page, tiers
from devtool.groups import GROUPS, Group
from devtool.paths import ROOT, VENV

DATA = ROOT / "tests" / "costs.json"


@dataclass(frozen=True)
class Case:
    """One test's row: of pytest "tests/FILE.py::FUNCTION", of CTest its name."""

    test: str
    tier: str
    seconds: float
    ran: bool


def case_of(case: ElementTree.Element) -> Case:
    name, folder = case.get("name", ""), case.get("classname", "")
    test = name.partition("[")[0]
    tier = next(
        (one.get("value") for one in case.iter("property") if one.get("name") == "tier"), ""
    )
    if tier:
        test = f"{folder.replace('.', '/')}.py::{test}"
    ran = case.find("skipped") is None and case.get("status") not in ("disabled", "notrun")
    return Case(test, tier or tiers.of_ctest(name), float(case.get("time") or 0), ran)


class Load:
    """How busy the machine was with other things, since this object was made."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._busy, self._own = _busy_seconds(), _own_seconds()

    def others(self) -> float:
        """The share of all cores' time, from 0 to 1, that went to what we have not started, or that
        has not been waited for."""
        elapsed = (time.monotonic() - self._begin) * (os.cpu_count() or 1)
        busy, own = _busy_seconds() - self._busy, _own_seconds() - self._own
        return min(1.0, max(0.0, busy - own) / elapsed) if elapsed else 0.0


def _busy_seconds() -> float:
    words = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    user, nice, system, _, _, irq, softirq = (int(word) for word in words[:7])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    return sum(os.times()[:4])


def known() -> dict:
    """What was measured last, or nothing."""
    return json.loads(DATA.read_text()) if DATA.exists() else {}


def write(
    timed: Mapping[tuple[str, str], tuple[list[Case], float, int]],
    prepared: float,
    others: float,
    is_whole: bool = True,
) -> None:
    """Adds what was measured to tests/costs.json, and writes the page anew. timed: of a group and
    tier its cases, its seconds, and how many failed. is_whole: it was all groups, in one run; else
    each group's columns say when they were written."""
    data = known()
    run = {"date": datetime.date.today().isoformat(), "machine": _machine(), "commit": _commit()}
    run["others"] = round(others, 2)
    for name in {tier for _, tier in timed} if is_whole else ():
        failed = sum(failed for _, _, failed in timed.values())
        whole = {"prepared": round(prepared), "failed": failed}
        data.setdefault("runs", {})[name] = run | whole
    for (group, tier), (cases, seconds, failed) in timed.items():
        data.setdefault("groups", {}).setdefault(group, {})[tier] = {
            "cases": sum(case.ran for case in cases),
            "seconds": round(seconds),
            "cases_seconds": round(sum(case.seconds for case in cases)),
            **({} if is_whole else {"run": run | {"failed": failed}}),
        }
        _note_tests(data.setdefault("tests", {}), cases)
    _write(data)


def count_rows() -> None:
    """Brings the rows of tests/costs.json and its page up to date, and runs no test."""
    data = known()
    data.setdefault("tests", {})
    _write(data)


def _write(data: dict) -> None:
    _count_rows(data["tests"])
    DATA.write_text(_text(data))
    costs_page.write(data)


def _text(data: dict) -> str:
    """JSON with one line for each test."""
    tables = []
    for name, table in sorted(data.items()):
        rows = [f"  {json.dumps(key)}: {json.dumps(table[key])}" for key in sorted(table)]
        tables.append(f' "{name}": {{\n' + ",\n".join(rows) + "\n }")
    return "{\n" + ",\n".join(tables) + "\n}\n"


def _note_tests(tests: dict, cases: Sequence[Case]) -> None:
    sums: dict[tuple[str, str], float] = defaultdict(float)
    for case in cases:
        if "::" in case.test or not _is_of_googletest(case.test):
            sums[case.test, case.tier] += case.seconds
            if "::" not in case.test:
                tests.setdefault(case.test, {}).setdefault(case.tier, {})["rows"] = 1
    for (test, tier), seconds in sums.items():
        tests.setdefault(test, {}).setdefault(tier, {})["seconds"] = round(seconds, 1)


def _count_rows(tests: dict) -> None:
    """All tests of pytest and their rows, run or not; those that are gone go."""
    here = pytest_functions()
    for test in [test for test in tests if "::" in test and test not in here]:
        del tests[test]
    counts: dict[str, dict[str, int]] = defaultdict(dict)
    for test, tier, count in (row for group in GROUPS if group.paths for row in _rows_of(group)):
        counts[test][tier] = count
    for test, rows in counts.items():
        was = tests.get(test, {})
        tests[test] = {
            tier: was.get(tier, {}) | {"rows": rows[tier]} for tier in tiers.TIERS if tier in rows
        }


def pytest_functions() -> set[str]:
    """The names of all of pytest's tests, as their files have them."""
    folders = {path for group in GROUPS for path in group.paths if not path.endswith(".py")}
    return {
        f"{path.relative_to(ROOT)}::{node.name}"
        for folder in folders
        for path in (ROOT / folder).rglob("test_*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def problems_of_rows(tests: Mapping[str, object], functions: set[str]) -> list[str]:
    """A line on each test that tests/costs.json lacks, and on each that is no more."""
    named = {test for test in tests if "::" in test}
    lines = [f"{test} is missing" for test in sorted(functions - named)]
    return lines + [f"{test} is gone" for test in sorted(named - functions)]


def _rows_of(group: Group) -> list[tuple[str, str, int]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.json"
        command = [VENV / "bin" / "python", "-m", "pytest", "--collect-only", "-q"]
        command += [f"--write-rows={path}", *(f"--ignore={one}" for one in group.ignored)]
        subprocess.run([*command, *group.paths], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        return json.loads(path.read_text())


def _is_of_googletest(test: str) -> bool:
    """These are many and short."""
    return test[:1].isupper()


def _commit() -> str:
    """Of the tree that was tested, "" where there is no git; one with changes is marked."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()


def _machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{os.cpu_count()} cores, {models[0] if models else platform.machine()}"
