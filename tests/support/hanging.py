"""What hangs is ended, with all that it has started; nothing is ended for being slow.

The limits are many times what anything takes, so that no machine is too slow and none too busy.
pyproject.toml has the one of a case.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Set
from pathlib import Path

JOB_SECONDS = 600
"""For one program, or one job of a few seconds."""

PATIENCE = 120
"""For what comes about by itself in a moment."""


def processes_below(process: int) -> set[int]:
    """What it has started, and what these have started, whatever session or group they are in."""
    found: set[int] = set()
    left = [process]
    while left:
        started = _children(left.pop()) - found
        found |= started
        left += started
    return found


def _children(process: int) -> set[int]:
    children: set[int] = set()
    for path in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # the thread has ended meanwhile
            children |= {int(word) for word in path.read_text().split()}
    return children


def end_processes(processes: Set[int]) -> None:
    """At once. Those that have ended are no error."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def is_running(process: int) -> bool:
    """False also for one that has ended and that nobody has waited for."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2]
    except OSError:
        return False
    return state.split()[0] not in "ZX"
