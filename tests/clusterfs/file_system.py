"""What the file systems of a run have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod

from processes import Processes


class FileSystem(ABC):
    """Its servers run on the node `servers`; `mount_point` is the same on each other node."""

    name: str
    what: str

    def __init__(self, processes: Processes) -> None:
        self._run = processes
        self._state = processes.state("server-state")
        self.mount_point = processes.state(self.name.lower())

    @abstractmethod
    def start(self) -> None:
        """Servers and mounts. They end with the cluster."""

    @abstractmethod
    def counts(self) -> dict[str, int]:
        """What the servers have done so far, by kind of operation."""
