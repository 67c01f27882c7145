"""HEADRACE_MEMORY_REPORT through the real library, with few pieces and with many."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hosts import Host
from running import compile_c, launch, work_directory

LINE = re.compile(
    r"most memory at a time: ([\d.]+) MiB of a node for collective buffers; of a rank ([\d.]+) MiB "
    r"for lists of pieces, ([\d.]+) MiB for converted data"
)
MIB = 1 << 20


@pytest.mark.parametrize("host", ["mpich", "openmpi", "intel"], indirect=True)
@pytest.mark.parametrize(
    "pieces", [10_000, 1_000_000, pytest.param(10_000_000, marks=pytest.mark.deep)]
)
def test_report(host: Host, pieces: int, library: Path) -> None:
    folder = work_directory(f"memory-{host.name}")
    program = compile_c(host, ["many_pieces.c"], "many_pieces")
    settings = {"HEADRACE_MEMORY_REPORT": "1", "HEADRACE_QUIET": "0", "HEADRACE_SUMMARY": "0"}
    result = launch(host, 2, [program, folder / "data", pieces], True, settings)
    assert result.code == 0, result.explain()
    told = LINE.search(result.err)
    assert told, result.explain()
    buffers, lists, converted = map(float, told.groups())
    # Eight buffers of 256 KiB and their maps, whatever the number of pieces.
    assert 0 < buffers <= 4
    # The list, and while it is made the program's arguments, which MPI hands out as a copy.
    assert 16 * pieces / MIB - 0.1 <= lists <= 28 * pieces / MIB + 0.1
    assert converted == 0
