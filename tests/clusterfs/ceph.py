"""CephFS for the nodes of a cluster: its servers on the node `servers`, a ceph-fuse on each other.

Three object stores in memory hold an erasure-coded pool (k=2, m=1) and nothing else, so that what
they count is what files cost; metadata lies on a fourth.
"""

from __future__ import annotations

import json
import socket
import struct
import time
import uuid
from pathlib import Path

from file_system import FileSystem
from processes import CommandFailed, Processes

DATA_STORES = 3
METADATA_STORE = 3
STORE_BYTES = 4 << 30
_CONFIGURATION = """
[global]
fsid = {fsid}
mon_host = {address}
public_network = {network}
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_autoscale_mode = off
mon_allow_pool_size_one = true
mon_warn_on_pool_no_redundancy = false
osd_crush_chooseleaf_type = 0
osd_class_update_on_start = false
osd_crush_update_on_start = false
osd_scrub_begin_hour = 0
osd_max_scrubs = 0
bluestore_block_size = {store_bytes}
bluestore_fsck_on_mount = false
osd_memory_target = 939524096
mds_cache_memory_limit = 268435456
run_dir = {state}
admin_socket = {state}/$name.asok
pid_file =
log_file = {state}/$name.log
mon_data = {data}/mon
osd_data = {data}/osd$id
mds_data = {data}/mds
keyring = {state}/keyring
[osd]
osd_objectstore = bluestore
[osd.{metadata}]
osd_objectstore = memstore
memstore_device_bytes = 1073741824
[client]
admin_socket =
log_file = {state}/client.$pid.log
fuse_disable_pagecache = true
"""


class Ceph(FileSystem):
    name = "CephFS"
    what = "CephFS, erasure-coded pool 2+1, three bluestores in memory"

    def __init__(self, processes: Processes) -> None:
        super().__init__(processes)
        self._data = self._state / "data"

    def start(self) -> None:
        self._run.tell("CephFS: starting a monitor")
        self._data.mkdir()
        self._run.on_server(["mount", "-t", "tmpfs", "-o", "size=14g", "tmpfs", self._data])
        # The monitor's log of the whole cluster, which no option moves.
        self._run.on_server(["mount", "-t", "tmpfs", "tmpfs", "/var/log/ceph"])
        fsid = str(uuid.uuid4())
        address = self._run.server_address
        text = _CONFIGURATION.format(
            fsid=fsid,
            address=address,
            network=address.rsplit(".", 1)[0] + ".0/24",
            state=self._state,
            data=self._data,
            store_bytes=STORE_BYTES,
            metadata=METADATA_STORE,
        )
        (self._state / "ceph.conf").write_text(text)
        self._start_monitor(fsid, address)
        for number in range(DATA_STORES + 1):
            self._run.tell(f"CephFS: starting object store {number}")
            self._start_store(number)
        self._run.tell("CephFS: making pools and the file system")
        self._make_pools()
        self._daemon("ceph-mds", "a")
        self._wait_for("mds stat", "up:active")
        self._run.tell("CephFS: mounting it on each node")
        for node in self._run.nodes:
            self._run.on(
                node, ["ceph-fuse", *self._options(), "-n", "client.admin", self.mount_point]
            )
        # Files go to the erasure-coded pool.
        self._run.on(
            self._run.nodes[0],
            ["setfattr", "-n", "ceph.dir.layout.pool", "-v", "coded", self.mount_point],
        )

    def _options(self) -> list:
        return ["-c", self._state / "ceph.conf"]

    def _daemon(self, program: str, name: str) -> None:
        """In the background of the server's node; it ends with the node."""
        self._run.on_server([program, *self._options(), "-i", name])

    def _ceph(self, line: str) -> str:
        """A busy monitor now and then refuses a client before it has said what it wants."""
        command = ["ceph", *self._options(), "--connect-timeout", 20, *line.split()]
        for _ in range(20):
            try:
                return self._run.on_server(command)
            except CommandFailed as refused:
                if "getting command descriptions" not in str(refused):
                    raise
                time.sleep(0.5)
        return self._run.on_server(command)

    def _start_monitor(self, fsid: str, address: str) -> None:
        keyring = self._state / "keyring"
        all_of = ["mon", "osd", "mds", "mgr"]
        caps = [word for part in all_of for word in ("--cap", part, "allow *")]
        make = ["ceph-authtool", keyring]
        self._run.on_server([*make, "--create-keyring", "--gen-key", "-n", "mon.", *caps[:3]])
        self._run.on_server([*make, "--gen-key", "-n", "client.admin", *caps])
        map_ = self._state / "monmap"
        line = ["monmaptool", "--create", "--fsid", fsid, "--add", "a", f"{address}:6789", map_]
        self._run.on_server(line)
        monitor = ["ceph-mon", *self._options(), "--mkfs", "-i", "a", "--monmap", map_]
        self._run.on_server([*monitor, "--keyring", keyring])
        self._daemon("ceph-mon", "a")

    def _start_store(self, number: int) -> None:
        (fsid, data) = (str(uuid.uuid4()), self._data / f"osd{number}")
        self._ceph(f"osd new {fsid}")
        self._run.on_server(["mkdir", "-p", data])
        make = ["ceph-osd", *self._options(), "-i", number, "--mkfs", "--osd-uuid", fsid]
        self._run.on_server(make)
        kind = "metadata" if number == METADATA_STORE else "data"
        self._daemon("ceph-osd", str(number))
        self._ceph(f"osd crush add osd.{number} 1.0 root=default host=host{number}")
        self._ceph(f"osd crush set-device-class {kind} osd.{number}")

    def _make_pools(self) -> None:
        for line in (
            "osd crush rule create-replicated metadata default osd metadata",
            "osd erasure-code-profile set coded k=2 m=1 crush-failure-domain=osd "
            "crush-device-class=data",
            "osd pool create meta 8 8 replicated metadata",
            "osd pool create plain 8 8 replicated metadata",
            "osd pool create coded 16 16 erasure coded",
            "osd pool set coded allow_ec_overwrites true",
            "fs new cephfs meta plain",
            "fs add_data_pool cephfs coded",
        ):
            self._ceph(line)

    def _wait_for(self, question: str, answer: str) -> None:
        for _ in range(100):
            if answer in self._ceph(question):
                return
            time.sleep(0.3)
        raise RuntimeError(f"Ceph did not get ready ({question} never said {answer})")

    def counts(self) -> dict[str, int]:
        """What the three stores of file data have done so far."""
        totals = dict.fromkeys(("writes", "reads", "object-store reads"), 0)
        for number in range(DATA_STORES):
            counters = ask(self._state / f"osd.{number}.asok", "perf dump")
            totals["writes"] += counters["osd"]["op_w"]
            totals["reads"] += counters["osd"]["op_r"]
            totals["object-store reads"] += counters["bluestore"]["read_lat"]["avgcount"]
        return totals


def ask(admin_socket: Path, command: str) -> dict:
    """What `ceph daemon` asks, without starting a Python for it."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(admin_socket))
        connection.sendall(json.dumps({"prefix": command}).encode() + b"\0")
        with connection.makefile("rb") as answer:
            size = struct.unpack(">I", answer.read(4))[0]
            return json.loads(answer.read(size))
