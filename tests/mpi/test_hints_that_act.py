"""Hints that change what the kernel is asked for, as strace sees it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from conftest import absent
from hosts import Host
from running import compile_c, launch, work_directory

PIECE, PIECES, RANKS = 1000, 40, 2
CALLS = "trace=fadvise64,pread64,preadv,preadv2"


def calls_on_file(host: Host, *hints: str) -> list[str]:
    """System calls by which two ranks open a file and read pieces that take turns in it."""
    if shutil.which("strace") is None:
        absent("strace is not installed")
    program = compile_c(host, ["strided_file.c"], "strided_file")
    place = work_directory(f"acting-{host.name}")
    file = place / "data.bin"
    quiet = {"HEADRACE_QUIET": "1", "ROMIO_HINTS": "/dev/null", "HEADRACE_SITE": "/dev/null"}
    quiet |= {"HEADRACE_USER": "/dev/null"}
    made = launch(host, RANKS, [program, "write", file, PIECE, PIECES], True, quiet)
    assert made.code == 0, made.explain()
    tracer = ["strace", "-ff", "-y", "-e", CALLS, "-e", "signal=none", "-o", place / "strace"]
    words = [*tracer, program, "read", file, PIECE, PIECES, "headrace_read_path=direct", *hints]
    done = launch(host, RANKS, words, True, quiet)
    if "ptrace" in done.err.lower():
        pytest.skip("strace may not trace here")
    assert done.code == 0 and "wrong 0" in done.out, done.explain()
    logs = [log.read_text(errors="replace") for log in place.glob("strace.*")]
    return [line for text in logs for line in text.splitlines() if f"<{file}>" in line]


@pytest.mark.parametrize(
    ("style", "advice"),
    [("sequential", "SEQUENTIAL"), ("read_once,random", "RANDOM"), ("read_once", None)],
)
def test_access_style_is_advice_to_the_kernel(
    host: Host, library: Path, style: str, advice: str | None
) -> None:
    lines = calls_on_file(host, f"access_style={style}")
    given = [match[1] for line in lines if (match := re.search(r"POSIX_FADV_(\w+)", line))]
    assert given == ([advice] * RANKS if advice else []), lines


def test_romio_ds_read_stops_reading_what_lies_between(host: Host, library: Path) -> None:
    sieved = [line for line in calls_on_file(host) if "pread" in line]
    apart = [line for line in calls_on_file(host, "romio_ds_read=disable") if "pread" in line]
    assert len(sieved) <= 2 * RANKS, sieved
    assert len(apart) == RANKS * PIECES, apart
