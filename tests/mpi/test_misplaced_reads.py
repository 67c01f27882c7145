"""Reads to memory that lies a few bytes further in its page than the bytes do in the file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hosts import Host
from running import SIZE, compile_c, launch, mebibytes, work_directory


@pytest.mark.parametrize("realign", ["always", "never"])
def test_gives_the_files_bytes(host: Host, library: Path, realign: str) -> None:
    program = compile_c(host, ["misplaced_reads.c"], "misplaced_reads")
    file = work_directory(f"misplaced-{host.name}") / "data"
    variables = {
        "HEADRACE_REALIGN_READS": realign,
        "HEADRACE_MEMORY_REPORT": "1",
        "HEADRACE_QUIET": "0",
    }
    result = launch(host, 2, [program, file], True, variables)
    assert result.code == 0 and "wrong 0\n" in result.out, result.explain()
    sieved = re.search(f"{SIZE} for sieving", result.err)
    assert sieved, result.explain()
    # The way that was asked for was taken: nothing else here needs memory of its own.
    assert (mebibytes(sieved[1]) > 0) == (realign == "always"), sieved[0]
    # And the report says so.
    assert ("HEADRACE_REALIGN_READS" in result.err) == (realign == "always"), result.explain()
