"""Starts a program on all nodes of an emulated cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from hanging import JOB_SECONDS
from hosts import AS_ROOT, REPOSITORY, YIELD, Host
from running import Result, records, run, work_directory

from .cluster import Cluster

RANKS_PER_NODE = 2


def launch_on_nodes(
    host: Host,
    cluster: Cluster,
    program: list,
    environment: dict[str, str],
    ranks_per_node: int | Sequence[int] = RANKS_PER_NODE,
    timeout: float = JOB_SECONDS,
    wrapper: Sequence[str] = (),
    dealt: bool = False,
) -> Result:
    """`wrapper` is a command that starts the launcher's line: it is put before it. `dealt`: as in
    launcher_line."""
    by_node = (
        [ranks_per_node] * len(cluster.names)
        if isinstance(ranks_per_node, int)
        else list(ranks_per_node)
    )
    # What killed jobs leave goes where each node has it.
    own = records() | {"HEADRACE_RECORD_DIRECTORY": ""}
    words = [f"{key}={value}" for key, value in (own | environment).items()]
    line = launcher_line(host, cluster, by_node, dealt)
    line = cluster.login_command([*line, "env", *words, *program])
    return run([*wrapper, *line], host.environment, timeout)


def launcher_line(
    host: Host, cluster: Cluster, by_node: Sequence[int], dealt: bool = False
) -> list[str]:
    """The launcher and its options that start so many ranks on each node: one node after the other,
    or dealt round, where all have as many."""
    ranks = str(sum(by_node))
    agent = agent_options(host, cluster)
    if host.family.startswith("openmpi"):
        hosts = cluster.host_file(by_node, "{name} slots={ranks}")
        line = [*host.launcher, *agent, "--hostfile", str(hosts), "-n", ranks]
        if dealt:
            line += ["--map-by", "node"]
        elif len(set(by_node)) == 1:
            line += ["--map-by", f"ppr:{by_node[0]}:node"]
        else:
            line += ["--map-by", "slot"]
        return [*line, "-x", "OMPI_MCA_mpi_yield_when_idle"]
    # Hydra begins anew with the first node if more ranks are wanted than a file has.
    own = [1] * len(by_node) if dealt else by_node
    hosts = cluster.host_file(own, "{name}:{ranks}")
    line = [*host.launcher, *agent, hosts_option(host), str(hosts), "-n", ranks]
    return [*line, "-ppn", str(own[0])] if len(set(own)) == 1 else line


def hosts_option(host: Host) -> str:
    """Of hydra. Intel's takes numbers of ranks from a machine file alone."""
    return "-machinefile" if host.family == "intel" else "-f"


def agent_options(host: Host, cluster: Cluster) -> list[str]:
    """What has the launcher start its daemons by the cluster's remote shell."""
    shell = str(cluster.remote_shell)
    if not host.family.startswith("openmpi"):
        return ["-launcher", "ssh", "-launcher-exec", shell]
    name = (
        ["--mca", "plm_rsh_agent"] if host.family == "openmpi4" else ["--prtemca", "plm_ssh_agent"]
    )
    return [*name, shell]


def headrace_environment(host: Host) -> dict[str, str]:
    """Of the command `headrace`, on the switch, where ranks outnumber cores."""
    own = {"HEADRACE_QUIET": "1", "PYTHONPATH": str(REPOSITORY / "python")}
    return {**os.environ, **host.environment, **YIELD, **AS_ROOT, **own}


def launch_ordered(
    host: Host,
    cluster: Cluster,
    sizes: Sequence[int],
    order: str,
    program: list,
    *more: str,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Result:
    """The launcher's usual line, behind `headrace run --rank-order`, with `more` of its options.
    `sizes` are the ranks of each node; `environment` may have an LD_PRELOAD for the ranks."""
    folder = work_directory(f"ordered-{host.name}")
    hosts = folder / "hosts"
    form = "{} slots={}" if host.family.startswith("openmpi") else "{}:{}"
    pairs = zip(cluster.names, sizes, strict=True)
    hosts.write_text("".join(form.format(name, size) + "\n" for name, size in pairs))
    named = "--hostfile" if host.family.startswith("openmpi") else hosts_option(host)
    options = [*agent_options(host, cluster), named, str(hosts)]
    command = [sys.executable, "-m", "headrace", "run", "--rank-order", order, *more]
    line = [*command, *host.launcher, *options, "-n", str(sum(sizes)), *program]
    own = {**host.environment, **YIELD, **AS_ROOT, "HEADRACE_QUIET": "1"}
    own |= {"PYTHONPATH": str(REPOSITORY / "python"), "XDG_CACHE_HOME": str(folder)}
    return run(cluster.login_command(line), own | dict(environment))
