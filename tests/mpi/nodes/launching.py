"""Starts a program on all nodes of an emulated cluster."""

from __future__ import annotations

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
) -> Result:
    """`wrapper` is a command that starts the launcher's line: it is put before it."""
    by_node = (
        [ranks_per_node] * len(cluster.names)
        if isinstance(ranks_per_node, int)
        else list(ranks_per_node)
    )
    ranks = str(sum(by_node))
    # What killed jobs leave goes where each node has it.
    own = records() | {"HEADRACE_RECORD_DIRECTORY": ""}
    words = [f"{key}={value}" for key, value in (own | environment).items()]
    if host.family.startswith("openmpi"):
        hosts = cluster.host_file(by_node, "{name} slots={ranks}")
        agent = ["--prtemca", "plm_ssh_agent"]
        if host.family == "openmpi4":
            agent = ["--mca", "plm_rsh_agent"]
        line = [*host.launcher, *agent, cluster.remote_shell, "--hostfile", hosts, "-n", ranks]
        if len(set(by_node)) == 1:
            line += ["--map-by", f"ppr:{by_node[0]}:node"]
        else:
            line += ["--map-by", "slot"]
        line += ["-x", "OMPI_MCA_mpi_yield_when_idle"]
    else:
        hosts = cluster.host_file(by_node, "{name}:{ranks}")
        line = [*host.launcher, "-launcher", "ssh", "-launcher-exec", cluster.remote_shell]
        # Intel's takes numbers of ranks from a machine file alone.
        line += ["-machinefile" if host.family == "intel" else "-f", hosts, "-n", ranks]
        line += ["-ppn", str(by_node[0])] if len(set(by_node)) == 1 else []
    line = cluster.login_command([*line, "env", *words, *program])
    return run([*wrapper, *line], host.environment, timeout)


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
    shell = str(cluster.remote_shell)
    if host.family.startswith("openmpi"):
        agent = ["--mca", "plm_rsh_agent"] if host.family == "openmpi4" else []
        agent = agent or ["--prtemca", "plm_ssh_agent"]
        options = [*agent, shell, "--hostfile", str(hosts)]
    else:
        options = ["-launcher", "ssh", "-launcher-exec", shell, "-f", str(hosts)]
    command = [sys.executable, "-m", "headrace", "run", "--rank-order", order, *more]
    line = [*command, *host.launcher, *options, "-n", str(sum(sizes)), *program]
    own = {**host.environment, **YIELD, **AS_ROOT, "HEADRACE_QUIET": "1"}
    own |= {"PYTHONPATH": str(REPOSITORY / "python"), "XDG_CACHE_HOME": str(folder)}
    return run(cluster.login_command(line), own | dict(environment))
