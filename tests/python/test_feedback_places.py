"""Which file, loop and line a compiler's remark is about."""

from pathlib import Path

import pytest

from headrace.feedback.loops import around
from headrace.feedback.paths import Match, alike, pairs, source


def test_which_file_a_remark_is_about(tmp_path: Path) -> None:
    build = tmp_path / "build" / "a"
    told = [("util.c", build / "util.c.opt-record.json.gz"), ("../inc/x.h", build / "x.gz")]
    known = [f"{build}/util.c", f"{tmp_path}/build/b/util.c", "/elsewhere/inc/x.h"]
    found = pairs(told, known)
    assert found == {told[0]: Match((known[0],), True), told[1]: Match((known[2],), False)}
    assert alike("/a/b/c.c", "../b/c.c") == 2 and alike("/a/c.c", "/a/d.c") == 0
    moved = pairs([("/old/src/util.c", build / "u.gz")], ["/new/src/util.c"])
    assert list(moved.values()) == [Match(("/new/src/util.c",), False)]


def test_a_source_that_was_moved(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.c").write_text("one\ntwo\n")
    assert source("/gone/project/src/a.c", [tmp_path]) == ["one", "two", ""]
    assert source("/gone/project/b.c", [tmp_path]) is None
    assert source(f"{tmp_path}/src/a.c", []) is not None


@pytest.mark.parametrize(
    ("text", "line", "loops"),
    [
        ("for (;;) {\n  a;\n}\nb;", 2, [1]),
        ("for (;;) {\n  a;\n}\nb;", 4, []),
        ("for (;;)\n{\n  a;\n}\nb;", 3, [1]),
        ("for (;;) a;\nb;", 2, []),
        ("for (;;)\n  for (;;)\n    a;", 3, [2, 1]),
        ("do i = 1, n\n!$omp simd\n  a\nend do\nb", 3, [1]),
        ("do i = 1, n\n  a\nend do\nb", 4, []),
    ],
)
def test_loops_that_have_a_line(text: str, line: int, loops: list[int]) -> None:
    lines = text.split("\n")
    begins = [
        number for number, own in enumerate(lines, 1) if own.strip().startswith(("for", "do"))
    ]
    assert around(line, begins, lines) == loops


def test_loops_without_the_source() -> None:
    assert around(12, [3, 10, 20], None) == [10, 3]
    assert around(99, [3], None) == []
