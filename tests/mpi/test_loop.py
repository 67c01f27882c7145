"""From a record to advice, to settings, to the next run, to a comparison: each step takes what the
one before has made. Nothing here depends on how long a run takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hosts import AS_ROOT, REPOSITORY, Host
from running import compile_program, records, work_directory

RANKS = 2
RULES = """
[[rules]]
id = "{id}"
title = "As the test wants it"
when = "ranks == {ranks}"
bound = "run_seconds"
evidence = ["{{ranks}} ranks"]
action = "Do it."
by = ["headrace"]
"""


@dataclass
class Loop:
    """The commands of one job, in a directory of its own."""

    host: Host
    folder: Path
    program: Path
    words: tuple[str, ...] = ("small-collectives", "bad", "file")
    environment: dict[str, str] = field(default_factory=dict)

    def headrace(self, *words: object) -> subprocess.CompletedProcess[str]:
        """Each command ends with 0, as two runs are too few to be called slower."""
        environ = {**os.environ, **AS_ROOT, **self.host.environment, **records()}
        environ |= {"PYTHONPATH": str(REPOSITORY / "python"), "HEADRACE_RECORD": "1"}
        line = [sys.executable, "-m", "headrace", *map(str, words)]
        done = subprocess.run(
            line,
            cwd=self.folder,
            env={**environ, **self.environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        return done

    def recorded(self, name: str, *options: object) -> Path:
        """The record of a run."""
        self.environment["HEADRACE_LOGPATH"] = str(self.folder / name)
        self.headrace("run", *options, *self.host.launch_line(RANKS), self.program, *self.words)
        (record,) = (self.folder / name).glob("*.hrc")
        return record

    def report(self, record: Path, *options: object) -> dict:
        return json.loads(self.headrace("report", record, "--json", *options).stdout)


@pytest.fixture
def loop(host: Host, library: Path) -> Loop:
    program = compile_program(host.compilers["c"], ["advised.c"], f"advised-{host.name}")
    return Loop(host, work_directory(f"loop-{host.name}"), program)


def value_of(report: dict, table: str, name: str) -> str | None:
    return next((one["value"] for one in report[table] if one["name"] == name), None)


def test_from_a_record_to_a_comparison(loop: Loop) -> None:
    rules = loop.folder / "rules.toml"
    rules.write_text(
        RULES.format(id="small-collectives", ranks=RANKS)
        + 'settings.headrace.HEADRACE_COLLECTIVES = "1"\n'
        + 'settings.environment.OMPI_MCA_mpi_yield_when_idle = "1"\n'
    )
    first = loop.recorded("first")
    report = loop.report(first, "--rules", rules)
    assert value_of(report, "settings", "HEADRACE_COLLECTIVES") == "0"
    assert value_of(report, "variables", "OMPI_MCA_mpi_yield_when_idle") is None
    advised = {one["id"]: one for one in report["advice"]}
    assert advised["small-collectives"]["settings"]["headrace"] == {"HEADRACE_COLLECTIVES": "1"}

    told = loop.headrace("apply", first, "--rules", rules, "-o", "next.toml").stdout
    assert "HEADRACE_COLLECTIVES" in told and "headrace run --settings next.toml" in told
    written = tomllib.loads((loop.folder / "next.toml").read_text())
    assert written["settings"]["HEADRACE_COLLECTIVES"] == "1"
    assert written["environment"] == {"OMPI_MCA_mpi_yield_when_idle": "1"}

    second = loop.recorded("second", "--settings", "next.toml")
    report = loop.report(second)
    assert value_of(report, "settings", "HEADRACE_COLLECTIVES") == "1"
    assert value_of(report, "variables", "OMPI_MCA_mpi_yield_when_idle") == "1"

    compared = json.loads(loop.headrace("compare", first, second, "--json").stdout)
    assert compared["speed_up"]["ratio"] > 0 and not compared["obstacles"]
    changed = {(one["kind"], one["name"]): one for one in compared["changes"]}
    assert ("setting", "HEADRACE_COLLECTIVES") in changed
    assert ("variable", "OMPI_MCA_mpi_yield_when_idle") in changed


def test_what_the_user_has_set_stays(loop: Loop) -> None:
    rules = loop.folder / "rules.toml"
    rules.write_text(
        RULES.format(id="mine", ranks=RANKS)
        + 'settings.headrace.HEADRACE_COLLECTIVES = "1"\n'
        + 'settings.environment.OMPI_MCA_mpi_yield_when_idle = "1"\n'
        + 'settings.headrace.HEADRACE_BUFFER_SIZE = "1m"\n'
        + 'settings.headrace.HEADRACE_BUFFER_COUNT = "4"\n'
    )
    own = {"HEADRACE_COLLECTIVES": "0", "OMPI_MCA_mpi_yield_when_idle": "0"}
    own["HEADRACE_BUFFER_SIZE"] = "2m"
    loop.environment.update(own)
    first = loop.recorded("first")
    told = loop.headrace("apply", first, "--rules", rules, "-o", "next.toml").stdout
    assert "left as you set it: 2m" in told
    second = loop.recorded("second", "--settings", "next.toml")
    report = loop.report(second)
    assert value_of(report, "settings", "HEADRACE_BUFFER_SIZE") == "2m"
    assert value_of(report, "settings", "HEADRACE_BUFFER_COUNT") == "4"
    assert value_of(report, "variables", "OMPI_MCA_mpi_yield_when_idle") == "0"
