"""HEADRACE_MEMORY_REPORT through the real library, with few pieces and with many."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hosts import Host
from running import compile_c, launch, work_directory

LINE = re.compile(
    r"most memory at a time: ([\d.]+) MiB of a node for collective buffers; of a rank ([\d.]+) MiB "
    r"for lists of pieces, ([\d.]+) MiB for converted data, ([\d.]+) MiB for sieving"
)
MIB = 1 << 20


@pytest.mark.parametrize("host", ["mpich", "openmpi", "intel"], indirect=True)
@pytest.mark.parametrize(
    "pieces", [10_000, 1_000_000, pytest.param(10_000_000, marks=pytest.mark.deep)]
)
@pytest.mark.parametrize("datarep", ["native", "external32"])
def test_report(host: Host, pieces: int, datarep: str, library: Path) -> None:
    folder = work_directory(f"memory-{host.name}")
    program = compile_c(host, ["many_pieces.c"], "many_pieces")
    settings = {"HEADRACE_MEMORY_REPORT": "1", "HEADRACE_QUIET": "0", "HEADRACE_SUMMARY": "0"}
    result = launch(host, 2, [program, folder / "data", pieces, datarep], True, settings)
    assert result.code == 0, result.explain()
    told = LINE.search(result.err)
    assert told, result.explain()
    buffers, lists, converted, sieved = map(float, told.groups())
    # Eight buffers of 256 KiB and their maps, whatever the number of pieces.
    assert 0 < buffers <= 4
    # The list, and while it is made the program's arguments, which MPI hands out as a copy. With a
    # representation there is another list, in its sizes.
    most = 28 if datarep == "native" else 32
    assert 16 * pieces / MIB - 0.1 <= lists <= most * pieces / MIB + 0.1
    # A part at a time, whatever the size of the call; what a rank sieves by itself.
    assert converted == 0 if datarep == "native" else 0 < converted <= 1
    assert 0 < sieved <= 1.3
