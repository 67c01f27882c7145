"""How far the ranks' cores are apart: measured, or told, and what it changes."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from conftest import absent
from hosts import Host
from running import compile_c, launch, work_directory


def choice_for_read(host: Host, way: str, distance: str) -> tuple[str, str]:
    """The path, and why, of the last read of 2 ranks that take turns by pieces of 1,000 B."""
    program = compile_c(host, ["strided_file.c"], "strided_file")
    file = work_directory(f"core-distance-{host.name}") / "data"
    words = [program, way, file, 1000, 2000]
    result = launch(host, 2, words, True, {"HEADRACE_CORE_DISTANCE": distance})
    assert result.code == 0 and "wrong 0\n" in result.out, result.explain()
    lines = [line.split(" ", 2) for line in result.out.splitlines() if line.startswith("hint ")]
    hints = {name: value for _, name, value in lines}  # those of reading are told last
    return hints["headrace_read_taken"], hints["headrace_read_reason"]


@pytest.mark.parametrize(("distance", "path"), [("70", "staged"), ("900", "direct")])
def test_decides_on_the_path_of_reads(host: Host, library: Path, distance: str, path: str) -> None:
    taken, reason = choice_for_read(host, "write+read", distance)
    assert taken == path, reason
    assert f"cores are {distance} ns a page apart" in reason


def test_is_measured(host: Host, library: Path) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        absent("two ranks outnumber the cores")
    # Where both ranks have one core at a call, as often under Open MPI, a later one measures. On a
    # busy machine a whole job may have no such call.
    for _ in range(30):
        _, reason = choice_for_read(host, "write+reread", "0")
        measured = re.search(r"cores are ([0-9]+) ns a page apart", reason)
        if measured:
            break
    assert measured and 1 <= int(measured[1]) < 100_000, reason
