"""What tests/clusterfs makes of counters and times; the file systems themselves run by hand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def modules(monkeypatch):
    for folder in ("mpi", "clusterfs"):
        monkeypatch.syspath_prepend(str(TESTS / folder))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_counts_operations_of_all_bricks() -> None:
    from gluster import counted

    profile = """
Brick: 10.98.0.14:/bricks/0
      0.06   27621.00 ns   27621.00 ns   27621.00 ns              1       FSYNC
      1.46  143405.00 us  103185.00 us  170546.00 us              5      CREATE
     83.57  160445.60 us   31848.00 ns  835213.00 us            256       WRITE
Brick: 10.98.0.14:/bricks/1
     38.79   37534.27 ns   11237.00 ns 3844402.00 ns           1025        READ
     54.87  212598.79 ns   32639.00 ns 2675866.00 ns            256       WRITE
      5.76  108861.73 ns    8983.00 ns  768343.00 ns             26     INODELK
      5.76  108861.73 ns    8983.00 ns  768343.00 ns              4    FINODELK
"""
    assert counted(profile) == {
        "writes": 512,
        "reads": 1025,
        "syncs": 1,
        "locks": 30,
        "marks": 0,
    }


def test_the_best_settings_by_hand_are_the_fastest_of_each_direction() -> None:
    from measure import fastest

    rounds = [
        {"a": {"write": 3.0, "read": 1.0}, "b": {"write": 2.0, "read": 2.0}, "c": {"failed": "x"}},
        {"a": {"write": 2.5, "read": 3.0}, "b": {"write": 4.0, "read": 2.0}},
    ]
    assert fastest(rounds, ["a", "b", "c"]) == {"write": "b", "read": "a"}


def test_the_page_tells_losses_first_and_marks_few_pairs() -> None:
    from document import page

    def rounds(count: int, default: float) -> list[dict]:
        return [{"Headrace": {"write": 1.0}, "default": {"write": default}}] * count

    times = {"mpich": {"rounds": rounds(10, 2.0)}, "intel": {"rounds": rounds(10, 0.5)}}
    times["openmpi"] = {"rounds": rounds(5, 0.1)}
    machine = {"cores": 2, "GiB": 1, "ceph": "1", "glusterfs": "2"}
    counts = {"one process, in order": {"writes": 30}}
    cell = {"what": "CephFS", "bytes": 10_000_000, "counts": counts, "times": times}
    text = page({"machine": machine | {"piece": 10, "segments": 2}, "cephfs 4x2": cell})
    assert "| one process, in order | 3.00 |" in text
    assert "Lost: 2 of 3" in text and "95 %: 1" in text
    assert "| openmpi | write | default | 0.10 [0.10, 0.10] | not settled (slower) | 5 |" in text
    lost = text.index("| intel | write | default | 0.50 [0.50, 0.50] | slower | 10 |")
    assert lost < text.index("| mpich | write | default | 2.00 [2.00, 2.00] | faster | 10 |")
