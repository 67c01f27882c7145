"""Which sends waited for their receivers, by the limits that the MPI library told."""

from pathlib import Path

import pytest
from record_support import MILLISECOND, Job

from headrace.advice.judging import Judgement, judge
from headrace.advice.rules import collect
from headrace.analysis.analyse import Findings, analyse
from headrace.record.reader import read
from headrace.report.tables import eager_lines

NODE = {"eager_limit_node": "4096", "eager_limit_node_variable": "btl_sm_eager_limit"}
NETWORK = {"eager_limit_network": "65536", "eager_limit_network_variable": "btl_tcp_eager_limit"}
SENDS = ((10, 8, 0), (20, 4096, 3), (40, 9000, 3), (80, 70000, 4))
"""Calls of MPI_Send, each one's bytes, the place of its bin."""


def found(folder: Path, facts: dict[str, str], nodes: int = 1) -> Findings:
    """Rank 0 makes SENDS, each of them in a fifth of its time, and 5 MPI_Ssend. Rank 1
    receives and does nothing else."""
    job = Job(facts={"ranks": "2", "nodes": str(nodes), **facts})
    node = job.node()
    for rank in (0, 1):
        node.add("ranks", rank=rank, host="n0", state=1, run=1000 * MILLISECOND, threads=1)
    module = node.add("modules", file="/opt/app", build_id="ab")
    whole = 0
    for place, (calls, size, where) in enumerate(SENDS):
        path = node.add("paths", module=module, offset=0x100 * (place + 1))
        took = 200 * MILLISECOND
        node.call(
            0, "MPI_Send", 0, path=path, calls=calls, sent=calls * size, time=took, greatest=took,
            **{f"bin{where}": calls},
        )  # fmt: skip
        whole += calls * size
    node.call(0, "MPI_Ssend", 0, calls=5, sent=5 * 9000, time=1, greatest=1, bin3=5)
    took = 900 * MILLISECOND
    node.call(1, "MPI_Recv", 0, calls=155, received=whole, time=took, greatest=took, bin3=155)
    node.add("matrix", rank=0, peer=1, messages=155, sent=whole + 5 * 9000)
    return analyse(read(job.write(folder)))


def judged(what: Findings) -> Judgement:
    return judge(collect(()), what.metrics)


@pytest.mark.parametrize(
    ("facts", "nodes", "least", "most"),
    [
        # Those of 4 to 64 KiB: 60. Their bin begins at 4096, which is not above the limit.
        (NODE, 1, 80, 140),
        (NODE | NETWORK, 1, 80, 140),
        ({"eager_limit_node": "4095"}, 1, 140, 140),
        ({"eager_limit_node": "65536"}, 1, 0, 80),
        ({"eager_limit_node": "0"}, 1, 140, 150),
        # Within a node or between nodes: who knows.
        (NODE | NETWORK, 2, 0, 140),
        (NETWORK, 2, None, None),
        (NODE, 2, None, None),
        ({}, 1, None, None),
        ({"eager_limit_node": "-1"}, 1, None, None),
        ({"eager_limit_node": "9" * 5000}, 1, None, None),
    ],
)
def test_sends_are_classed_by_their_sizes(
    tmp_path: Path, facts: dict[str, str], nodes: int, least: int | None, most: int | None
) -> None:
    one = found(tmp_path, facts, nodes).eager
    assert (one.messages, one.least, one.most) == (150, least, most)


def test_what_the_report_says(tmp_path: Path) -> None:
    lines = eager_lines(found(tmp_path, NODE | NETWORK).eager)
    waits = "wait for their receiver"
    assert lines == [
        f"messages within a node of more than 4,096 B {waits} (btl_sm_eager_limit)",
        f"messages between nodes of more than 65,536 B {waits} (btl_tcp_eager_limit)",
        "an estimate by their sizes: 80 to 140 of 150 sends did",
    ]
    assert eager_lines(found(tmp_path, {}).eager) == []


def test_sends_just_above_the_limit_are_advised_against(tmp_path: Path) -> None:
    """Those of 9,000 B are at most four times the limit; they take a fifth of rank 0's time."""
    what = found(tmp_path, NODE)
    assert what.metrics["sends_above_eager_calls"] == 40
    assert what.metrics["sends_above_eager_seconds"] == pytest.approx(0.2 / 2)
    advice = {one.rule.id: one for one in judged(what).advice}
    assert "40 sends" in advice["eager-limit"].evidence[0]
    assert "4,096 B" in advice["eager-limit"].evidence[0]


@pytest.mark.parametrize("limit", ["1024", "65536", "1000000"])
def test_larger_and_smaller_sends_are_not(tmp_path: Path, limit: str) -> None:
    what = found(tmp_path, {"eager_limit_node": limit})
    if limit == "1024":  # those of 4,096 B are at its fourfold
        assert what.metrics["sends_above_eager_calls"] == 20
        return
    expected = 80 if limit == "65536" else 0
    assert what.metrics["sends_above_eager_calls"] == expected


def test_without_a_limit_it_cannot_be_judged(tmp_path: Path) -> None:
    reasons = {one.rule.id: one.reasons for one in judged(found(tmp_path, {})).unjudged}
    assert any("does not tell" in why for why in reasons["eager-limit"])
