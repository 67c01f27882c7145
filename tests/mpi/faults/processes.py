"""What a job leaves running."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from hanging import PATIENCE

from headrace.bench.promises.trial import processes_with

MARKER = "FAULTS_JOB"


def strays(marker: str) -> list[str]:
    """What the job's processes run that do not go away by themselves; they are ended."""
    deadline = time.monotonic() + PATIENCE
    while (left := processes_with(MARKER, marker)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return [_end(process) for process in left]


def _end(process: int) -> str:
    try:
        command = Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
        os.kill(process, signal.SIGKILL)
    except (OSError, ProcessLookupError):
        return f"process {process}"
    return command
