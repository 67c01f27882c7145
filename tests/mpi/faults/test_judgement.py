"""The judge of store faults finds what must not be."""

from __future__ import annotations

import pytest

from faults.plan import RANK_BYTES, TRANSFERS, Case, judge, read_facts

WRITE = Case("write", True, TRANSFERS[1], "write", "ENOSPC", "first=0")
RIGHT = (
    "write rank={} met=1 open=SUCCESS transfer=NO_SPACE count=5 present=5 foreign=0 taken=staged "
    f"sync=NO_SPACE again=SUCCESS againcount={RANK_BYTES} againpresent={RANK_BYTES} againforeign=0 "
    "size=SUCCESS resize=SUCCESS allocate=SUCCESS close=SUCCESS leaked=0"
)


def judged(*lines: str, case: Case = WRITE) -> list[str]:
    return list(judge(case, read_facts("\n".join(lines)).get(case.name, []), 2))


def test_right() -> None:
    assert judged(RIGHT.format(0), RIGHT.format(1)) == []


@pytest.mark.parametrize(
    ("what", "instead", "text"),
    [
        ("transfer=NO_SPACE count=5", f"transfer=SUCCESS count={RANK_BYTES}", "5 are there"),
        ("transfer=NO_SPACE", "transfer=SUCCESS", "success, and 5 bytes"),
        ("transfer=NO_SPACE", "transfer=IO", "transfer gives IO"),
        (" count=5", f" count={RANK_BYTES}", "all bytes are counted"),
        (" count=5", " count=4", "4 bytes are counted, 5 are there"),
        (" foreign=0", " foreign=1", "nobody's"),
        ("sync=NO_SPACE", "sync=SUCCESS", "neither sync nor close"),
        (f"againpresent={RANK_BYTES}", "againpresent=7", "7 are there (again)"),
        ("close=SUCCESS", "close=OTHER", ""),
        ("leaked=0", "leaked=1", "left open"),
        ("met=1", "met=0", "not met"),
        ("rank=1", "rank=1 hangs=1", "not all ranks came back"),
    ],
)
def test_wrong(what: str, instead: str, text: str) -> None:
    ranks = [RIGHT.format(0), RIGHT.format(1)]
    everywhere = what == "met=1"
    changed = [
        line.replace(what, instead) if everywhere or rank else line
        for rank, line in enumerate(ranks)
    ]
    assert changed != ranks
    found = judged(*changed)
    # Another rank's failure may be told by close.
    assert (found == []) if not text else any(text in one for one in found), found


def test_a_rank_that_says_nothing() -> None:
    assert judged(RIGHT.format(0)) == ["not all ranks came back"]
    assert judged() == ["not all ranks came back"]


def test_zeros_of_a_file_that_is_cut() -> None:
    cut = Case("read-cut", False, TRANSFERS[0], "read", must_meet=False, is_cut=True)
    line = (
        "read-cut rank={} met=0 open=SUCCESS transfer=SUCCESS count=100 present=50 foreign={} "
        "sync=SUCCESS close=SUCCESS leaked=0"
    )
    assert not any(
        "are there" in one for one in judged(line.format(0, 0), line.format(1, 0), case=cut)
    )
    assert any("nobody's" in one for one in judged(line.format(0, 0), line.format(1, 9), case=cut))
    exact = Case("read-cut", False, TRANSFERS[0], "read", must_meet=False)
    assert any(
        "are there" in one for one in judged(line.format(0, 0), line.format(1, 0), case=exact)
    )
