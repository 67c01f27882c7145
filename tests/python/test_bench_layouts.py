"""`headrace bench tile`, `irregular` and `checkpoint`: data right in every way and under every ABI,
wrong data found, bad input told in one line."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from bench_support import bench_command, content_by_offset, error_line
from cli_support import ROOT, Command, compile_c

from headrace.bench.hand_set import with_hand_set
from headrace.bench.jobs import HEADRACE, JOBS

KINDS = ("mpich", "openmpi", "intel", "abi")
SEED = 9
WAYS = ("mpiio", "posix", "rank0", "contiguous")

# By kernel: flags, and the bytes of the file that they make with four ranks.
COVERING = {
    "tile": ("--dims 6,4,10,4 --element 3 --grid 1,2,2,1", 2880),
    "irregular": ("--pieces 500 --mean 90 --spread 0", 180_000),
    "checkpoint": ("--dims 6,8 --steps 3 --variables 2", 2304),
}
MORE = (
    ("tile", "--dims 4,4,4,4,2,2 --ghost 1", 8192),
    ("tile", "--dims 4096 --element 8", 32768),
    ("tile", "--piece 1000 --size 50000", 200_000),
    ("irregular", "--pieces 500 --mean 90 --spread 0 --memory permuted", 180_000),
    ("checkpoint", "--piece 1000 --size 3000 --steps 3 --oneView", 144_000),
)


@pytest.fixture
def bench(tmp_path: Path) -> Command:
    return bench_command(tmp_path)


def run(
    bench: Command, name: str, flags: str, *options: object, np: int = 4
) -> subprocess.CompletedProcess[str]:
    common = ("-G", SEED, "-o", "f", "--json", "out")
    return bench("bench", name, "-n", np, *options, "--", *flags.split(), *common)


def check_file(bench: Command, name: str, flags: str, size: int, *options: object) -> dict:
    result = run(bench, name, flags + " -w -r -k", *options)
    assert result.returncode == 0, result.stdout + result.stderr
    assert (bench.directory / "f").read_bytes() == content_by_offset(SEED, size)
    document = json.loads((bench.directory / "out").read_text())
    assert (document["wrongBytes"], document["fileSize"]) == (0, size)
    assert [row["access"] for row in document["results"]] == ["write", "read"]
    return document


@pytest.mark.parametrize("way", [*WAYS, "plain"])
@pytest.mark.parametrize("name", COVERING)
def test_every_way_makes_the_same_file(bench: Command, name: str, way: str) -> None:
    flags, size = COVERING[name]
    options = ("--plain",) if way == "plain" else ()
    document = check_file(
        bench, name, f"{flags} --way {way.replace('plain', 'mpiio')}", size, *options
    )
    assert all(("request" in row) == (way == "contiguous") for row in document["results"])


def test_requests_of_the_limit_can_be_set(bench: Command) -> None:
    flags, size = COVERING["tile"]
    for given, found in (
        ("--request 64k --readRequest 256k", [64 << 10, 256 << 10]),
        ("--request 1000", [1000, 1000]),
    ):
        document = check_file(bench, "tile", f"{flags} --way contiguous {given}", size)
        assert [row["request"] for row in document["results"]] == found


@pytest.mark.parametrize(("name", "flags", "size"), MORE)
def test_shapes_and_memory(bench: Command, name: str, flags: str, size: int) -> None:
    check_file(bench, name, flags, size)


@pytest.mark.parametrize(("name", "flags", "size"), MORE)
@pytest.mark.parametrize("way", ["posix", "rank0"])
def test_shapes_in_other_ways(bench: Command, name: str, flags: str, size: int, way: str) -> None:
    check_file(bench, name, f"{flags} --way {way}", size)


@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize("name", COVERING)
def test_every_abi(bench: Command, name: str, kind: str) -> None:
    check_file(bench, name, *COVERING[name], "--mpi", kind)


@pytest.mark.parametrize("way", ["mpiio", "posix", "rank0"])
def test_gaps_stay_empty(bench: Command, way: str) -> None:
    flags = f"--pieces 300 --mean 40 --gap 30 --memory permuted -k --way {way}"
    result = run(bench, "irregular", flags)
    assert result.returncode == 0, result.stdout + result.stderr
    moved = json.loads((bench.directory / "out").read_text())["results"][0]["bytes"]
    found = np.fromfile(bench.directory / "f", dtype=np.uint8)
    wanted = np.frombuffer(content_by_offset(SEED, len(found)), dtype=np.uint8)
    gap = found != wanted
    assert not found[gap].any()
    # One byte of a gap in 256 is the same by chance.
    assert 0.9 * (len(found) - moved) < gap.sum() <= len(found) - moved


@pytest.mark.parametrize("kind", KINDS)
def test_several_calls_are_timed(bench: Command, kind: str) -> None:
    document = check_file(bench, "checkpoint", *COVERING["checkpoint"], "--mpi", kind)
    for row in document["results"]:
        assert row["calls"] == 6
        # Ranks meet between calls: on one clock no call begins before all have ended the last one.
        assert row["betweenCalls"] > 0
        assert 0 < row["medianLaterCall"] <= row["longestLaterCall"]
        assert row["firstCall"] + row["longestLaterCall"] <= row["wrRdTime"] * 1.0001
    result = run(bench, "checkpoint", COVERING["checkpoint"][0] + " -w")
    assert "write calls (us)" in result.stdout and not (bench.directory / "f").exists()


@pytest.mark.parametrize("name", COVERING)
def test_a_wrong_byte_is_found(bench: Command, name: str) -> None:
    flags, size = COVERING[name]
    assert run(bench, name, flags + " -w -k --way posix").returncode == 0
    position = size - 100
    with open(bench.directory / "f", "r+b") as file:
        file.seek(position)
        byte = file.read(1)[0]
        file.seek(position)
        file.write(bytes([byte ^ 1]))
    result = run(bench, name, flags + " -r")
    assert result.returncode == 1
    assert f"1 wrong bytes in 'f' after read, the first at byte {position}" in result.stderr


# Between the program and the MPI: spoils a byte of the file before it is closed.
SPOILER = r"""
#include <mpi.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
int PMPI_File_close(MPI_File *);
int MPI_File_close(MPI_File *file) {
  int rank, data = open("f", O_RDWR);
  char byte;
  long place = atol(getenv("SPOILER"));
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && pread(data, &byte, 1, place) == 1) {
    byte ^= 1;
    if (pwrite(data, &byte, 1, place) != 1) abort();
  }
  close(data);
  return PMPI_File_close(file);
}
"""


@pytest.mark.parametrize(
    ("name", "flags", "place"),
    [
        ("tile", "--piece 8 --size 1000000", 3_999_999),
        ("tile", "--piece 1500000 --size 3000000", 1_499_999),
        ("irregular", "--pieces 5000 --mean 90 --spread 0 --memory permuted", 1_048_577),
        ("checkpoint", "--piece 1000 --size 3000 --steps 3", 143_000),
    ],
)
def test_a_byte_written_wrong_is_found(
    bench: Command, tmp_path: Path, name: str, flags: str, place: int
) -> None:
    include = ROOT / ".dev" / "mpi" / "mpich" / "include"
    if not include.is_dir():
        pytest.skip("no MPICH in .dev/mpi")
    spoiler = compile_c(SPOILER, tmp_path / "spoiler.so", "-shared", "-fPIC", f"-I{include}")
    arguments = ("-w", "-k", "-o", "f", "-G", str(SEED))
    result = bench(
        *("bench", name, "-n", 4, "--plain", "--", *flags.split(), *arguments),
        LD_PRELOAD=str(spoiler),
        SPOILER=str(place),
    )
    assert result.returncode == 1, result.stdout + result.stderr
    assert f"1 wrong bytes in 'f' after write, the first at byte {place}" in result.stderr


def test_a_short_file_is_told(bench: Command) -> None:
    flags, size = COVERING["tile"]
    assert run(bench, "tile", flags + " -w -k").returncode == 0
    with open(bench.directory / "f", "r+b") as file:
        file.truncate(size - 5)
    result = run(bench, "tile", flags + " -r --way posix")
    assert result.returncode == 1 and "the file ends there" in error_line(result, "tile")


BAD_INPUT = (
    ("tile", "--dims 4,0", "one to six numbers"),
    ("tile", "--dims 4,4,4,4,4,4,4", "one to six numbers"),
    ("tile", "--dims 7,5", "no process grid of 2 ranks"),
    ("tile", "--dims 8,5 --grid 1,2", "not divisible by the process grid"),
    ("tile", "--piece 1000 --size 1500", "not a multiple of --piece"),
    ("tile", "--piece 0", "must be at least 1"),
    ("tile", "--size 10", "--size needs --piece"),
    ("tile", "--dims 8,8 --piece 8", "--piece excludes"),
    ("tile", "--dims 8,8 --ghost 5", "wider than a rank's box"),
    ("tile", "--dims 2147483647,2147483646 --element 2m", "2 GiB in a call"),
    ("tile", "--way none", "unknown way 'none'"),
    ("tile", "--request 64k", "needs --way contiguous"),
    ("irregular", "--pieces 0", "must be at least 1"),
    ("irregular", "--spread 1.5", "from 0 to 1"),
    ("irregular", "--memory none", "unknown memory 'none'"),
    ("irregular", "--pieces 2147483647 --mean 2", "2 GiB in a call"),
    ("checkpoint", "--steps 0", "must be at least 1"),
    ("irregular", "--pieces 2000000000 --mean 1 --spread 0 --gap 2147483647", "beyond 2^63 bytes"),
    ("irregular", "--gap -1", "must be a size"),
    ("irregular", "--spread nan", "must be a number from 0 on"),
    ("checkpoint", "--steps 2147483647 --variables 2", "2^31 calls"),
    ("strided", "-b 0", "must be at least 1"),
    ("strided", "-b 8192", "the blocks overlap"),
    ("strided", "--stride 3000", "not a multiple of --stride times the 4 ranks"),
    ("strided", "--size 9999999t", "must be a size"),
    ("strided", "--size 32g -b 4096", "2 GiB in a call"),
    ("strided", "--way rank0", "unknown way 'rank0'"),
    ("strided", "-G -1", "must be at least 0"),
    ("strided", "-G 9223372036854775807", "seed beyond 2^52"),
    ("overlap", "--call none", "unknown call 'none'"),
    ("overlap", "--size 0", "must be at least 1"),
    ("overlap", "--size 2g", "2 GiB"),
    ("overlap", "--size 10000 -b 3", "not a multiple of -b"),
    ("overlap", "--share -1", "must be a number from 0 on"),
    ("overlap", "--share nan", "must be a number from 0 on"),
    ("overlap", "--delay inf", "must be a number from 0 on"),
    ("overlap", "--delay 1e300", "cannot be beyond 1000000"),
    ("overlap", "-i 0", "must be at least 1"),
)


@pytest.mark.parametrize(("name", "flags", "text"), BAD_INPUT)
def test_bad_input_is_one_clear_line(bench: Command, name: str, flags: str, text: str) -> None:
    result = bench("bench", name, "--plain", "--", *flags.split())
    assert result.returncode == 2
    assert text in error_line(result, name)


@pytest.mark.parametrize("way", ["mpiio", "posix"])
def test_bad_paths_are_one_clear_line(bench: Command, way: str) -> None:
    flags = f"--dims 8,8 --way {way}".split()
    result = bench("bench", "tile", "--", *flags, "-o", "missing/f")
    assert result.returncode == 1 and "missing/f" in error_line(result, "tile")
    result = bench("bench", "tile", "--", *flags, "-r", "-o", "none")
    assert result.returncode == 1 and "none" in error_line(result, "tile")


def test_too_little_space_is_told_before_writing(bench: Command) -> None:
    flags = ("--dims", "8192,8192", "--steps", "1000000", "-o", "f")
    result = bench("bench", "checkpoint", "--", *flags)
    assert result.returncode == 1
    assert "not enough space for 'f'" in error_line(result, "checkpoint")
    assert not (bench.directory / "f").exists()


@pytest.mark.parametrize("name", ["tile", "checkpoint", "irregular", "lattice"])
def test_jobs_know_the_limit_and_hand_set_ways(name: str) -> None:
    job = with_hand_set(JOBS[name](2))
    keys = [way.key for way in job.under("openmpi").ways]
    assert "individual" in keys and "no-cb" not in keys and keys[-1] == HEADRACE
    assert sum(way.is_limit for way in job.ways) == 1
    for way in job.ways:
        assert bool(way.kinds) == bool(way.variables)
        assert not (way.preload and way.variables)


def test_compare_shows_share_of_the_limit_and_calls(bench: Command) -> None:
    flags = ("--piece", "1000", "--size", "4000", "--steps", "3")
    result = bench(
        *("bench", "compare", "checkpoint", "--rounds", 1, "--hand-set", "--dir", "."),
        *("--json", "out", "--", *flags),
    )
    assert result.returncode == 0, result.stdout + result.stderr
    (document,) = json.loads((bench.directory / "out").read_text())
    assert "limit" in document["MiB/s"]["write"] and "limit" not in document["identical"]
    assert document["identical"]["no-cb"] and len(document["calls"]["read"]["headrace"]) == 2
    for text in ("% of it", "first call/median later call", "romio_cb_write=disable"):
        assert text in result.stdout


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_cannot_grow_is_told_and_removed(bench: Command, way: str) -> None:
    flags = f"-w --way {way} --piece 1000 --size 4000000 -o f".split()
    line = [sys.executable, "-m", "headrace", "bench", "tile", "--", *flags]
    result = subprocess.run(
        ["prlimit", "--fsize=5000000", *line],
        env=bench.environ,
        cwd=bench.directory,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "'f'" in error_line(result, "tile")
    assert not (bench.directory / "f").exists()
