"""tests/support/alone.py: a case that is made again has the machine to itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from devtool.paths import ROOT

PROCESSES = 3
CASES = """
import time
import pytest
from measuring import measuring

def note(name, step):
    with open("log", "a") as log:
        log.write(f"{step} {name}\\n")

@pytest.mark.parametrize("number", range(12))
def test_other(number):
    note(f"other{number}", "begin")
    time.sleep(0.2)
    note(f"other{number}", "end")

@pytest.mark.parametrize("number", range(3))
def test_times(number):
    note(f"times{number}", "begin")
    time.sleep(0.3)
    note(f"times{number}", "end")
    with measuring():
        assert open("log").read().count(f"begin times{number}\\n") == 2, "judged the first time"
"""


def test_a_case_made_again_is_alone(tmp_path: Path) -> None:
    (tmp_path / "test_cases.py").write_text(CASES)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "alone", "-n", str(PROCESSES)]
    words += ["--reruns", "2", "--only-rerun", "^Disturbed:"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests" / "support")}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert "15 passed" in done.stdout and "3 rerun" in done.stdout, done.stdout + done.stderr
    most = most_beside((tmp_path / "log").read_text().splitlines())
    assert most.pop("others") > 1  # cases that are made once do run side by side
    assert most == {"times0": 0, "times1": 0, "times2": 0}


def most_beside(log: list[str]) -> dict[str, int]:
    """The most cases that ran at once, and how many ran at any time beside the second run of each
    case that was made again."""
    running: set[str] = set()
    begun: dict[str, int] = {}
    again: set[str] = set()
    most = {"others": 0}
    for line in log:
        step, name = line.split()
        if step == "end":
            running.remove(name)
            again.discard(name)
            continue
        running.add(name)
        begun[name] = begun.get(name, 0) + 1
        if begun[name] == 2:
            again.add(name)
            most[name] = 0
        most["others"] = max(most["others"], len(running))
        for one in again:
            most[one] = max(most[one], len(running) - 1)
    return most
