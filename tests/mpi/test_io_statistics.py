"""HEADRACE_IO_STATS and _TIMERS, and the same numbers in the record, are what the kernel saw and
what the program tallied."""

from __future__ import annotations

import itertools
import os
import re
import shutil
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import absent
from hosts import Host
from running import Result, compile_program, launch, work_directory
from test_languages import FORTRAN, fortran_program
from test_recorder import report_of
from told_statistics import Block, Side, blocks_of

from headrace.record.export import csv_files
from headrace.record.reader import read

OWN_FILES = 3
RANK_SIDE = (
    r"{}: (\d+) calls, (\d+) bytes, (\d+) requests \((\d+) in collective calls, (\d+) not "
    r"aligned\), (\d+) bytes"
)


def tallied(result: Path, name: str) -> Counter[str]:
    """Over all ranks and files whose names begin so."""
    keys = ("opens", "read", "written", "reads", "writes", "collective_reads", "collective_writes")
    sums: Counter[str] = Counter()
    for own in result.parent.glob(f"{result.name}.*"):
        for line in own.read_text().splitlines():
            path, *numbers = line.split()
            if Path(path).name.startswith(name):
                sums.update(dict(zip(keys, map(int, numbers), strict=True)))
    return sums


# As strace -y shows them: the file is behind the descriptor's number, the offset comes last.
MOVED = re.compile(r"(pread|pwrite)(?:64|v)\(\d+<([^>]*)>.*, (\d+)\) += (\d+)( \(INJECTED\))?$")


@dataclass(frozen=True)
class Move:
    process: str
    writes: bool
    name: str
    offset: int
    bytes: int


def traced(directory: Path) -> tuple[list[Move], Counter[str]]:
    """What the kernel moved, and how many calls were made to fail, by the file's name."""
    moves = []
    failed: Counter[str] = Counter()
    for log in directory.glob("strace.*"):
        for line in log.read_text(errors="replace").splitlines():
            if "(INJECTED)" in line:
                failed[Path(re.search(r"<([^>]*)>", line)[1]).name] += 1
            elif (match := MOVED.search(line)) and int(match[4]) > 0:
                call, name, offset, size = match.groups()[:4]
                place = (int(offset), int(size))
                moves.append(Move(log.name, call == "pwrite", Path(name).name, *place))
    return moves, failed


def run_traced(
    host: Host, directory: Path, ranks: int, program: Path, *options: str, **settings: str
) -> Result:
    if shutil.which("strace") is None:
        absent("strace is not installed")
    calls = "trace=pread64,pwrite64,preadv,pwritev,write"
    tracer = ["strace", "-ff", "-y", "-s", "100000", "-e", calls, "-e", "signal=none", *options]
    line = [*tracer, "-o", directory / "strace", program, directory, directory / "tally"]
    given = {"HEADRACE_QUIET": "0", "HEADRACE_SUMMARY": "0", "HEADRACE_LOGPATH": str(directory)}
    done = launch(host, ranks, line, True, given | settings)
    if "ptrace" in done.err.lower():
        pytest.skip("strace may not trace here")
    assert done.code == 0, done.explain()
    return done


def c_program(host: Host) -> Path:
    return compile_program(host.compilers["c"], ["statistics.c"], f"statistics-{host.name}")


def gaps_between(moves: list[Move]) -> list[int]:
    ordered = sorted(moves, key=lambda one: one.offset)
    pairs = itertools.pairwise(ordered)
    gaps = [after.offset - before.offset - before.bytes for before, after in pairs]
    return [gap for gap in gaps if gap > 0]


def check_requests(side: Side, moves: list[Move], unit: int) -> None:
    ends = [(one.offset, one.offset + one.bytes) for one in moves]
    assert side.requests == len(moves)
    assert side.store_bytes == sum(one.bytes for one in moves)
    assert side.of_unit == sum(one.bytes == unit for one in moves)
    assert side.smaller == sum(one.bytes < unit for one in moves)
    assert side.unaligned == sum(bool(begin % unit or end % unit) for begin, end in ends)


@pytest.mark.parametrize("stripes", ["", "2x4096", "4x64k"])
def test_requests_are_those_of_the_kernel(host: Host, library: Path, stripes: str) -> None:
    ranks = 2
    directory = work_directory(f"statistics-strace-{host.name}-{stripes}")
    done = run_traced(
        *(host, directory, ranks, c_program(host)),
        HEADRACE_IO_STATS="2",
        HEADRACE_RECORD="1",
        HEADRACE_MIMIC_STRIPES=stripes or "none",
        HEADRACE_WRITE_PATH="staged",
        HEADRACE_READ_PATH="staged",
    )
    moves, _ = traced(directory)
    block = next(
        one for one in blocks_of(done.err) if one.head.startswith(f"I/O of '{directory}/s")
    )
    unit = {"": os.statvfs(directory).f_bsize, "2x4096": 4096, "4x64k": 65536}[stripes]
    told = {
        "": "no stripes known",
        "2x4096": "2 stripes of 4.0 KiB",
        "4x64k": "4 stripes of 64 KiB",
    }
    assert "opened 1 time; " + told[stripes] in block.head
    tally = tallied(directory / "tally", "shared")
    of_shared = [one for one in moves if one.name == "shared"]
    for direction, letters in (("writes", "written"), ("reads", "read")):
        side = block.sides[direction]
        mine = [one for one in of_shared if one.writes == (direction == "writes")]
        check_requests(side, mine, unit)
        assert side.bytes == tally[letters]
        assert side.collective * ranks == tally[f"collective_{direction}"]
        assert side.independent == tally[direction] - tally[f"collective_{direction}"]
        assert side.repeated == 0
    # Rank 0 alone reads on its own, two ints.
    collective = [one for one in of_shared if one.writes or one.bytes != 8]
    for direction in ("writes", "reads"):
        by = {one.process for one in collective if one.writes == (direction == "writes")}
        assert block.sides[direction].aggregators == len(by) > 0
    assert (block.sides["writes"].others, block.sides["reads"].others) == (0, 1)
    moved = sum(one.bytes for one in of_shared if not one.writes)
    assert f"at least {moved - tally['read']} bytes that nobody" in block.sides["reads"].rest
    check_ranks(block)
    check_record(directory, block, of_shared)


def check_ranks(block: Block) -> None:
    """The lines on ranks add up to what was told of all."""
    sums = defaultdict(lambda: [0] * 6)
    for line in block.ranks:
        last = re.match(r"  each of ranks (\d+) to (\d+)", line)
        times = int(last[2]) - int(last[1]) + 1 if last else 1
        for direction in ("writes", "reads"):
            numbers = re.search(RANK_SIDE.format(direction), line).groups()
            sums[direction] = [
                a + times * int(b) for a, b in zip(sums[direction], numbers, strict=True)
            ]
    for direction, side in block.sides.items():
        _, size, requests, _, unaligned, stored = sums[direction]
        assert (size, requests, unaligned, stored) == (
            *(side.bytes, side.requests, side.unaligned, side.store_bytes),
        )


def check_record(directory: Path, block: Block, moves: list[Move]) -> None:
    """The report and the tables have what was told."""
    (path,) = directory.glob("*.hrc")
    report = report_of(path)
    (file,) = (one for one in report["io"]["files"] if one["name"] == f"{directory}/shared")
    storage = file["mpi"]["storage"]
    for direction, side in block.sides.items():
        own = storage[direction]
        assert own["requests"] == side.requests and own["aggregators"] == side.aggregators
        assert own["of_unit"] == side.of_unit and own["smaller"] == side.smaller
        assert own["unaligned"] == side.unaligned and own["repeated_calls"] == side.repeated
    assert storage["reads"]["in_collective_calls"] == storage["reads"]["requests"] - 1
    gaps = gaps_between([one for one in moves if one.writes])
    assert 0 < storage["write_gaps"] <= len(gaps)
    assert storage["write_gap_bytes"] <= sum(gaps)
    # Windows are whole stripes. Without these, all is in one.
    if "no stripes" in block.head:
        assert storage["write_gaps"] == len(gaps) and storage["write_gap_bytes"] == sum(gaps)
        assert f"{len(gaps)} gaps of {sum(gaps)} bytes left out" in block.sides["writes"].rest
    parts = [storage[f"{name}_seconds"] for name in ("open", "close")]
    assert min(parts) > 0 and sum(parts) < file["seconds"]
    assert storage["meet_seconds"] + storage["send_seconds"] <= file["exchange_seconds"] + 1e-9
    assert storage["read_seconds"] + storage["write_seconds"] == pytest.approx(
        file["mpi"] and file["store_seconds"], abs=1e-6
    )
    csv_files.write(read(path), directory / "csv")
    table = (directory / "csv" / "files.csv").read_text().splitlines()
    rows = [dict(zip(table[0].split(","), line.split(","), strict=True)) for line in table[1:]]
    rows = [row for row in rows if row["file"].endswith("/shared")]
    assert sum(int(row["write_requests"]) for row in rows) == block.sides["writes"].requests
    assert sum(int(row["small_read_requests"]) for row in rows) == block.sides["reads"].smaller


def test_repeated_calls_are_those_that_failed(host: Host, library: Path) -> None:
    """Each process's second write is interrupted, and its second read is to be tried again."""
    directory = work_directory(f"statistics-repeats-{host.name}")
    # Of the loader's reads none is to fail.
    faults = [
        *("-P", str(directory / "shared")),
        *("-e", "inject=pwrite64:error=EINTR:when=2"),
        *("-e", "inject=pread64:error=EAGAIN:when=2..3"),
    ]
    run_traced(host, directory, 2, c_program(host), *faults, HEADRACE_RECORD="1")
    _, failed = traced(directory)
    assert sum(failed.values()) > 0
    (path,) = directory.glob("*.hrc")
    found: Counter[str] = Counter()
    for file in report_of(path)["io"]["files"]:
        storage = file["mpi"]["storage"]
        again = storage["reads"]["repeated_calls"] + storage["writes"]["repeated_calls"]
        found[Path(file["name"]).name] = again
    assert +found == +failed


def own_blocks(said: str) -> list[Block]:
    return [one for one in blocks_of(said) if "/own." in one.head]


def check_own(said: str, directory: Path, ranks: int) -> None:
    """Files of one rank are told once, by one rank, with what all did."""
    (own,) = own_blocks(said)
    files = ranks * OWN_FILES
    assert own.head.startswith(f"I/O of {files} files of one rank each, on {ranks} ranks, such as")
    tally = tallied(directory / "tally", "own")
    assert own.sides["writes"].bytes == own.sides["writes"].store_bytes == tally["written"]
    assert own.sides["writes"].independent == own.sides["writes"].requests == tally["writes"]
    assert own.sides["reads"].bytes == tally["read"]
    assert own.sides["reads"].others == ranks and own.sides["reads"].aggregators == 0


def check_shared(said: str, directory: Path, ranks: int) -> None:
    (shared,) = (one for one in blocks_of(said) if "/shared'" in one.head)
    tally = tallied(directory / "tally", "shared")
    writes, reads = shared.sides["writes"], shared.sides["reads"]
    assert (writes.bytes, reads.bytes) == (tally["written"], tally["read"])
    assert (writes.collective, reads.collective, reads.independent) == (1, 1, 1)


def told_by(host: Host, ranks: int, program: Path, directory: Path, **settings: str) -> str:
    given = {"HEADRACE_QUIET": "0", "HEADRACE_SUMMARY": "0", "HEADRACE_RECORD": "0"}
    done = launch(host, ranks, [program, directory, directory / "tally"], True, given | settings)
    assert done.code == 0, done.explain()
    return done.err


@pytest.mark.parametrize("ranks", [1, 3])
def test_files_of_one_rank_are_told_once(host: Host, library: Path, ranks: int) -> None:
    directory = work_directory(f"statistics-own-{host.name}-{ranks}")
    said = told_by(
        *(host, ranks, c_program(host), directory), MPICH_MPIIO_STATS="1", MPICH_MPIIO_TIMERS="1"
    )
    check_shared(said, directory, ranks)
    if ranks > 1:
        check_own(said, directory, ranks)
        assert said.count(f"times of {ranks * OWN_FILES} files of one rank each") == 1
    else:
        assert len(own_blocks(said)) == OWN_FILES
    said = told_by(host, ranks, c_program(host), directory, MPICH_MPIIO_STATS="2")
    names = {re.match("I/O of '(.*?)'", one.head)[1] for one in own_blocks(said)}
    own = range(OWN_FILES)
    assert names == {f"{directory}/own.{rank}.{i}" for rank in range(ranks) for i in own}
    quiet = told_by(host, ranks, c_program(host), directory)
    assert "I/O of" not in quiet and "times of" not in quiet and "aggregators" not in quiet


@pytest.mark.parametrize(("name", "binding"), [(host.name, b) for host, b in FORTRAN])
def test_fortran(name: str, binding: str, library: Path) -> None:
    host, program = fortran_program(name, binding, "statistics.F90")
    directory = work_directory(f"statistics-fortran-{name}-{binding}")
    said = told_by(host, 2, program, directory, HEADRACE_IO_STATS="1")
    check_shared(said, directory, 2)
    check_own(said, directory, 2)


def test_a_block_is_one_write(host: Host, library: Path) -> None:
    """So that blocks of several ranks cannot mix."""
    directory = work_directory(f"statistics-write-{host.name}")
    done = run_traced(
        *(host, directory, 2, c_program(host)),
        HEADRACE_IO_STATS="2",
        HEADRACE_IO_TIMERS="1",
        HEADRACE_RECORD="0",
    )
    texts = []
    for log in directory.glob("strace.*"):
        for line in log.read_text(errors="replace").splitlines():
            if match := re.match(r'write\(2<[^>]*>, "(headrace: .*)", \d+\)', line):
                texts.append(match[1].replace("\\n", "\n"))
    assert len(texts) == 2 * (1 + 2 * OWN_FILES)
    for text in texts:
        assert text.startswith(("headrace: I/O of '", "headrace: times of '")), text
        assert text.count("headrace: I/O of") + text.count("headrace: times of") == 1
        assert ("    requests: " in text) or ("of collective calls:" in text), text
    assert "".join(sorted(texts)).count("\n") == done.err.count("headrace: ")


ROW = r"headrace: +([a-z ]+?) +(\d+\.\d+) +(\d+\.\d+) +(\d+\.\d+)"


def test_times_of_slow_storage(host: Host, library: Path) -> None:
    """Each request takes a known time at least, which is all of one part's."""
    ranks = 2
    directory = work_directory(f"statistics-slow-{host.name}")
    said = told_by(
        *(host, ranks, c_program(host), directory),
        HEADRACE_IO_STATS="1",
        HEADRACE_IO_TIMERS="1",
        HEADRACE_WRITE_PATH="staged",
        HEADRACE_READ_PATH="staged",
        HEADRACE_MIMIC_STORE="write_call=5000000,read_call=20000000",
    )
    lines = said.splitlines()
    begin = next(at for at, one in enumerate(lines) if "times of '" in one and "/shared'" in one)
    rows = {}
    for line in lines[begin + 1 : begin + 12]:
        if match := re.fullmatch(ROW, line):
            rows[match[1]] = [float(number) for number in match.groups()[1:]]
    assert list(rows) == [
        *("in all calls", "opening", "closing", "meeting", "exchanging"),
        *("sending", "waiting", "copying", "reading", "writing"),
    ]
    for least, mean, greatest in rows.values():
        assert 0 <= least <= mean + 1e-6 and mean <= greatest + 1e-6
    (shared,) = (one for one in blocks_of(said) if "/shared'" in one.head)
    total = {name: ranks * mean for name, (_, mean, _) in rows.items()}
    # One read is rank 0's own, so it is in no collective call.
    in_collective_calls = shared.sides["reads"].requests - 1
    assert total["writing"] >= 0.005 * shared.sides["writes"].requests
    assert total["reading"] >= 0.020 * in_collective_calls > 0
    parts = sum(value for name, value in total.items() if name != "in all calls")
    assert parts + 0.020 <= total["in all calls"] + 1e-5
    # While one rank writes the other one waits for it.
    assert rows["waiting"][2] >= 0.005


def test_aggregators_of_one_node(host: Host, library: Path) -> None:
    directory = work_directory(f"statistics-aggregators-{host.name}")
    said = told_by(
        *(host, 2, c_program(host), directory), MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY="1"
    )
    (line,) = (line for line in said.splitlines() if "aggregators of" in line)
    assert f"'{directory}/shared': all ranks, which are on {os.uname().nodename}" in line
