"""What the benchmark programs do with bad input and too little of what they need: one clear line,
nothing lost that was there, and nothing left behind."""

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from bench_support import bench_command, error_line, preloaded, started
from cli_support import Command
from hanging import PATIENCE

from headrace.bench.programs import NAMES


@pytest.fixture
def bench(tmp_path: Path) -> Command:
    return bench_command(tmp_path)


@pytest.mark.parametrize(
    ("name", "ranks", "flags"),
    [
        ("lattice", 3, ""),
        ("strided", 3, ""),
        ("tile", 2, "--dims 7,5 --way none"),
        ("irregular", 2, "--spread 2"),
        ("overlap", 2, "--call none"),
        ("ior", 2, "-a none"),
    ],
)
def test_help_comes_first(bench: Command, name: str, ranks: int, flags: str) -> None:
    result = bench("bench", name, "-n", ranks, "--plain", "--", *flags.split(), "-h")
    assert (result.returncode, result.stderr) == (0, "")
    assert f"headrace bench {name}: " in result.stdout


def results_flags(name: str, path: str) -> tuple[str, ...]:
    return ("-O", f"summaryFormat=JSON,summaryFile={path}") if name == "ior" else ("--json", path)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_results_that_cannot_be_written_are_told_first(bench: Command, name: str) -> None:
    flags = results_flags(name, "missing/out")
    result = bench("bench", name, "-n", 2, "--plain", "--", "-w", "-k", "-o", "f", *flags)
    assert result.returncode == 1
    line = error_line(result, name)
    assert "cannot write 'missing/out' (No such file or directory)" in line
    assert "create the directory or give another path" in line
    assert result.stdout == "" and not list(bench.directory.iterdir())


@pytest.mark.parametrize("name", ["ior", "tile"])
def test_results_stay_where_the_run_fails(bench: Command, name: str) -> None:
    earlier = bench.directory / "out"
    for text in ("of an earlier run\n", None):
        if text:
            earlier.write_text(text)
        flags = ("-r", "-o", "none", *results_flags(name, "out"))
        result = bench("bench", name, "-n", 2, "--plain", "--", *flags)
        assert result.returncode == 1 and "none" in error_line(result, name)
        assert earlier.read_text() == text if text else not earlier.exists()
        earlier.unlink(missing_ok=True)


def test_results_may_go_into_a_pipe(bench: Command) -> None:
    os.mkfifo(bench.directory / "pipe")
    with subprocess.Popen(["cat", bench.directory / "pipe"], stdout=subprocess.PIPE) as reader:
        flags = ("--dims", "8,8", "-o", "f", "--json", "pipe")
        assert bench("bench", "tile", "--plain", "--", *flags).returncode == 0
        text, _ = reader.communicate()
    assert json.loads(text)["wrongBytes"] == 0


@pytest.mark.parametrize("line", [("compare", "tile", "--rounds", "1"), ("promises",)])
def test_commands_tell_first_what_they_cannot_write(bench: Command, line: tuple[str, ...]) -> None:
    result = bench("bench", *line, "--json", "missing/out")
    assert result.returncode == 1
    assert result.stderr == (
        "headrace: 'missing/out' cannot be written (No such file or directory), give another file\n"
    )
    earlier = bench.directory / "out"
    earlier.write_text("of an earlier run")
    result = bench("bench", *line, "--json", "out", "--dir", ".", HEADRACE_BENCH_PATH="/nowhere")
    assert result.returncode == 2
    assert earlier.read_text() == "of an earlier run"


# A malloc that has no blocks of one size, on one rank.
SHORT_OF_MEMORY = r"""
#include <stdlib.h>
#include <string.h>
extern void *__libc_malloc(size_t);
void *malloc(size_t size) {
  const char *rank = getenv("PMI_RANK");
  int is_short = rank && strcmp(rank, getenv("SHORT_RANK")) == 0;
  if (is_short && size == strtoul(getenv("SHORT_SIZE"), 0, 10)) return 0;
  return __libc_malloc(size);
}
"""

# By program: flags, the size of a block of memory it then needs, and the rank that needs it.
MEMORY = (
    ("ior", "-w -b 3000001 -t 3000001", 3000001 + 4096, 1),
    ("overlap", "--size 3000001", 3000001, 1),
    ("tile", "--piece 1001 --size 3003000", 3003000, 1),
    ("strided", "--size 16m --stride 8k -b 8", 8 << 20, 1),  # the rank's share of the file
    ("strided", "--size 16m --stride 8k -b 8", (8 << 20) - (8 << 10), 1),  # between the blocks
    ("tile", "--dims 64,64 --way rank0", 4 << 20, 0),
    ("irregular", "--pieces 20000", 16 << 15, 1),  # a vector of places, as it grows
)


@pytest.mark.parametrize(("name", "flags", "size", "rank"), MEMORY)
def test_too_little_memory_is_one_clear_line(
    bench: Command, tmp_path: Path, name: str, flags: str, size: int, rank: int
) -> None:
    variables = preloaded(SHORT_OF_MEMORY, tmp_path / "lib" / "short.so")
    result = bench(
        *("bench", name, "-n", 2, "--plain", "--", *flags.split(), "-o", "f"),
        **variables,
        SHORT_SIZE=str(size),
        SHORT_RANK=str(rank),
    )
    assert result.returncode == 1, result.stdout + result.stderr
    line = error_line(result, name)
    assert "not enough memory for " in line and line.endswith(f"[rank {rank}]")
    assert not (bench.directory / "f").exists()


WRITES_NOTHING = r"""
#include <errno.h>
#include <stddef.h>
#include <sys/types.h>
ssize_t pwrite(int file, const void *data, size_t size, off_t offset) {
  (void)file, (void)data, (void)size, (void)offset;
  errno = EBADF; /* of something before */
  return 0;
}
"""


def test_a_write_that_moves_nothing_has_no_reason_of_an_earlier_call(
    bench: Command, tmp_path: Path
) -> None:
    variables = preloaded(WRITES_NOTHING, tmp_path / "lib" / "nothing.so")
    flags = ("--dims", "8,8", "--way", "posix", "-o", "f")
    result = bench("bench", "tile", "--plain", "--", *flags, **variables)
    assert result.returncode == 1
    line = error_line(result, "tile")
    assert "cannot write to 'f' at byte 0 (the file system takes no more)" in line


SLOW_WRITES = r"""
#include <sys/types.h>
#include <unistd.h>
ssize_t pwrite(int file, const void *data, size_t size, off_t offset) {
  (void)file, (void)data, (void)offset;
  sleep(3600);
  return (ssize_t)size;
}
"""


def has_open_files(directory: Path) -> bool:
    """Whether a process has a file of it open."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # the process has ended, or the file was closed, meanwhile
            for name in os.listdir(process / "fd"):
                with suppress(OSError):
                    if directory in (process / "fd" / name).readlink().parents:
                        return True
    return False


def interrupt(bench: Command, line: str, left: set[str]) -> None:
    """Ends a run as a terminal does, while it has a file open; then `left` must be there."""
    number = signal.SIGINT
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    words = ("bench", *line.split())
    with started(bench, *words, by=number, start_new_session=True, **silent) as child:
        while not has_open_files(bench.directory):
            assert child.poll() is None
            time.sleep(0.02)
        os.killpg(child.pid, number)
        assert child.wait() != 0
    # Ranks of some launchers end a little later than it.
    deadline = time.monotonic() + PATIENCE
    while (found := {path.name for path in bench.directory.iterdir()}) != left:
        assert time.monotonic() < deadline, found
        time.sleep(0.05)


INTERRUPTED = (
    "tile --mpi mpich -- -w -i 100000 -o f",
    "tile --mpi openmpi -- -w -i 100000 -o f",
    "strided --mpi intel -n 2 -- -w -i 100000 -o f",
    "overlap -- -i 100000 -o f",
    "ior -- -a MPIIO -w -r -F -i 100000 -b 4m -o f",
)


@pytest.mark.parametrize("line", INTERRUPTED)
def test_ctrl_c_leaves_no_file(bench: Command, line: str) -> None:
    interrupt(bench, line, set())


def test_ctrl_c_leaves_a_file_that_is_to_be_kept(bench: Command, tmp_path: Path) -> None:
    bench.directory = tmp_path / "files"
    bench.directory.mkdir()
    # Each repetition makes the file anew, so Ctrl-C must come while the first one writes.
    slow = preloaded(SLOW_WRITES, tmp_path / "lib" / "slow.so")
    writer = Command({**bench.environ, **slow}, bench.directory)
    interrupt(writer, "tile --plain -- --way posix -w -k -o f", {"f"})
    # Nor does one that only reads remove what another has written.
    assert bench("bench", "tile", "--", "-w", "-k", "-o", "f").returncode == 0
    interrupt(bench, "tile -- -r -i 100000 -o f", {"f"})
