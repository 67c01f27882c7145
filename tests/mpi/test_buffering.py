"""HEADRACE_IOBUF: buffers for small calls change no byte and no answer, whatever the end."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import RANKS
from hosts import Host
from native_faults import SKIPPED_WITH_LAYER
from running import Result, compile_c, launch, work_directory
from test_exercise import SOURCES, failed_cases

RECORD = 100
RECORDS = 420  # of 100 bytes: some blocks of a page


def run(
    host: Host, ranks: int, end: str, buffers: str | None, **variables: str
) -> tuple[Result, Path]:
    place = work_directory(f"buffered-{host.name}-{end}")
    program = compile_c(host, ["buffered.c"], "buffered")
    if buffers is not None:
        variables["HEADRACE_IOBUF"] = buffers
    words = [program, place / "data", RECORDS, end]
    return launch(host, ranks, words, buffers is not None, variables), place / "data"


def expected(round_: int = 6) -> bytes:
    return b"".join(bytes([1 + (i + round_) % 250]) * RECORD for i in range(RECORDS))


@pytest.mark.parametrize("buffers", [None, "*:size=4096:count=2", "*data:size=64k"])
@pytest.mark.parametrize("ranks", RANKS)
def test_every_answer_is_right(host: Host, library: Path, ranks: int, buffers: str | None) -> None:
    result, data = run(host, ranks, "close", buffers)
    assert result.code == 0, result.explain()
    assert result.out.splitlines() == ["wrong 0"], result.explain()
    assert data.read_bytes() == expected()


# Looks at what other ranks have written without MPI_File_sync.
NEED_SYNC = ("sizes_offsets",)


@pytest.mark.parametrize("ranks", [2, 3])
def test_all_of_the_exercise(host: Host, library: Path, ranks: int) -> None:
    program = compile_c(host, SOURCES, "exercise")
    place = work_directory(f"buffered-exercise-{host.name}-{ranks}")
    skipped = ",".join((*SKIPPED_WITH_LAYER.get(host.family, {}), *NEED_SYNC))
    given = {"HEADRACE_IOBUF": "*:size=4096:count=2"}
    result = launch(host, ranks, [program, "--skip", skipped, place], True, given)
    assert result.code == 0 and "\nend\n" in result.out, result.explain()
    assert not failed_cases(result) and not result.litter, result.explain()


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("end", ["finalize", "abort"])
def test_nothing_is_lost_at_the_end(host: Host, library: Path, end: str, ranks: int) -> None:
    result, data = run(host, ranks, end, "*:size=16k")
    assert (result.code == 0) == (end == "finalize"), result.explain()
    assert "wrong 0" in result.out, result.explain()
    assert data.read_bytes() == expected()


def test_an_abort_loses_what_other_ranks_hold_back(host: Host, library: Path) -> None:
    """They are ended from outside, and can write nothing. The caller's own is there."""
    result, data = run(host, 2, "abort-all", "*:size=16k", HEADRACE_QUIET="0")
    assert result.code != 0 and "wrong 0" in result.out, result.explain()
    found, new, old = data.read_bytes(), expected(6), expected(4)
    places = [slice(i * RECORD, (i + 1) * RECORD) for i in range(RECORDS)]
    assert all(found[one] == new[one] for one in places[::2]), result.explain()
    lost = [one for one in places[1::2] if found[one] != new[one]]
    assert lost and all(found[one] == old[one] for one in lost), result.explain()
    # No more than what one rank's blocks can hold.
    assert len(lost) * RECORD <= 4 * (16 << 10)
    assert "are lost" not in result.err


def test_buffers_that_are_cut_are_told(host: Host, library: Path) -> None:
    """With what would allow them."""
    given = {"HEADRACE_QUIET": "0", "HEADRACE_HINTS_DISPLAY": "1", "HEADRACE_NODE_MEMORY": "512k"}
    result, data = run(host, 2, "close", "*:size=64k", **given)
    assert result.out.splitlines() == ["wrong 0"] and data.read_bytes() == expected()
    assert "': 2 of 16 KiB, 1 read ahead" in result.err, result.explain()
    line = "headrace: buffers of a file are 2 of 16 KiB instead of 4 of 64 KiB (2 ranks of a node "
    assert result.err.count(line) == 1, result.explain()
    assert "set HEADRACE_NODE_MEMORY=4m or " in result.err, result.explain()
    result, _ = run(host, 2, "close", "*:size=64k", **given | {"HEADRACE_NODE_MEMORY": "4m"})
    assert "instead of" not in result.err, result.explain()


def test_nothing_is_lost_when_a_handler_exits(host: Host, library: Path) -> None:
    result, data = run(host, 1, "exit", "*:size=1m")
    assert "wrong 0" in result.out, result.explain()
    assert data.read_bytes() == expected()


@pytest.mark.parametrize("attempt", range(3))
def test_a_handler_may_end_the_program_at_any_moment(
    host: Host, library: Path, attempt: int
) -> None:
    result, data = run(host, 1, "alarm", "*:size=4096:count=3", HEADRACE_QUIET="0")
    assert "written " in result.out and result.seconds < 60, result.explain()
    if "are lost" in result.err:
        return  # it interrupted a call on the file, and says what that cost
    records = int(result.out.split("written ")[1].split()[0])
    found = data.read_bytes()
    for i in range(records):
        place = found[i * RECORD : (i + 1) * RECORD]
        assert place == bytes([1 + (i + 6) % 250]) * RECORD, (i, records, result.explain())


@pytest.mark.parametrize("ranks", [1, 2])
def test_writes_that_fail_are_told(host: Host, library: Path, ranks: int) -> None:
    result, data = run(host, ranks, "limit", "*:size=4096:count=2")
    assert result.code == 0, result.explain()
    assert result.out.splitlines() == ["told 1 failed 1", "wrong 0"], result.explain()
    # Nothing that a rank was told is written is missing below the limit.
    assert data.read_bytes() == expected(9)[: RECORD * RECORDS // 2]


def test_what_they_did_is_told(host: Host, library: Path) -> None:
    told = {"HEADRACE_QUIET": "0", "HEADRACE_HINTS_DISPLAY": "1"}
    buffers = "*.other:count=9,*data:size=8k:verbose:unknown=1"
    result, data = run(host, 2, "close", buffers, **told)
    assert f"buffers of '{data}': 4 of 8.0 KiB, 1 read ahead" in result.err, result.explain()
    assert f"buffers of '{data}':\n" in result.err, result.explain()
    assert "'unknown=1' is ignored (no such word is known)" in result.err, result.explain()


def test_the_other_name_of_the_variable_counts(host: Host, library: Path) -> None:
    place = work_directory(f"buffered-alias-{host.name}")
    program = compile_c(host, ["buffered.c"], "buffered")
    words = [program, place / "data", RECORDS, "close"]
    given = {"IOBUF_PARAMS": "*:verbose", "HEADRACE_QUIET": "0"}
    result = launch(host, 1, words, True, given)
    assert "buffers of " in result.err, result.explain()
    result = launch(host, 1, words, True, {**given, "HEADRACE_IOBUF": ""})
    assert result.code == 0 and "buffers of " not in result.err, result.explain()


def test_a_pattern_that_matches_nothing_is_named(host: Host, library: Path) -> None:
    program = compile_c(host, ["strided_file.c"], "strided_file")
    place = work_directory(f"iobuf-unmatched-{host.name}")
    words = [program, "write", place / "data.bin", 100, 10]
    patterns = f"{place}/data.*:count=2,*.none,/no/such/*"
    for variable in ("HEADRACE_IOBUF", "IOBUF_PARAMS"):
        result = launch(host, 1, words, True, {"HEADRACE_QUIET": "0", variable: patterns})
        assert result.code == 0, result.explain()
        line = f"headrace: {variable}: pattern '*.none' and 1 more changed nothing on rank 0 ("
        assert result.err.count(line) == 1, result.explain()
        result = launch(host, 1, words, True, {"HEADRACE_QUIET": "0", variable: "*:sise=1m"})
        assert f"headrace: {variable}, character 3: 'sise=1m' is ignored (" in result.err
        assert "changed nothing" not in result.err, result.explain()
