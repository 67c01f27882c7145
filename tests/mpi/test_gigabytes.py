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
from test_collectives import ON, shown_by
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


def need_memory() -> None:
    if min(shutil.disk_usage("/dev/shm").free, memory_available()) < 14 << 30:
        absent("less than 14 GiB of memory are free")


@pytest.mark.deep
def test_an_element_of_gigabytes_in_place(host: Host, library) -> None:
    """MPI_Pack cannot count it."""
    with (BUILD / "gigabytes.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        need_memory()
        program = compile_c(host, ["collectives_rules.c"], "collectives_rules")
        own = ON | {"HEADRACE_COLL_AFTER": "0"}
        result = launch(host, 2, [program, "giant"], layered=True, environment=own)
    assert result.code == 0 and result.out.count(": right\n") == 2, result.explain()
    assert "rows" in shown_by(result)["alltoallv"], result.explain()


def move_gigabytes(host: Host, case: str) -> None:
    need_memory()
    program = compile_c(host, SOURCES, "exercise")
    with tempfile.TemporaryDirectory(prefix="pytest-gigabytes-", dir="/dev/shm") as directory:
        arguments = ["--deep", "--only", f"sizes_gigabytes_{case}", directory]
        result = launch(host, 2, [program, *arguments], layered=True)
    assert result.code == 0 and not failed_cases(result), result.explain()
    assert f"case sizes_gigabytes_{case} ok" in result.out, result.explain()
