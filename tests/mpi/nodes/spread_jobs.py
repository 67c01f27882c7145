"""Jobs of programs/spread.c on emulated nodes: what the nodes send in calls of an operation, as
their ports at the switch have counted."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hanging import JOB_SECONDS
from hosts import Host
from running import Result, compile_c, preload, shared_object, work_directory
from test_collectives import ON

from .cluster import Cluster
from .launching import launch_on_nodes

OPERATIONS = ("allgather", "allgatherv", "reduce_scatter", "reduce_scatter_block")
NOTHING = ("none", 8, 0)

Calls = tuple[str, int, int]
"""Operation, bytes of a rank's block, how many calls."""


@dataclass(frozen=True)
class Layout:
    """sizes: ranks of each node. dealt: one rank to each node in turn."""

    sizes: tuple[int, ...]
    dealt: bool = False

    def __str__(self) -> str:
        return "+".join(map(str, self.sizes)) + (" dealt" if self.dealt else "")

    def node_of_rank(self) -> list[int]:
        nodes = [node for node, size in enumerate(self.sizes) for _ in range(size)]
        return [rank % len(self.sizes) for rank in range(len(nodes))] if self.dealt else nodes

    def least(self, calls: Calls) -> int:
        """Bytes that a node must get from others: all blocks of other nodes, or for each of its
        ranks a sum of each other node."""
        _, size, _ = calls
        ranks = sum(self.sizes)
        if calls[0].startswith("reduce"):
            return sum(own * (len(self.sizes) - 1) * size for own in self.sizes)
        return sum((ranks - own) * size for own in self.sizes)


class _Ports:
    """Reads the ports whenever rank 0 says that all ranks wait."""

    def __init__(self, cluster: Cluster, folder: Path, count: int) -> None:
        self.sent: list[int] = []  # between the begin and the end of each argument
        self._cluster, self._folder, self._count = cluster, folder, count
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> _Ports:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        for number in range(self._count):
            begin, end = self._read_at(f"{number}.begin"), self._read_at(f"{number}.end")
            if begin is not None and end is not None:
                self.sent.append(end - begin)

    def _read_at(self, name: str) -> int | None:
        deadline = time.monotonic() + JOB_SECONDS
        while not (self._folder / name).exists():
            if self._stop.is_set() or time.monotonic() > deadline:
                return None
            time.sleep(0.002)
        sent = self._cluster.sent_bytes()
        (self._folder / f"{name}.seen").touch()
        return sent


def count_sent(
    host: Host, cluster: Cluster, layout: Layout, use: str, library: Path, cells: Sequence[Calls]
) -> tuple[list[float], Result]:
    """Bytes that nodes send in one call of each cell, and the job's end. use: 1 with all operations
    that the layer carries out, 0 with the library's."""
    folder = work_directory(f"spread-{host.name}-{layout}-{use}".replace(" ", "-"))
    shim = [shared_object("yield_shim.c")] if host.family.startswith("mpich") else []
    wanted = [NOTHING, *cells]
    words = [":".join(map(str, one)) for one in wanted]
    with _Ports(cluster, folder, len(wanted)) as ports:
        result = launch_on_nodes(
            host,
            cluster,
            [compile_c(host, ["spread.c"], "spread"), folder, *words],
            preload([*shim, library]) | ON | {"HEADRACE_COLLECTIVES": use},
            layout.sizes,
            dealt=layout.dealt,
        )
    assert result.code == 0, result.explain()
    right = re.findall(r"^rank (\d+) right on n(\d+)$", result.out, re.MULTILINE)
    places = list(enumerate(layout.node_of_rank()))
    assert sorted((int(rank), int(node)) for rank, node in right) == places, result.explain()
    aside, *sent = ports.sent
    return [(one - aside) / calls for one, (_, _, calls) in zip(sent, cells, strict=True)], result
