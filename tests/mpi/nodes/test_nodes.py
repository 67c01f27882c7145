"""Two emulated nodes with two ranks each: the exerciser and random views, bytes compared."""

from __future__ import annotations

import pytest
from conftest import absent
from hosts import Host, host_named
from running import FOREIGN, compile_c, launch, preload, tree, work_directory
from test_exercise import SOURCES, failed_cases
from test_random import SOURCES as RANDOM_SOURCES

from .cluster import Cluster
from .launching import launch_on_nodes
from .strided_job import StridedJob

# These nodes are one machine, whatever its file systems.
COHERENT = {"HEADRACE_COHERENT_FS": "ext4,xfs,btrfs,zfs,overlay,tmpfs,unknown"}
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
def cluster(clusters) -> Cluster:
    return clusters(2)


@pytest.mark.parametrize("name", ["mpich", "openmpi", "intel"])
def test_exercise_on_two_nodes(name: str, cluster: Cluster, library) -> None:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    program = compile_c(host, SOURCES, "exercise")
    before = {node: cluster.node_listing(node) for node in cluster.names}
    where = work_directory(f"nodes-{name}")
    environment = preload([library]) | {"MPI_TEST_EXPECT": "engine", "HEADRACE_QUIET": "1"}
    environment |= COHERENT | {
        "HEADRACE_WRITE_PATH": "exchanged",
        "HEADRACE_READ_PATH": "exchanged",
    }
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


@pytest.mark.parametrize("path", ["automatic", "exchanged"])
@pytest.mark.parametrize("name", ["mpich", "openmpi", "intel"])
def test_random_on_two_nodes(name: str, path: str, cluster: Cluster, library) -> None:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    program = compile_c(host, RANDOM_SOURCES, "random")
    where = work_directory(f"nodes-random-{name}")
    environment = preload([library]) | {"MPI_TEST_EXPECT": "engine", "HEADRACE_QUIET": "1"}
    environment |= COHERENT | {"HEADRACE_WRITE_PATH": path, "HEADRACE_READ_PATH": path}
    result = launch_on_nodes(host, cluster, [program, "77", "20", where], environment)
    assert result.code == 0 and "0 of 20 rounds failed" in result.out, result.explain()


@pytest.fixture(scope="module")
def four_nodes(clusters) -> Cluster:
    return clusters(4)


@pytest.mark.parametrize("name", ["mpich", "openmpi", "intel"])
def test_two_nodes_send_what_the_plan_says(name: str, cluster: Cluster, library) -> None:
    check_messages(host_named(name), cluster, 2, library)


def test_four_ranks_on_each_of_two_nodes_send_what_the_plan_says(cluster: Cluster, library) -> None:
    check_messages(host_named("mpich"), cluster, 4, library)


def test_four_nodes_send_what_the_plan_says(four_nodes: Cluster, library) -> None:
    check_messages(host_named("mpich"), four_nodes, 2, library)


def test_nodes_that_might_not_see_each_others_writes_keep_to_themselves(
    cluster: Cluster, library
) -> None:
    host = host_named("mpich")
    program = compile_c(host, ["exchange_counts.c"], "exchange_counts")
    file = work_directory("apart") / "file"
    environment = preload([library]) | {"HEADRACE_QUIET": "1", "HEADRACE_WRITE_PATH": "exchanged"}
    job = StridedJob(2, 2)
    result = launch_on_nodes(host, cluster, [program, file, job.PIECE, job.SEGMENTS], environment)
    lines = dict(line.split(" ", 1) for line in result.out.splitlines())
    path, messages, sent = lines["write"].split()
    assert path in ("staged", "direct") and messages == sent == "0", result.explain()
    assert lines["wrong"] == "0", result.explain()


@pytest.mark.parametrize(
    ("name", "style"),
    [("mpich", "split"), *((name, "nonblocking") for name in ("mpich", "openmpi", "intel"))],
)
def test_calls_that_are_begun_send_what_the_plan_says(
    name: str, style: str, cluster: Cluster, library
) -> None:
    check_messages(host_named(name), cluster, 2, library, style)


@pytest.mark.parametrize("name", ["mpich", "openmpi", "intel"])
def test_several_leaders_send_what_the_plan_says(name: str, cluster: Cluster, library) -> None:
    check_messages(host_named(name), cluster, 2, library, leaders=2)


def check_messages(
    host: Host,
    nodes: Cluster,
    ranks_per_node: int,
    library,
    style: str = "blocking",
    leaders: int = 1,
) -> None:
    if host.missing:
        absent(host.missing)
    program = compile_c(host, ["exchange_counts.c"], "exchange_counts")
    job = StridedJob(len(nodes.names), ranks_per_node, leaders)
    file = work_directory(f"counts-{host.name}-{job.nodes}-{ranks_per_node}") / "file"
    environment = preload([library]) | {"HEADRACE_QUIET": "1"}
    # Pretended stripes: the path is chosen for what it is good for.
    environment |= {"HEADRACE_MIMIC_STRIPES": f"{job.nodes}x{job.WINDOW}"}
    arguments = [program, file, job.PIECE, job.SEGMENTS, style, job.nodes * leaders]
    result = launch_on_nodes(host, nodes, arguments, environment, ranks_per_node)
    assert result.code == 0, result.explain()
    lines = dict(line.split(" ", 1) for line in result.out.splitlines())
    assert lines["wrong"] == "0", result.explain()
    for way in ("write", "read"):
        path, messages, sent = lines[way].split()
        assert path == "exchanged", result.explain()
        assert int(messages) == job.messages(way), result.explain()
        assert job.payload() <= int(sent) <= 1.05 * job.payload(), result.explain()
    data = file.read_bytes()
    assert len(data) == job.bytes()
    places = range(0, len(data), 997)
    assert all(data[at] == (at * 2654435761 >> 13) & 0xFF for at in places)
