"""What a job leaves running."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

MARKER = "FAULTS_JOB"
PATIENCE = 10


def processes_with(marker: str) -> dict[int, str]:
    """Processes that were started with this mark in their environment, and what they run."""
    wanted = f"{MARKER}={marker}".encode()
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")
        except OSError:
            continue  # gone meanwhile, or not ours
    return found


def strays(marker: str) -> list[str]:
    """Those that do not go away by themselves; they are ended."""
    deadline = time.monotonic() + PATIENCE
    while (left := processes_with(marker)) and time.monotonic() < deadline:
        time.sleep(0.1)
    for number in left:
        try:
            os.kill(number, signal.SIGKILL)
        except ProcessLookupError:
            continue
    return list(left.values())
