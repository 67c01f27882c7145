"""What the rest of the tests will cost, by what was measured last: tests/costs.json."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from devtool import costs, tiers
from devtool.groups import BUILDS, Group
from devtool.paths import RELEASE, ROOT, VENV

# Seconds of what was never measured, rather too many: what is chosen has to end in time.
UNKNOWN_FILE = 30.0
UNKNOWN_ROW = 10.0
UNKNOWN_BUILD = 600.0
UNKNOWN_PROGRAM = 300.0  # one of CTest's that only full has
# How much longer such a row takes than the earlier ones of its group.
LONGER = 2.0


@dataclass(frozen=True)
class Known:
    """What was measured last, or nothing."""

    data: dict

    @classmethod
    def read(cls) -> Known:
        return cls(costs.known())

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
            cost = self.seconds_of_part(group, part)
            if cost <= seconds:
                seconds -= cost
                chosen.append(part)
        return chosen

    def seconds_of_part(self, group: str, part: str) -> float:
        if not part.endswith(".py"):
            return self.seconds(group, tiers.REST) or UNKNOWN_PROGRAM * _ctest_programs(group)
        tests = self.data.get("tests", {})
        below = [test for test in tests if test.startswith(f"{part}::")]
        rest = {test: tests[test]["full"] for test in below if "full" in tests[test]}
        if part in BUILDS and not all("seconds" in one for one in rest.values()):
            return UNKNOWN_BUILD
        if not below:
            return UNKNOWN_FILE
        return self._side_by_side(group) * sum(
            one["seconds"] if "seconds" in one else one["rows"] * self._row(group, test)
            for test, one in rest.items()
        )

    def _row(self, group: str, test: str) -> float:
        """A row that was never measured, of a test that has earlier ones or none."""
        default = self.data["groups"].get(group, {}).get("default", {})
        if not default.get("cases") or not {"quick", "default"} & self.data["tests"][test].keys():
            return UNKNOWN_ROW
        return LONGER * default["cases_seconds"] / default["cases"]

    def _side_by_side(self, group: str) -> float:
        """The share of the sum of its rows' seconds that a group takes: several run at a time."""
        columns = self.data["groups"].get(group, {})
        one = columns.get(tiers.REST) or columns.get("default") or {}
        return one["seconds"] / max(one["cases_seconds"], 1e-3) if one else 1.0


def _ctest_programs(group: str) -> int:
    """How many of CTest's tests of a group only full has, as built."""
    command = [VENV / "bin" / "ctest", "--test-dir", RELEASE, "--show-only=json-v1"]
    command += ["-L", f"^{group}$", "-R", tiers.ctest_pattern("full")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return len(json.loads(done.stdout)["tests"]) if done.returncode == 0 else 1


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
