"""A file system of the kernel's FUSE that fails as it is told to (programs/fuse_store.c)."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hanging import PATIENCE
from running import C_FLAGS, compile_program

NO_FUSE = 77
SOURCES = ["fuse_store.c", "fuse_tree.c", "fuse_fault.c"]


@contextmanager
def mounted_store(at: Path, *options: str) -> Iterator[Path]:
    """Skips where the machine has no FUSE, or lets nobody mount it."""
    at.mkdir()
    program = compile_program(["gcc"], SOURCES, "fuse_store", C_FLAGS)
    serving = subprocess.Popen([program, at, *options], stdout=subprocess.PIPE, text=True)
    try:
        told = serving.stdout.readline().strip()
        if told != "ready":
            pytest.skip(f"this machine mounts no FUSE ({told or 'no word of it'})")
        yield at
    finally:
        _unmount(at)
        serving.wait(PATIENCE)
        serving.stdout.close()


def _unmount(at: Path) -> None:
    """Who was killed may still be leaving."""
    deadline = time.monotonic() + PATIENCE
    while _is_mounted(at):
        if subprocess.run(["umount", at], capture_output=True).returncode == 0:
            return
        if time.monotonic() > deadline:
            subprocess.run(["umount", "-l", at], check=True)
            raise AssertionError(f"{at} is still in use: something was left behind")
        time.sleep(0.1)


def _is_mounted(at: Path) -> bool:
    """Asks no file system: it may be gone."""
    return any(line.split()[1] == str(at) for line in Path("/proc/mounts").open())


def abort_file(at: Path) -> Path:
    """Writing to it breaks the connection: all calls fail from then on."""
    connections = Path("/sys/fs/fuse/connections")
    path = connections / str(os.minor(at.stat().st_dev)) / "abort"
    if not path.exists():
        subprocess.run(["mount", "-t", "fusectl", "fusectl", connections], capture_output=True)
    if not path.exists():
        pytest.skip("this machine does not let FUSE connections be broken (no fusectl)")
    return path
