"""What the tests of the benchmarks share: running them, and an independent account of what their
files must hold."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
from cli_support import ROOT, Command, clean_environment, compile_c, mpi_path

WORD = np.uint64


def bench_command(directory: Path) -> Command:
    """The command with the layer this checkout has built, and all MPIs."""
    environ = clean_environment()
    environ["PYTHONPATH"] = str(ROOT / "python")
    environ["HEADRACE_MPI_PATH"] = mpi_path()
    environ["HEADRACE_QUIET"] = "1"
    environ["OMPI_MCA_btl"] = "^ofi"  # whose search for a fabric takes a second
    for name in ("HEADRACE_LIBRARY", "HEADRACE_BENCH_PATH"):
        if name in os.environ:
            environ[name] = os.environ[name]
    return Command(environ, directory)


def started(bench: Command, *words: object, by: signal.Signals, **more) -> subprocess.Popen:
    """The command in the background, to be ended `by` this signal; more: of Popen."""
    return subprocess.Popen(
        [sys.executable, "-m", "headrace", *map(str, words)],
        env=bench.environ,
        cwd=bench.directory,
        # A shell without job control starts what is in the background with SIGINT ignored.
        preexec_fn=lambda: signal.signal(by, signal.SIG_DFL),
        **more,
    )


def error_line(result: subprocess.CompletedProcess[str], name: str) -> str:
    lines = [line for line in result.stderr.splitlines() if f"{name}: error: " in line]
    assert len(lines) == 1, result.stderr
    return lines[0]


def preloaded(source: str, library: Path) -> dict[str, str]:
    """The variables that put functions of C text before those of the C library."""
    return {"LD_PRELOAD": str(compile_c(source, library, "-shared", "-fPIC"))}


def mix(values: np.ndarray) -> np.ndarray:
    """splitmix64, written from its definition."""
    with np.errstate(over="ignore"):
        z = values.astype(WORD) + WORD(0x9E3779B97F4A7C15)
        z = (z ^ (z >> WORD(30))) * WORD(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> WORD(27))) * WORD(0x94D049BB133111EB)
    return z ^ (z >> WORD(31))


def mix_one(value: int) -> int:
    return int(mix(np.array([value], dtype=WORD))[0])


def ior_transfer(task: int, stamp: int, number: int, size: int) -> bytes:
    """What transfer `number` of a task holds by default: a window into the task's words."""
    count = -(-size // 8)
    start = 8 * (mix_one(number) % 1024)
    words = mix(np.arange(start, start + count)) ^ WORD(mix_one(stamp << 32 | task))
    return words.astype("<u8").tobytes()[:size]


def ior_offset_transfer(task: int, stamp: int, offset: int, size: int) -> bytes:
    """The same under -l offset, as IOR's user guide has it: task and stamp, then offset."""
    words = np.empty(-(-size // 8), dtype=WORD)
    words[0::2] = task << 32 | stamp
    words[1::2] = offset + 8 * np.arange(1, len(words), 2)
    return words.astype("<u8").tobytes()[:size]


def ior_file(
    tasks: int, segments: int, block: int, transfer: int, stamp: int, by_offset: bool = False
) -> bytes:
    """A shared file: segments of one block for each task, blocks of transfers."""
    parts = []
    offset = 0
    for segment in range(segments):
        for task in range(tasks):
            for within in range(block // transfer):
                number = segment * (block // transfer) + within
                parts.append(
                    ior_offset_transfer(task, stamp, offset, transfer)
                    if by_offset
                    else ior_transfer(task, stamp, number, transfer)
                )
                offset += transfer
    return b"".join(parts)


def content_by_offset(seed: int, size: int) -> bytes:
    """What a kernel's file holds: word i of 8 bytes is mix(mix(seed) ^ i)."""
    words = mix(WORD(mix_one(seed)) ^ np.arange(-(-size // 8), dtype=WORD))
    return words.astype("<u8").tobytes()[:size]


def lattice_file(dims: tuple[int, int, int, int], order: str, seed: int) -> bytes:
    """The field, site by site in the order of the file: coordinates first, numbers from them."""
    x, y, z, t = (axis.ravel() for axis in np.indices(dims))
    number = x + dims[0] * (y + dims[1] * (z + dims[2] * t))
    parity = (x + y + z + t) % 2
    keys = (number, parity) if order == "evenodd" else (number,)
    sites = number[np.lexsort(keys)]
    return (seed + sites[:, None] * 72 + np.arange(72)).astype("<f8").tobytes()
