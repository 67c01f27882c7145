"""HEADRACE_MEMORY_REPORT through the real library, with few pieces and with many."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hosts import Host
from running import SIZE, compile_c, launch, mebibytes, work_directory

LINE = re.compile(
    f"most memory at a time: {SIZE} of a node for collective buffers; of a rank {SIZE} "
    f"for lists of pieces, {SIZE} for converted data, {SIZE} for sieving"
)
MIB = 1 << 20

SETTINGS = {"HEADRACE_MEMORY_REPORT": "1", "HEADRACE_QUIET": "0", "HEADRACE_SUMMARY": "0"}


@pytest.mark.parametrize("host", ["mpich", "openmpi", "intel"], indirect=True)
@pytest.mark.parametrize(
    "pieces", [10_000, 1_000_000, pytest.param(10_000_000, marks=pytest.mark.deep)]
)
@pytest.mark.parametrize("datarep", ["native", "external32"])
def test_report(host: Host, pieces: int, datarep: str, library: Path) -> None:
    folder = work_directory(f"memory-{host.name}")
    program = compile_c(host, ["many_pieces.c"], "many_pieces")
    result = launch(host, 2, [program, folder / "data", pieces, datarep], True, SETTINGS)
    assert result.code == 0, result.explain()
    told = LINE.search(result.err)
    assert told, result.explain()
    buffers, lists, converted, sieved = map(mebibytes, told.groups())
    # Eight buffers of 256 KiB and their maps, whatever the number of pieces.
    assert 0 < buffers <= 4
    # The list, and while it is made the program's arguments, which MPI hands out as a copy. With a
    # representation there is another list, in its sizes.
    most = 28 if datarep == "native" else 32
    assert 16 * pieces / MIB - 0.1 <= lists <= most * pieces / MIB + 0.1
    # A part at a time, whatever the size of the call; what a rank sieves by itself.
    assert converted == 0 if datarep == "native" else 0 < converted <= 1
    assert 0 < sieved <= 1.3


@pytest.mark.parametrize("host", ["mpich", "openmpi", "intel"], indirect=True)
@pytest.mark.parametrize("verifies", ["0", "1"])
def test_every_kind_of_call_converts_in_parts(host: Host, verifies: str, library: Path) -> None:
    folder = work_directory(f"memory-{host.name}")
    program = compile_c(host, ["converted_calls.c"], "converted_calls")
    # 4 MiB in the file, which a part of 64 KiB and a rank's budget of as much do not hold.
    settings = SETTINGS | {"HEADRACE_NODE_MEMORY": "1m", "HEADRACE_VERIFY": verifies}
    result = launch(host, 2, [program, folder / "data", MIB], True, settings)
    assert result.code == 0, result.explain()
    told = LINE.search(result.err)
    assert told, result.explain()
    assert 0 < mebibytes(told[3]) <= 0.1, result.explain()
    assert "convert (" not in result.err, result.explain()


@pytest.mark.parametrize("host", ["mpich", "openmpi", "intel"], indirect=True)
def test_functions_of_the_program_convert_whole(host: Host, library: Path) -> None:
    folder = work_directory(f"memory-{host.name}")
    program = compile_c(host, ["converted_calls.c"], "converted_calls")
    line = [program, folder / "data", MIB, "own"]
    result = launch(host, 2, line, True, SETTINGS | {"HEADRACE_NODE_MEMORY": "1m"})
    assert result.code == 0, result.explain()
    told = re.search(f"for sieving, {SIZE} for data of nonblocking", result.err)
    assert told, result.explain()
    assert mebibytes(told[1]) == 8, result.explain()
    assert mebibytes(LINE.search(result.err)[3]) <= 0.1, result.explain()
