"""What debugging information says of how code was compiled."""

from pathlib import Path

import pytest

from headrace.elf.producers import is_optimised, producers


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("GNU C17 12.2.0 -mtune=generic -march=x86-64 -g -O2", True),
        ("GNU C17 12.2.0 -mtune=generic -march=x86-64 -g", False),
        ("GNU Fortran2008 12.2.0 -mtune=generic -O3 -O0", False),
        ("GNU C17 12.2.0", None),
        ("GNU AS 2.40", None),
        ("Debian clang version 14.0.6", None),
        ("clang version 17 /usr/bin/clang -g -O0 one.c", False),
        ("clang version 17 /usr/bin/clang -g -Ofast one.c", True),
        ("", None),
    ],
)
def test_what_a_producer_tells(text: str, verdict: bool | None) -> None:
    assert is_optimised(text) is verdict


def test_producers_of_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no ELF")
    assert producers(tmp_path / "text", [1]) == producers(tmp_path / "gone", [1]) == {}
