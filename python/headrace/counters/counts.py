"""The counts of a record, by rank."""

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass

from headrace.record.tables import Record

NO_CODE = errno.ENODATA  # as src/profile has it
_NO_COUNTER = (errno.ENOENT, errno.ENODEV, errno.ENXIO, errno.EINVAL, errno.EOPNOTSUPP)


@dataclass(frozen=True)
class Count:
    """error: 0, or the system's number for why it was not counted. enabled, running, wall: ns."""

    event: str
    error: int
    count: int
    enabled: int
    running: int
    wall: int

    @property
    def value(self) -> float | None:
        """Of the whole time, scaled up if events took turns; None: not known."""
        if self.error or not self.wall:
            return None
        if self.running >= self.enabled:
            return self.count
        return self.count * self.enabled / self.running if self.running else None

    @property
    def is_scaled(self) -> bool:
        return not self.error and 0 < self.running < self.enabled

    @property
    def why_not(self) -> str:
        """Why the value is not known; "" if it is."""
        if self.error == NO_CODE:
            return "the event has no known code on this processor"
        if self.error in _NO_COUNTER:
            return "the machine has no such counter"
        if self.error in (errno.EACCES, errno.EPERM):
            return "no permission"
        if self.error:
            return os.strerror(self.error).lower()
        return "" if self.value is not None else "it never had a counter"


def counts_of(record: Record) -> Mapping[int, tuple[Count, ...]]:
    """By rank, in the order of ranks; events in the order of the group."""
    found: dict[int, list[Count]] = {}
    for node in record.nodes:
        names = node.texts_of("counters", "event")
        rows = node["counters"].rows("rank", "error", "count", "enabled", "running", "wall")
        for name, (rank, *numbers) in zip(names, rows, strict=True):
            found.setdefault(rank, []).append(Count(name, *numbers))
    return {rank: tuple(found[rank]) for rank in sorted(found)}
