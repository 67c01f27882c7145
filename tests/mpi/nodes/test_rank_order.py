"""`headrace run --rank-order` on four emulated nodes: ranks are where the order puts them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from conftest import absent
from hosts import host_named
from running import Result, compile_c, work_directory

from headrace.place import order_file, orders

from .cluster import Cluster
from .launching import launch_ordered

SIZES = [2, 2, 2, 2]
UNEQUAL = [3, 1, 2, 2]
SHUFFLED = "5,0,,7 # the first node and a half\n\n6-6,3-1,4\n"


@pytest.fixture(scope="module")
def cluster(clusters) -> Cluster:
    return clusters(4)


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


def test_the_order_is_named_as_the_job_starts(cluster: Cluster, library) -> None:
    host = host_named("mpich")
    program = compile_c(host, ["placed.c"], "placed")
    told = {"HEADRACE_QUIET": "0", "HEADRACE_SUMMARY": "0"}
    result = launch_ordered(host, cluster, SIZES, "2", [program], environment=told)
    assert result.code == 0, result.explain()
    assert "headrace: order 2, folded\n" in result.err
    assert "ranks 0,7" not in result.err
