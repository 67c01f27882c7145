"""The record of a program is what the program itself tallied."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from hosts import REPOSITORY, Host
from running import compile_program, launch, work_directory

RANKS = (1, 2, 3, 4, 8)


def report_of(record: Path) -> dict:
    command = [sys.executable, "-m", "headrace", "report", str(record), "--json"]
    done = subprocess.run(
        command, cwd=REPOSITORY / "python", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def tallied(file: Path) -> tuple[dict[str, list[int]], dict[tuple[int, int], list[int]]]:
    """Calls, bytes and bins by procedure, and messages and bytes by sender and receiver."""
    calls: dict[str, list[int]] = defaultdict(lambda: [0] * 9)
    messages: dict[tuple[int, int], list[int]] = {}
    lines = [
        line
        for own in file.parent.glob(f"{file.name}.tally.*")
        for line in own.read_text().splitlines()
    ]
    for line in lines:
        kind, *words = line.split()
        if kind == "call":
            own = calls[words[1]]
            calls[words[1]] = [a + int(b) for a, b in zip(own, words[2:], strict=True)]
        elif kind == "message":
            numbers = [int(word) for word in words]
            messages[numbers[0], numbers[1]] = numbers[2:]
    return calls, messages


@pytest.mark.parametrize("ranks", RANKS)
def test_counts_are_exact(host: Host, library: Path, ranks: int) -> None:
    program = compile_program(
        host.compilers["c"], ["recorded.c", "recorded_tally.c"], f"recorded-{host.name}"
    )
    directory = work_directory(f"recorder-{host.name}-{ranks}")
    settings = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(directory)}
    result = launch(host, ranks, [program, directory / "file"], True, settings)
    assert result.code == 0, result.explain()
    calls, messages = tallied(directory / "file")
    (record,) = directory.glob("*.hrc")
    report = report_of(record)
    found = {
        own["name"]: [own["calls"], own["bytes"], *own["bins"]]
        for own in report["mpi"]["procedures"]
    }
    assert found == calls
    matrix = {
        (own["from"], own["to"]): [own["messages"], own["bytes"]] for own in report["mpi"]["matrix"]
    }
    assert matrix == messages
    assert report["run"]["ranks"] == ranks and report["run"]["complete"]
