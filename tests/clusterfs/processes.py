"""Runs commands on the nodes of a cluster and says what is being done."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from nodes.cluster import Cluster

SERVER = "servers"
SECONDS = 60


class CommandFailed(RuntimeError):
    pass


class Processes:
    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.nodes = cluster.names
        self.server_address = cluster.address(SERVER)
        self._begin = time.monotonic()

    def tell(self, text: str) -> None:
        print(f"[{time.monotonic() - self._begin:5.1f} s] {text}", file=sys.stderr, flush=True)

    def state(self, name: str) -> Path:
        """A directory that all nodes see and that goes with the cluster."""
        path = self.cluster.state / name
        path.mkdir()
        return path

    def on_server(self, command: Sequence, seconds: float = SECONDS) -> str:
        return self.on(SERVER, command, seconds)

    def on(self, node: str, command: Sequence, seconds: float = SECONDS) -> str:
        """Runs it to its end, or until it has gone into the background. Returns what it printed."""
        line = self.cluster.node_command(node, list(command))
        # A file, not a pipe: what stays in the background would keep a pipe open.
        log = self.cluster.state / "command.log"
        with log.open("w+") as output:
            try:
                code = subprocess.run(
                    line, stdin=subprocess.DEVNULL, stdout=output, stderr=output, timeout=seconds
                ).returncode
            except subprocess.TimeoutExpired:
                code = f"none in {seconds} s"
            output.seek(0)
            text = output.read()
        if code != 0:
            words = " ".join(str(word) for word in command)
            raise CommandFailed(f"on {node}: {words}\nexit code {code}\n{text[-3000:]}")
        return text
