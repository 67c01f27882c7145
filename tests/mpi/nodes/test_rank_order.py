"""`headrace run --rank-order` on four emulated nodes: ranks are where the order puts them."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import absent
from hosts import AS_ROOT, REPOSITORY, YIELD, Host, host_named
from running import Result, compile_c, run, work_directory

from headrace.place import order_file, orders

from .cluster import Cluster

SIZES = [2, 2, 2, 2]
UNEQUAL = [3, 1, 2, 2]
SHUFFLED = "5,0,,7 # the first node and a half\n\n6-6,3-1,4\n"


@pytest.fixture(scope="module")
def cluster():
    if os.geteuid() != 0:
        absent("emulated nodes need root")
    with Cluster(4) as nodes:
        yield nodes


def launch_ordered(
    host: Host, cluster: Cluster, sizes: list[int], order: str, program: list, *more: str
) -> Result:
    """The launcher's usual line, behind `headrace run --rank-order`."""
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
    environment = {**host.environment, **YIELD, **AS_ROOT, "HEADRACE_QUIET": "1"}
    environment |= {"PYTHONPATH": str(REPOSITORY / "python"), "XDG_CACHE_HOME": str(folder)}
    return run(cluster.login_command(line), environment)


def nodes_of(result: Result) -> list[int]:
    assert result.code == 0, result.explain()
    found = dict(re.findall(r"^rank (\d+) on n(\d+)$", result.out, re.MULTILINE))
    return [int(found[str(rank)]) for rank in range(len(found))]


@pytest.mark.parametrize("sizes", [SIZES, UNEQUAL], ids=["equal", "unequal"])
@pytest.mark.parametrize("order", ["0", "1", "2", "file"])
@pytest.mark.parametrize("name", ["mpich", "mpich-abi", "intel", "openmpi", "debian-openmpi"])
def test_ranks_are_where_the_order_puts_them(
    name: str, order: str, sizes: list[int], cluster: Cluster, library: Path
) -> None:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    program = compile_c(host, ["placed.c"], "placed")
    if order == "file":
        path = work_directory(f"ordered-file-{name}") / "order"
        path.write_text(SHUFFLED)
        places = order_file.parse(SHUFFLED, 8)
        order = str(path)
    else:
        places = orders.numbered(order, sizes)
    result = launch_ordered(host, cluster, sizes, order, [program])
    assert nodes_of(result) == orders.nodes(places, sizes).tolist(), result.explain()
    assert np.bincount(nodes_of(result)).tolist() == sizes


def test_a_launcher_without_orders_starts_nothing(cluster: Cluster, library: Path) -> None:
    host = host_named("debian-mpich")
    if host.missing:
        absent(host.missing)
    program = compile_c(host, ["placed.c"], "placed")
    result = launch_ordered(host, cluster, SIZES, "2", [program])
    assert result.code == 2
    assert "takes no rank order" in result.err
    assert "rank" not in result.out


def test_the_order_is_told_before_the_run(cluster: Cluster, library: Path) -> None:
    host = host_named("mpich")
    program = compile_c(host, ["placed.c"], "placed")
    result = launch_ordered(host, cluster, SIZES, "2", [program], "--dry-run")
    assert result.code == 0, result.explain()
    assert "-rankmap '(0,3,1),(3,1,2),2,1,0'" in result.out
    assert "n0: ranks 0,7\n" in result.err
    assert result.err.splitlines()[-1].endswith("n3: ranks 3,4")
