"""Ranks whose pieces take turns in a file, and what nodes must send each other to move them when
each window of the file belongs to one node: counted here piece by piece."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class StridedJob:
    """Neighbours in rank order share a node."""

    nodes: int
    ranks_per_node: int
    leaders: int = 1  #: of each node, among whom windows are shared out

    PIECE = 10_000
    SEGMENTS = 60
    WINDOW = 262_144

    def bytes(self) -> int:
        return self.nodes * self.ranks_per_node * self.PIECE * self.SEGMENTS

    @cached_property
    def _parts(self) -> dict[tuple[int, int], int]:
        """Bytes of a node in a window of another's."""
        parts: dict[tuple[int, int], int] = {}
        ranks = self.nodes * self.ranks_per_node
        for begin in range(0, self.bytes(), self.PIECE):
            node = begin // self.PIECE % ranks // self.ranks_per_node
            at, end = begin, begin + self.PIECE
            while at < end:
                window = at // self.WINDOW
                here = min(end, (window + 1) * self.WINDOW) - at
                if window % self.nodes != node:
                    parts[node, window] = parts.get((node, window), 0) + here
                at += here
        return parts

    def payload(self) -> int:
        return sum(self._parts.values())

    def messages(self, way: str) -> int:
        """Leaders meet (each sends to log2 of their number) and agree that all are ready (as many).
        Written, a message for each part, or for two with the same owner in a block of windows of
        which each owner has two; and a word from each owner to each node. Read, a request for each
        part and an answer."""
        meeting = 2 * self.nodes * (self.nodes - 1).bit_length()
        if way == "read":
            return meeting + 2 * len(self._parts)
        owners = self.nodes * self.leaders
        to_owners = {(node, window % owners) for node, window in self._parts}
        joined = {(node, window % owners, window // (2 * owners)) for node, window in self._parts}
        return meeting + len(joined) + len(to_owners)
