"""Each rule that a program can trigger: one that does, and one that must not."""

from __future__ import annotations

import os
import re
from typing import Any

import pytest
from hosts import Host
from measuring import measuring
from running import PROGRAMS, compile_program, launch, work_directory
from test_recorder import report_of

RANKS = 2
WITHOUT_BOUND = {"waiting-not-algorithm"}
CASES = re.findall(r'^    \{"([a-z-]+)"', (PROGRAMS / "advised.c").read_text(), re.MULTILINE)
# Rules judge shares of time. Where other programs have the cores, ranks of the twins really are
# late, and the flaws really are a small part of the run.
LEAST_RATE = 1000  # small collective calls a second, which a busy machine may not reach
LEAST_OFF_CPU = 0.3  # of the run, which ranks that compute reach on a busy machine


@pytest.mark.parametrize("is_bad", (True, False), ids=("bad", "not"))
@pytest.mark.parametrize("case", CASES)
def test_the_rule_knows_the_program(host: Host, library, case: str, is_bad: bool) -> None:
    program = compile_program(host.compilers["c"], ["advised.c"], f"advised-{host.name}")
    kind = "bad" if is_bad else "not"
    directory = work_directory(f"advice-{host.name}-{case}-{kind}")
    records = directory / "records"
    settings = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(records)}
    words = [program, case, kind, directory / "file"]
    result = launch(host, RANKS, words, True, settings)
    assert result.code == 0, result.explain()
    (record,) = records.glob("*.hrc")
    report = report_of(record)
    with measuring():
        assert is_right(report, case, is_bad), report["advice"]
    advised = {one["id"]: one for one in report["advice"]}
    if case in advised and case not in WITHOUT_BOUND:
        gain = advised[case]["gain_at_most_seconds"]
        assert 0 < gain <= report["run"]["seconds"]
        assert advised[case]["gain_at_most_lower_seconds"] <= gain


def is_right(report: dict[str, Any], case: str, is_bad: bool) -> bool:
    """Whether the advice has the case's rule if the program has its flaw, and only then."""
    metrics = report["metrics"]
    if case == "small-collectives" and is_bad:
        is_bad = metrics["small_collectives_per_second"] > LEAST_RATE
    if case == "waiting-for-cores" and not is_bad:
        is_bad = metrics["off_cpu_share"] > LEAST_OFF_CPU
    return (case in {one["id"] for one in report["advice"]}) == is_bad


# Rules on how the job was launched: the cores that its ranks get, and how many ranks.
LAUNCHES = {"same-core": ("0", 2), "oversubscribed": ("0,1", 4), "": ("0,1", 2)}


@pytest.mark.parametrize("rule", LAUNCHES)
def test_the_rule_knows_the_cores(host: Host, library, rule: str) -> None:
    if len(os.sched_getaffinity(0) & {0, 1}) < 2:
        pytest.skip("cores 0 and 1 are not both allowed here")
    program = compile_program(host.compilers["c"], ["advised.c"], f"advised-{host.name}")
    directory = work_directory(f"advice-{host.name}-cores-{rule or 'none'}")
    cores, ranks = LAUNCHES[rule]
    settings = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(directory / "records")}
    words = ["taskset", "-c", cores, program, "waiting-for-cores", "not", directory / "file"]
    result = launch(host, ranks, words, True, settings)
    assert result.code == 0, result.explain()
    (record,) = (directory / "records").glob("*.hrc")
    advised = {one["id"] for one in report_of(record)["advice"]}
    assert advised & LAUNCHES.keys() == {rule} - {""}
