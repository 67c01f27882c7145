"""GlusterFS for the nodes of a cluster: a disperse volume of three bricks, of which one may fail,
on the node `servers`, and a FUSE mount on each other."""

from __future__ import annotations

import re
import time

from file_system import FileSystem
from processes import CommandFailed, Processes

BRICKS = 3
VOLUME = "spread"
# File operations that `gluster volume profile` counts at the bricks.
_COUNTED = {
    "WRITE": "writes",
    "READ": "reads",
    "FSYNC": "syncs",
    "INODELK": "locks",
    "FINODELK": "locks",
    "XATTROP": "marks",
    "FXATTROP": "marks",
}
_LINE = re.compile(
    r"^\s*[\d.]+\s+[\d.]+ [nu]s\s+[\d.]+ [nu]s\s+[\d.]+ [nu]s\s+(\d+)\s+([A-Z]+)\s*$", re.M
)


class Gluster(FileSystem):
    name = "GlusterFS"
    what = "GlusterFS, disperse volume of 3 bricks, redundancy 1"

    def __init__(self, processes: Processes) -> None:
        super().__init__(processes)
        self._bricks = self._state / "bricks"
        self._socket = self._state / "glusterd.socket"

    def start(self) -> None:
        self._run.tell("GlusterFS: starting its server")
        self._bricks.mkdir()
        on_server = self._run.on_server
        # tmpfs keeps the extended attributes that bricks need; loop devices would outlive a crash.
        on_server(["mount", "-t", "tmpfs", "-o", "size=6g", "tmpfs", self._bricks])
        work = self._state / "work"
        work.mkdir()
        volume_file = self._state / "glusterd.vol"
        volume_file.write_text(
            "volume management\n    type mgmt/glusterd\n"
            f"    option working-directory {work}\n    option run-directory {self._state}\n"
            f"    option glusterd-sockfile {self._socket}\n"
            "    option transport-type socket\n    option transport.address-family inet\n"
            "    option transport.listen-backlog 1024\nend-volume\n"
        )
        log = self._state / "glusterd.log"
        # Sockets and logs that no option moves: nodes share the machine's directories.
        for path in ("/run/gluster", "/var/log/glusterfs"):
            on_server(["mount", "-t", "tmpfs", "tmpfs", path])
        on_server(["glusterd", "-f", volume_file, "-p", self._state / "glusterd.pid", "-l", log])
        self._wait_for_server()
        self._run.tell("GlusterFS: making the volume")
        places = []
        for number in range(BRICKS):
            on_server(["mkdir", "-p", self._bricks / str(number)])
            places.append(f"{self._run.server_address}:{self._bricks / str(number)}")
        self._gluster(f"volume create {VOLUME} disperse {BRICKS} redundancy 1", *places, "force")
        # Clients that keep no data and no attributes: else nodes see each other's writes late.
        for feature in ("write-behind", "io-cache", "quick-read", "read-ahead", "stat-prefetch"):
            self._gluster(f"volume set {VOLUME} performance.{feature} off")
        self._gluster(f"volume start {VOLUME}")
        self._gluster(f"volume profile {VOLUME} start")
        self._run.tell("GlusterFS: mounting it on each node")
        for node in self._run.nodes:
            mount = ["glusterfs", f"--volfile-server={self._run.server_address}"]
            mount += [f"--volfile-id={VOLUME}", f"--log-file={self._state}/{node}.log"]
            self._run.on(
                node, [*mount, "--direct-io-mode=enable", "--attribute-timeout=0", self.mount_point]
            )
        self._wait_for_mounts()

    def _gluster(self, line: str, *more: str) -> str:
        command = ["gluster", "--mode=script", f"--glusterd-sock={self._socket}"]
        return self._run.on_server([*command, *line.split(), *more])

    def _wait_for_server(self) -> None:
        for attempt in range(50):
            try:
                self._gluster("pool list")
                return
            except CommandFailed:
                if attempt == 49:
                    raise
                time.sleep(0.2)

    def _wait_for_mounts(self) -> None:
        for node in self._run.nodes:
            for attempt in range(50):
                try:
                    self._run.on(node, ["touch", self.mount_point / node])
                    break
                except CommandFailed:
                    if attempt == 49:
                        raise
                    time.sleep(0.2)

    def counts(self) -> dict[str, int]:
        """What the bricks have done so far, all together."""
        return counted(self._gluster(f"volume profile {VOLUME} info cumulative"))


def counted(profile: str) -> dict[str, int]:
    """Operations by kind, of all bricks of a `volume profile`."""
    totals = dict.fromkeys(_COUNTED.values(), 0)
    for calls, operation in _LINE.findall(profile):
        if operation in _COUNTED:
            totals[_COUNTED[operation]] += int(calls)
    return totals
