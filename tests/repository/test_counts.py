"""The regression guard's comparison: what it tells, and when it fails."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import source_tree

COUNT = source_tree.ROOT / "tests" / "count"
RECORDED = {
    "write": {"store_writes": 4, "bytes_copied": 1000},
    "contiguous": {"store_writes": 100},
}


def compare(
    folder: Path, counted: dict[str, Any], *words: str, made_with: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs the comparison on a program that prints `counted`, with RECORDED as the baseline."""
    baseline = folder / "baseline.json"
    if not baseline.exists():
        baseline.write_text(json.dumps({"made_with": {}, "counts": RECORDED}))
    document = json.dumps({"made_with": made_with or {}, "counts": counted})
    program = folder / "program"
    program.write_text(f"#!{sys.executable}\nprint({document!r})\n")
    program.chmod(0o755)
    command = [sys.executable, COUNT / "compare.py", "operations", program]
    command += ["--baseline", baseline, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def changed(case: str, **numbers: int) -> dict[str, Any]:
    return RECORDED | {case: RECORDED[case] | numbers}


def test_the_same_is_good(tmp_path: Path) -> None:
    done = compare(tmp_path, RECORDED)
    assert (done.returncode, done.stdout) == (0, "operations: 2 cases as recorded\n")


@pytest.mark.parametrize(
    ("counted", "title", "line"),
    [
        (changed("write", store_writes=5), "MORE than", "write: store_writes 4 -> 5"),
        (changed("contiguous", posts=200), "MORE than", "contiguous: posts 0 -> 200"),
        (changed("write", bytes_copied=999), "fewer than", "write: bytes_copied 1000 -> 999"),
        ({"write": RECORDED["write"]}, "cases", "contiguous: gone"),
        (RECORDED | {"read": {}}, "cases", "read: new"),
    ],
)
def test_what_differs_is_named(
    tmp_path: Path, counted: dict[str, Any], title: str, line: str
) -> None:
    done = compare(tmp_path, counted)
    assert done.returncode == 1
    assert title in done.stdout
    assert f"  {line}\n" in done.stdout
    assert "./dev count --record" in done.stdout


def test_a_recorded_baseline_is_what_was_counted(tmp_path: Path) -> None:
    counted = changed("write", store_writes=3)
    assert compare(tmp_path, counted, "--record").returncode == 0
    assert compare(tmp_path, counted).returncode == 0
    assert compare(tmp_path, RECORDED).returncode == 1


def test_what_has_grown_is_recorded_with_a_reason_only(tmp_path: Path) -> None:
    more = changed("write", store_writes=5)
    baseline = tmp_path / "baseline.json"
    refused = compare(tmp_path, more, "--record")
    assert refused.returncode == 1 and "write: store_writes 4 -> 5" in refused.stdout
    assert json.loads(baseline.read_text())["counts"] == RECORDED
    assert compare(tmp_path, more, "--record", "--why", "locks").returncode == 0
    assert compare(tmp_path, changed("write", store_writes=7), "--record").returncode == 1
    steps = [(7, "logs", "locks; logs"), (6, "", "locks; logs"), (4, "", "")]
    for count, why, kept in steps:
        counted = changed("write", store_writes=count)
        assert compare(tmp_path, counted, "--record", "--why", why).returncode == 0
        raised = json.loads(baseline.read_text()).get("raised", {})
        one = {"first": 4, "now": count, "why": kept}
        assert raised == ({"write: store_writes": one} if kept else {})
        assert compare(tmp_path, counted).returncode == 0


def test_the_page_of_counts_shows_all_that_has_grown() -> None:
    rows = {
        line.split(" | ")[0].strip("|` "): line
        for line in source_tree.text(source_tree.ROOT / "docs/measurements/counts.md").splitlines()
        if line.startswith("| `")
    }
    named = set()
    for kind in ("operations", "instructions"):
        baseline = json.loads((COUNT / "baseline" / f"{kind}.json").read_text())
        for key, one in baseline.get("raised", {}).items():
            case, _, name = key.partition(": ")
            assert baseline["counts"][case][name] == one["now"] > one["first"] and one["why"], key
            assert f"| {one['first']:,.1f} | {one['now']:,.1f} | {one['why']} |" in rows[case], key
            named.add(case)
    assert named == set(rows)


def test_other_compilers_are_not_compared(tmp_path: Path) -> None:
    done = compare(tmp_path, changed("write", store_writes=5), made_with={"compiler": "13"})
    assert done.returncode == 77
    assert "not compared" in done.stdout


def test_a_program_that_fails_is_told(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    program.chmod(0o755)
    command = [sys.executable, COUNT / "compare.py", "operations", program]
    failed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert failed.returncode == 2
    assert "exit code 3: broken" in failed.stderr


def test_instructions_may_differ_by_a_few_per_cent() -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(COUNT)!r}); import compare\n"
        "limit = compare.TOLERANCE['instructions']\n"
        "was = {'copy': {'instructions a piece': 100.0}}\n"
        "for now in (102, 98, 104, 96):\n"
        "    found = compare.compare(was, {'copy': {'instructions a piece': now}}, limit)\n"
        "    print(len(found.more), len(found.fewer))\n"
    )
    command = [sys.executable, "-B", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["0 0", "0 0", "1 0", "0 1", ""]
