"""HEADRACE_VERIFY through the real library: a storage that changes a byte is found, by every way of
writing; without one nothing is reported, and the cost is told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hosts import Host
from running import SIZE, Result, compile_c, launch, mebibytes, shared_object, work_directory

THREE = ["mpich", "openmpi", "intel"]
SOURCES = ["verified_writes.c", "harness.c", "harness_data.c"]
WAYS = {"blocking", "write_only", "nonblocking", "split", "ordered", "atomic", "external32"}
BYTES = 200_000
# Of rank 1's second piece, and with one rank of rank 0's: pieces of 2,000 bytes, a hole behind the
# last rank's. Ordered writes are contiguous.
PLACES = {1: 4_077, 2: 8_077, 4: 14_077}
LINE = re.compile(r"(\w+) rank (\d+) write (\S+) (-?\d+) close (\S+): (.*)")


def run_ways(host: Host, ranks: int, library: Path, *, corrupts: bool) -> tuple[Result, Path]:
    place = work_directory(f"verify-{host.name}-{ranks}-{corrupts}")
    environment = {"HEADRACE_VERIFY": "1", "HEADRACE_QUIET": "0"}
    objects = [library]
    if corrupts:
        objects.insert(0, shared_object("corrupting_store.c"))
        environment |= {"CORRUPT_NAME": ".verified", "CORRUPT_AT": str(PLACES[ranks])}
    program = compile_c(host, SOURCES, "verified_writes")
    result = launch(host, ranks, [program, place], True, environment, objects=objects)
    assert result.code == 0, result.explain()
    return result, place


def told(result: Result) -> dict[tuple[str, int], tuple[str, int, str, str]]:
    found = {}
    for line in result.out.splitlines():
        match = LINE.fullmatch(line)
        if match:
            way, rank, written, count, closed, text = match.groups()
            found[way, int(rank)] = (written, int(count), closed, text)
    return found


def owner(way: str, ranks: int) -> tuple[int, int]:
    """Whose byte is changed, and where it is in that rank's data."""
    if way == "ordered":
        return divmod(PLACES[ranks], BYTES)
    tile, within = divmod(PLACES[ranks], 2_000 * (ranks + 1))
    rank, place = divmod(within, 2_000)
    assert rank < ranks
    return rank, tile * 2_000 + place


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("host", THREE, indirect=True)
def test_finds_a_changed_byte(host: Host, ranks: int, library: Path) -> None:
    result, place = run_ways(host, ranks, library, corrupts=True)
    lines = told(result)
    assert set(lines) == {(way, rank) for way in WAYS for rank in range(ranks)}, result.explain()
    for (way, rank), (written, count, closed, text) in lines.items():
        loser, position = owner(way, ranks)
        if rank != loser:
            assert (written, count, closed) == ("SUCCESS", BYTES, "IO"), result.explain()
            continue
        assert (written, count) == ("IO", position // 4 * 4 if way == "external32" else position)
        at = PLACES[ranks]
        assert f"bytes {at} to {at} of '{place / way}.verified'" in text, text
    assert f"{len(WAYS)} ranges were NOT what was written" in result.err, result.explain()


@pytest.mark.parametrize("host", THREE, indirect=True)
def test_says_what_it_costs(host: Host, library: Path) -> None:
    result, _ = run_ways(host, 2, library, corrupts=False)
    for line in told(result).values():
        assert line == ("SUCCESS", BYTES, "SUCCESS", ""), result.explain()
    own = 2 * BYTES / (1 << 20)
    volume = own * (len(WAYS) - 1)
    cost = re.search(
        rf"collective writes were verified: {SIZE} read back by other ranks in [\d.]+ s "
        rf"\(\d+ % of the time in I/O\), {SIZE} of atomic calls by the rank that wrote "
        r"them, while it held its lock, no difference\n",
        result.err,
    )
    assert cost, result.explain()
    assert abs(mebibytes(cost[1]) - volume) < 0.1
    assert abs(mebibytes(cost[2]) - own) < 0.1
