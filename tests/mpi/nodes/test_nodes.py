"""Two emulated nodes with two ranks each: the exerciser and random views, bytes compared."""

from __future__ import annotations

import os

import pytest
from conftest import absent
from hosts import Host, host_named
from running import FOREIGN, compile_c, launch, preload, run, tree, work_directory
from test_exercise import SOURCES, failed_cases
from test_random import SOURCES as RANDOM_SOURCES

from .cluster import Cluster

RANKS_PER_NODE = 2
# Case names of which each forms part of the engine's work between nodes.
CASES = (
    "open_modes,open_delete_on_close,open_subcommunicators,position_sizes,position_sync,short_all,"
    "view_vector,view_struct,view_subarray_2d_c,view_darray_cyclic,view_many_pieces,"
    "view_tiny_pieces,view_holes_past_end,transfer_all,transfer_at_all,error_one_rank,"
    "order_pending_send,order_late_ranks,order_two_files,transfer_iall,transfer_split_all,"
    "nonblocking_receive,nonblocking_order,nonblocking_waitsome,nonblocking_many,split_two_files,"
    "shared_blocking,shared_nonblocking,shared_many,shared_ordered,shared_split_ordered,shared_view,"
    "shared_seek,shared_append,shared_short,shared_litter,shared_threads,"
    "shared_first_rank_waits,modes_sequential,"
    "modes_displacement_current,modes_append,modes_delete_on_close"
)


@pytest.fixture(scope="module")
def cluster():
    if os.geteuid() != 0:
        absent("emulated nodes need root")
    with Cluster(2) as nodes:
        yield nodes


def launch_on_nodes(host: Host, cluster: Cluster, program: list, environment: dict[str, str]):
    ranks = str(RANKS_PER_NODE * len(cluster.names))
    words = [f"{key}={value}" for key, value in environment.items()]
    if host.family.startswith("openmpi"):
        hosts = cluster.host_file(RANKS_PER_NODE, "{name} slots={ranks}")
        agent = ["--prtemca", "plm_ssh_agent"]
        if host.family == "openmpi4":
            agent = ["--mca", "plm_rsh_agent"]
        line = [*host.launcher, *agent, cluster.remote_shell, "--hostfile", hosts, "-n", ranks]
        line += ["--map-by", f"ppr:{RANKS_PER_NODE}:node"]
        line += ["-x", "OMPI_MCA_mpi_yield_when_idle"]
    else:
        hosts = cluster.host_file(RANKS_PER_NODE, "{name}:{ranks}")
        line = [*host.launcher, "-launcher", "ssh", "-launcher-exec", cluster.remote_shell]
        line += ["-f", hosts, "-ppn", str(RANKS_PER_NODE), "-n", ranks]
    return run(cluster.login_command([*line, "env", *words, *program]), host.environment)


@pytest.mark.parametrize("name", ["mpich", "openmpi", "intel"])
def test_exercise_on_two_nodes(name: str, cluster: Cluster, library) -> None:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    program = compile_c(host, SOURCES, "exercise")
    before = {node: cluster.node_listing(node) for node in cluster.names}
    where = work_directory(f"nodes-{name}")
    environment = preload([library]) | {"MPI_TEST_EXPECT": "engine", "HEADRACE_QUIET": "1"}
    result = launch_on_nodes(host, cluster, [program, "--only", CASES, where], environment)
    assert result.code == 0 and "\nend\n" in result.out, result.explain()
    assert not failed_cases(result), result.explain()
    assert len(result.out.split("\ncase ")) >= len(CASES.split(","))
    for node in cluster.names:
        left = {entry for entry in cluster.node_listing(node) - before[node]}
        assert not [entry for entry in left if not FOREIGN.search(entry)], left

    single = work_directory(f"nodes-{name}-single")
    same = launch(host, 4, [program, "--only", CASES, single], layered=True)
    assert same.out == result.out, same.explain()
    assert tree(single) == tree(where)


@pytest.mark.parametrize("name", ["mpich", "openmpi", "intel"])
def test_random_on_two_nodes(name: str, cluster: Cluster, library) -> None:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    program = compile_c(host, RANDOM_SOURCES, "random")
    where = work_directory(f"nodes-random-{name}")
    environment = preload([library]) | {"MPI_TEST_EXPECT": "engine", "HEADRACE_QUIET": "1"}
    result = launch_on_nodes(host, cluster, [program, "77", "20", where], environment)
    assert result.code == 0 and "0 of 20 rounds failed" in result.out, result.explain()
