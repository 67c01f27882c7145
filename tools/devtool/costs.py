"""What tests cost: tests/costs.json has what was measured; costs_page.py makes a page of it."""

from __future__ import annotations

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
UNKNOWN_SECONDS = 30.0


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


@dataclass(frozen=True)
class Known:
    """What was measured last, or nothing."""

    data: dict

    @classmethod
    def read(cls) -> Known:
        return cls(json.loads(DATA.read_text()) if DATA.exists() else {})

    def seconds(self, group: str, tier: str) -> float:
        return self.data.get("groups", {}).get(group, {}).get(tier, {}).get("seconds", 0.0)

    def pace(self, took: Mapping[str, float]) -> float:
        """By which factor this machine is slower, from how long the default tier of groups took."""
        both = {group: self.seconds(group, "default") for group in took}
        then = sum(both.values())
        return sum(took[group] for group in both if both[group]) / then if then else 1.0

    def fitting(self, group: str, parts: Sequence[str], seconds: float) -> list[str]:
        """The parts that together end within so many seconds of the machine of the costs."""
        chosen = []
        for part in parts:
            cost = self._part(group, part)
            if cost <= seconds:
                seconds -= cost
                chosen.append(part)
        return chosen

    def _part(self, group: str, part: str) -> float:
        if not part.endswith(".py"):
            return self.seconds(group, tiers.REST)
        found = [test for test in self.data.get("tests", {}) if test.startswith(f"{part}::")]
        if not found:
            return UNKNOWN_SECONDS
        # Several run at a time.
        one = self.data["groups"].get(group, {}).get(tiers.REST, {})
        side_by_side = one["seconds"] / max(one["cases_seconds"], 1e-3) if one else 1.0
        rows = [self.data["tests"][test].get("full", {}) for test in found]
        if any(row and "seconds" not in row for row in rows):
            return UNKNOWN_SECONDS
        return sum(row.get("seconds", 0.0) for row in rows) * side_by_side


def rest_in_order(groups: Sequence[Group]) -> list[tuple[Group, list[str]]]:
    """What is left for full, the most valuable first: single files, then groups with their other
    parts."""
    rest = tiers.data()["rest"]
    ordered = sorted(groups, key=lambda group: rest["order"].index(group.name))
    parts = [(group, _parts_of_rest(group)) for group in ordered]
    first = [(group, [part for part in every if part in rest["first"]]) for group, every in parts]
    others = [
        (group, [part for part in every if part not in rest["first"]]) for group, every in parts
    ]
    return [one for one in first + others if one[1]]


def _parts_of_rest(group: Group) -> list[str]:
    """The files of a group in which something is left for full; all of CTest's are one part."""
    if not group.paths:
        return [group.name] if "full" in tiers.data()["ctest"] else []
    found = []
    for path in group.paths:
        place = ROOT / path
        files = sorted(place.rglob("test_*.py")) if place.is_dir() else [place]
        found += [str(file.relative_to(ROOT)) for file in files]
    found = [file for file in found if not file.startswith(group.ignored)]
    return [file for file in found if _has_rest(file)]


def _has_rest(file: str) -> bool:
    named = [name for name in tiers.data()["pytest"] if name.startswith(file)]
    whole = all(tiers.way(name, "default") == "all" for name in (file, *named))
    return not whole or "mark.deep" in (ROOT / file).read_text()


def write(
    timed: Mapping[tuple[str, str], tuple[list[Case], float]],
    prepared: float,
    others: float,
    failed: int,
) -> None:
    """Adds what was measured to tests/costs.json, and writes the page anew."""
    data = Known.read().data
    today = datetime.date.today().isoformat()
    for name in {tier for _, tier in timed}:
        data.setdefault("runs", {})[name] = {
            "date": today,
            "machine": _machine(),
            "prepared": round(prepared),
            "others": round(others, 2),
            "failed": failed,
        }
    for (group, tier), (cases, seconds) in timed.items():
        data.setdefault("groups", {}).setdefault(group, {})[tier] = {
            "cases": sum(case.ran for case in cases),
            "seconds": round(seconds),
            "cases_seconds": round(sum(case.seconds for case in cases)),
        }
        _note_tests(data.setdefault("tests", {}), cases)
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
    rows = [row for group in GROUPS if group.paths for row in _rows_of(group)]
    here = {test for test, _, _ in rows}
    for test in [test for test in tests if "::" in test and test not in here]:
        del tests[test]
    for test, tier, count in rows:
        tests.setdefault(test, {}).setdefault(tier, {})["rows"] = count


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


def _machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{os.cpu_count()} cores, {models[0] if models else platform.machine()}"
