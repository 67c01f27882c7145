"""How busy the cores that we may use are with other work while something is measured."""

import os
import time
from collections.abc import Collection
from pathlib import Path

# Above this share of the CPU time, others' work is taken to have been heard.
NOISY_SHARE = 0.05

# The fields of a line of /proc/stat that count time at work; idle and waiting for disks do not.
BUSY_FIELDS = ("user", "nice", "system", "irq", "softirq", "steal")
FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


def busy_seconds(stat: str, ticks: int, processors: Collection[int] = ()) -> float:
    """CPU seconds at work since boot, of these processors or of all where none is named, as the
    text of /proc/stat tells."""
    names = {f"cpu{number}" for number in processors} or {"cpu"}
    lines = [line.split() for line in stat.splitlines()]
    values = [
        dict(zip(FIELDS, map(int, words[1:]), strict=False))
        for words in lines
        if words and words[0] in names
    ]
    return sum(one.get(name, 0) for one in values for name in BUSY_FIELDS) / ticks


def _own_seconds() -> float:
    """Of this process and of all that it started and that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class LoadWatch:
    """Watches from its making on. What others do on cores that a batch job has not got does not
    count."""

    def __init__(self) -> None:
        self._processors = os.sched_getaffinity(0)
        self._time = time.monotonic()
        self._own = _own_seconds()
        self._busy = self._busy_seconds()

    def _busy_seconds(self) -> float:
        stat = Path("/proc/stat").read_text()
        return busy_seconds(stat, os.sysconf("SC_CLK_TCK"), self._processors)

    def elapsed(self) -> float:
        return time.monotonic() - self._time

    def others(self) -> float:
        """The share of these cores' time that others than our processes were at work."""
        busy = self._busy_seconds() - self._busy - (_own_seconds() - self._own)
        capacity = self.elapsed() * len(self._processors)
        return min(max(busy / capacity, 0.0), 1.0) if capacity > 0 else 0.0
