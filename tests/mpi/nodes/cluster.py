"""Several cluster nodes emulated on one Linux machine, for tests. Needs root.

A node is a set of namespaces (network, UTS, IPC, mount, PID) with a host name, a boot id, /dev/shm
and /tmp of its own, and a network card on a switch that reaches nothing else. The file system is
the machine's, so it is shared by all nodes, as a cluster's is. Launchers are started in the
namespaces of the switch.

    with Cluster(2) as cluster:
        cluster.login_command(["mpiexec", ...])    # a command line that runs it on the switch
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

from hanging import PATIENCE

NETWORK = "10.98.0"
CHECKOUT = Path(__file__).resolve().parents[3]
_NODE_SETUP = """
set -e
hostname {name}
mount -t tmpfs -o size=1g tmpfs /dev/shm
# A checkout below /tmp stays where it is, in the node's own /tmp.
mkdir -p {state}/checkout
mount --bind {checkout} {state}/checkout
mount -t tmpfs -o size=1g tmpfs /tmp
[ -d {checkout} ] || {{ mkdir -p {checkout} && mount --bind {state}/checkout {checkout}; }}
mount -t sysfs sysfs /sys
mount --bind {state}/hosts /etc/hosts
mount --bind {state}/{name}.boot_id /proc/sys/kernel/random/boot_id
[ ! -e /etc/machine-id ] || mount --bind {state}/{name}.machine_id /etc/machine-id
touch {state}/{name}.ready
while :; do sleep 3600 & wait $!; done
"""
_SWITCH_SETUP = """
set -e
hostname login
mount -t tmpfs tmpfs /dev/shm
mount --bind {state}/hosts /etc/hosts
ip link set lo up
ip link add switch0 type bridge
ip addr add {network}.1/24 dev switch0
ip link set switch0 up
touch {state}/login.ready
exec sleep infinity
"""


class Cluster:
    """`node_count` nodes named n0, n1, ...; gone, whatever happened, at the end of the block.

    `servers` are further nodes, on which no ranks are started.
    """

    def __init__(self, node_count: int, servers: Sequence[str] = ()) -> None:
        self.names = [f"n{number}" for number in range(node_count)]
        self.servers = list(servers)
        # Not below /tmp: nodes have a /tmp of their own.
        self.state = Path(tempfile.mkdtemp(prefix="nodes-", dir="/run"))
        self._holders: dict[str, subprocess.Popen] = {}
        self._pids: dict[str, int] = {}

    def __enter__(self) -> Cluster:
        try:
            self._write_hosts()
            self._start("login", _SWITCH_SETUP, ["-n", "-u", "-i", "-m"])
            self._pids["login"] = self._holders["login"].pid
            for number, name in enumerate(self._all_names()):
                self._start_node(number, name)
            self._write_remote_shell()
        except BaseException:
            self.down()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.down()

    def down(self) -> None:
        """Ends every process of every node; the kernel then takes the namespaces away."""
        for name, pid in self._pids.items():
            if name != "login":
                self._kill(pid)  # PID 1 of the node: all others there go with it
        for holder in self._holders.values():
            self._kill(holder.pid)
            holder.wait()
        self._holders.clear()
        self._pids.clear()
        shutil.rmtree(self.state, ignore_errors=True)

    def _all_names(self) -> list[str]:
        return [*self.names, *self.servers]

    def address(self, name: str) -> str:
        return f"{NETWORK}.{10 + self._all_names().index(name)}"

    @staticmethod
    def _kill(pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def _write_hosts(self) -> None:
        lines = ["127.0.0.1 localhost", f"{NETWORK}.1 login"]
        lines += [f"{self.address(name)} {name}" for name in self._all_names()]
        (self.state / "hosts").write_text("\n".join(lines) + "\n")

    def _start(self, name: str, script: str, namespaces: list[str]) -> None:
        text = script.format(
            state=self.state, name=name, network=NETWORK, checkout=shlex.quote(str(CHECKOUT))
        )
        self._holders[name] = subprocess.Popen(
            ["unshare", *namespaces, "--", "bash", "-c", text],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if (self.state / f"{name}.ready").exists():
                return
            if self._holders[name].poll() is not None:
                break
            time.sleep(0.02)
        self._kill(self._holders[name].pid)
        text = self._holders[name].stderr.read().decode()
        raise RuntimeError(f"node {name} did not start: {text}")

    def _start_node(self, number: int, name: str) -> None:
        boot_id = str(uuid.uuid4())
        (self.state / f"{name}.boot_id").write_text(boot_id + "\n")
        (self.state / f"{name}.machine_id").write_text(boot_id.replace("-", "") + "\n")
        options = ["-n", "-u", "-i", "-m", "-p", "--fork", "--kill-child", "--mount-proc"]
        self._start(name, _NODE_SETUP, options)
        holder = self._holders[name].pid
        children = Path(f"/proc/{holder}/task/{holder}/children").read_text().split()
        self._pids[name] = int(children[0])
        self._connect(number, name)

    def _connect(self, number: int, name: str) -> None:
        pid, port = self._pids[name], f"port{number}"
        inside = ["nsenter", "-t", str(pid), "-n"]
        switch = ["nsenter", "-t", str(self._pids["login"]), "-n"]
        for line in (
            [*switch, *f"ip link add {port} type veth peer name eth0 netns {pid}".split()],
            [*switch, *f"ip link set {port} master switch0 up".split()],
            [*inside, *["ip", "link", "set", "lo", "up"]],
            [*inside, *f"ip addr add {self.address(name)}/24 dev eth0".split()],
            [*inside, *["ip", "link", "set", "eth0", "up"]],
        ):
            subprocess.run(line, check=True, capture_output=True)

    def _write_remote_shell(self) -> None:
        """In place of ssh: `rsh [options] NODE COMMAND...`."""
        cases = "\n".join(
            f"  {name}) exec nsenter -t {self._pids[name]} -m -u -i -n -p "
            f'--wdns="$PWD" -- /bin/sh -c "$*" ;;'
            for name in self._all_names()
        )
        self.remote_shell.write_text(
            "#!/bin/bash\n"
            'while [ "${1#-}" != "$1" ]; do\n'
            "  case $1 in -l|-p|-o|-i|-F) shift 2 ;; *) shift ;; esac\n"
            "done\n"
            "host=${1#*@}; shift\n"
            f'case $host in\n{cases}\n  *) echo "no node $host" >&2; exit 1 ;;\nesac\n'
        )
        self.remote_shell.chmod(0o755)

    @property
    def remote_shell(self) -> Path:
        return self.state / "rsh"

    def host_file(self, ranks: Sequence[int], form: str) -> Path:
        """`ranks` by node. `form` is "n0:2" (hydra's) or "n0 slots=2" (Open MPI's), with {name} and
        {ranks}."""
        path = self.state / f"hosts-{'-'.join(map(str, ranks))}-{len(form)}"
        lines = [
            form.format(name=name, ranks=own) for name, own in zip(self.names, ranks, strict=True)
        ]
        path.write_text("\n".join(lines) + "\n")
        return path

    def login_command(self, command: list) -> list[str]:
        words = [str(word) for word in command]
        pid = str(self._pids["login"])
        return ["nsenter", "-t", pid, "-m", "-u", "-i", "-n", f"--wdns={os.getcwd()}", "--", *words]

    def node_command(self, name: str, command: list) -> list[str]:
        return [str(self.remote_shell), name, shlex.join(str(word) for word in command)]

    def sent_bytes(self) -> int:
        """What the nodes have put on the wire so far, as their ports at the switch have counted."""
        line = ["nsenter", "-t", str(self._pids["login"]), "-n", "ip", "-j", "-s", "link", "show"]
        done = subprocess.run(line, capture_output=True, text=True, check=True)
        ports = [one for one in json.loads(done.stdout) if one["ifname"].startswith("port")]
        return sum(one["stats64"]["rx"]["bytes"] for one in ports)

    def limit(self, rate: str) -> None:
        """Lets each node send no faster than that, such as 200mbit."""
        for name in self._all_names():
            inside = ["nsenter", "-t", str(self._pids[name]), "-n", "tc", "qdisc", "add", "dev"]
            words = f"eth0 root tbf rate {rate} burst 64kb latency 50ms".split()
            subprocess.run([*inside, *words], check=True, capture_output=True)

    def node_listing(self, name: str) -> set[str]:
        """Names in the node's /dev/shm and /tmp."""
        line = self.node_command(name, ["ls", "-A", "/dev/shm", "/tmp"])
        done = subprocess.run(line, capture_output=True, text=True, check=True)
        return set(done.stdout.split())
