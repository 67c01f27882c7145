"""ROMIO_HINTS: hints of a file count for all files, below those of the program and of variables."""

from __future__ import annotations

from pathlib import Path

from hosts import Host
from running import Result, compile_c, launch, work_directory

FILE = """# of a site
romio_cb_read disable
romio_cb_write disable
ind_rd_buffer_size 65536
ind_wr_buffer_size 65536
no_hint
"""
PROGRAM = ["ind_wr_buffer_size=131072"]


def written(host: Host, layered: bool, **variables: str) -> tuple[Result, dict[str, str]]:
    place = work_directory(f"hint-file-{host.name}")
    (place / "hints").write_text(FILE)
    program = compile_c(host, ["strided_file.c"], "strided_file")
    words = [program, "write", place / "data", 100, 10, *PROGRAM]
    environment = {"ROMIO_HINTS": str(place / "hints"), "HEADRACE_QUIET": "0", **variables}
    result = launch(host, 1, words, layered, environment)
    assert result.code == 0, result.explain()
    lines = [line.split(" ", 2) for line in result.out.splitlines()]
    return result, {line[1]: line[2] for line in lines if line[0] == "hint" and len(line) == 3}


def test_counts_as_in_romio_below_the_program(host: Host, library: Path) -> None:
    result, hints = written(host, layered=True)
    expected = {
        "romio_cb_read": "disable",
        "romio_cb_write": "disable",
        "ind_rd_buffer_size": "65536",
        "ind_wr_buffer_size": "131072",
    }
    assert {name: hints.get(name) for name in expected} == expected
    assert result.err.count("line 6 of") == 1, result.err
    if not host.family.startswith("openmpi"):
        _, plain = written(host, layered=False)
        assert {name: plain.get(name) for name in expected} == expected


def test_counts_below_variables_of_headrace(host: Host, library: Path) -> None:
    _, hints = written(host, layered=True, HEADRACE_WRITE_PATH="staged")
    assert (hints["romio_cb_write"], hints["romio_cb_read"]) == ("enable", "disable")
    _, hints = written(host, layered=True, HEADRACE_READ_PATH="automatic")
    assert (hints["romio_cb_write"], hints["romio_cb_read"]) == ("disable", "automatic")
