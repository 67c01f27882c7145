"""Each rule that a program can trigger: one that does, and one that must not."""

from __future__ import annotations

import re

import pytest
from hosts import Host
from running import PROGRAMS, compile_program, launch, work_directory
from test_recorder import report_of

RANKS = 2
CASES = re.findall(r'^    \{"([a-z-]+)"', (PROGRAMS / "advised.c").read_text(), re.MULTILINE)
LEAST_RATE = 1000  # small collective calls a second, which a busy machine may not reach


@pytest.mark.parametrize("is_bad", (True, False), ids=("bad", "not"))
@pytest.mark.parametrize("case", CASES)
def test_the_rule_knows_the_program(host: Host, library, case: str, is_bad: bool) -> None:
    program = compile_program(host.compilers["c"], ["advised.c"], f"advised-{host.name}")
    directory = work_directory(f"advice-{host.name}-{case}-{'bad' if is_bad else 'not'}")
    settings = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(directory / "records")}
    words = [program, case, "bad" if is_bad else "not", directory / "file"]
    result = launch(host, RANKS, words, True, settings)
    assert result.code == 0, result.explain()
    (record,) = (directory / "records").glob("*.hrc")
    report = report_of(record)
    advised = {one["id"]: one for one in report["advice"]}
    unknown = {one["id"] for one in report["not_judged"]}
    if case == "small-collectives" and is_bad:
        is_bad = report["metrics"]["small_collectives_per_second"] > LEAST_RATE
    if report["metrics"]["files"] is None and case in ("opened-again", "one-rank-does-io"):
        assert case not in advised and (case in unknown or not is_bad)
        return
    assert (case in advised) == is_bad, report["advice"]
    if is_bad and case != "waiting-not-algorithm":
        gain = advised[case]["gain_at_most_seconds"]
        assert 0 < gain <= report["run"]["seconds"]
        assert advised[case]["gain_at_most_lower_seconds"] <= gain
