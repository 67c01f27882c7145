"""How busy a machine is with other work while something is measured."""

import os
import time
from pathlib import Path

# Above this share of the machine's CPU time, others' work is taken to have been heard.
NOISY_SHARE = 0.05

# The fields of /proc/stat's first line that count time at work; idle and waiting for disks do not.
BUSY_FIELDS = ("user", "nice", "system", "irq", "softirq", "steal")
FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


def busy_seconds(stat: str, ticks: int) -> float:
    """CPU seconds at work since boot, of all processors, as the text of /proc/stat tells."""
    values = dict(zip(FIELDS, map(int, stat.split("\n", 1)[0].split()[1:]), strict=False))
    return sum(values.get(name, 0) for name in BUSY_FIELDS) / ticks


def _machine_seconds() -> float:
    return busy_seconds(Path("/proc/stat").read_text(), os.sysconf("SC_CLK_TCK"))


def _own_seconds() -> float:
    """Of this process and of all that it started and that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class LoadWatch:
    """Watches from its making on."""

    def __init__(self) -> None:
        self._time = time.monotonic()
        self._own = _own_seconds()
        self._machine = _machine_seconds()

    def elapsed(self) -> float:
        return time.monotonic() - self._time

    def others(self) -> float:
        """The share of the machine's CPU time that others than our processes were at work."""
        busy = _machine_seconds() - self._machine - (_own_seconds() - self._own)
        capacity = self.elapsed() * (os.cpu_count() or 1)
        return min(max(busy / capacity, 0.0), 1.0) if capacity > 0 else 0.0
