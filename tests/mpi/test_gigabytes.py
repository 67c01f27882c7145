"""More than 2 GiB in one call: cases of the exercise that take so much memory, one at a time."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from pathlib import Path

import pytest
from conftest import absent
from hosts import Host
from running import BUILD, compile_c, launch
from test_exercise import SOURCES, failed_cases


def memory_available() -> int:
    lines = Path("/proc/meminfo").read_text().splitlines()
    found = [line.split() for line in lines if line.startswith("MemAvailable:")]
    return int(found[0][1]) * 1024


@pytest.mark.deep
@pytest.mark.parametrize("case", ["at", "at_all", "nonblocking"])
def test_gigabytes(host: Host, case: str, library) -> None:
    """More than 2 GiB in one call, from and to memory."""
    with (BUILD / "gigabytes.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        move_gigabytes(host, case)


def move_gigabytes(host: Host, case: str) -> None:
    free = min(shutil.disk_usage("/dev/shm").free, memory_available())
    if free < 14 << 30:
        absent("less than 14 GiB of memory are free")
    program = compile_c(host, SOURCES, "exercise")
    with tempfile.TemporaryDirectory(prefix="pytest-gigabytes-", dir="/dev/shm") as directory:
        arguments = ["--deep", "--only", f"sizes_gigabytes_{case}", directory]
        result = launch(host, 2, [program, *arguments], layered=True)
    assert result.code == 0 and not failed_cases(result), result.explain()
    assert f"case sizes_gigabytes_{case} ok" in result.out, result.explain()
