"""HEADRACE_CPUMASK_DISPLAY and HEADRACE_RANK_DISPLAY on two emulated nodes, and launchers that did
not follow an order."""

from __future__ import annotations

import os
import re

import pytest
from conftest import absent
from hosts import host_named
from running import compile_c, launch, preload

from .cluster import Cluster
from .launching import launch_on_nodes

NAMES = ["mpich", "mpich-abi", "openmpi", "intel", "debian-openmpi"]
ALL = [*NAMES, "debian-mpich"]
MASK = r"headrace: \[PE_(\d)\]: cpumask set to (\d+) cpus? on (\w+), cpumask = ([01]+)"


@pytest.fixture(scope="module")
def cluster(clusters) -> Cluster:
    return clusters(2)


def lines_on_nodes(name: str, cluster: Cluster, library, **settings: str) -> list[str]:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    program = compile_c(host, ["placed.c"], "placed")
    environment = {**preload([library]), "HEADRACE_SUMMARY": "0", **settings}
    result = launch_on_nodes(host, cluster, [program], environment)
    assert result.code == 0, result.explain()
    assert result.out.count("rank ") == 4, result.explain()
    return [line for line in result.err.splitlines() if line.startswith("headrace: ")]


@pytest.mark.parametrize("name", NAMES)
def test_ranks_and_their_cpus_are_shown(name: str, cluster: Cluster, library) -> None:
    settings = {"MPICH_CPUMASK_DISPLAY": "1", "HEADRACE_RANK_DISPLAY": "1"}
    lines = lines_on_nodes(name, cluster, library, **settings)
    masks = [match.groups() for match in (re.fullmatch(MASK, line) for line in lines) if match]
    assert [int(rank) for rank, *_ in masks] == [0, 1, 2, 3], lines
    assert [host for _, _, host, _ in masks] == ["n0", "n0", "n1", "n1"]
    for _, count, _, mask in masks:
        assert mask.count("1") == int(count) > 0
        assert len(mask) >= os.cpu_count()
    for rank in range(4):
        assert f"headrace: [PE_0]: rank {rank} is on n{rank // 2}" in lines


@pytest.mark.parametrize("name", NAMES)
def test_a_launcher_that_did_not_follow_is_named(name: str, cluster: Cluster, library) -> None:
    assert lines_on_nodes(name, cluster, library, HEADRACE_RANK_NODES="0*2,1*2") == []
    (line,) = lines_on_nodes(name, cluster, library, HEADRACE_RANK_NODES="0,1,0,1")
    assert line.startswith(
        "headrace: rank 1 is on n0, where the rank order has other ranks (the launcher did not"
    )


def bound_to_one_cpu(name: str, library, ranks: int, **settings: str) -> list[str]:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    program = compile_c(host, ["placed.c"], "placed")
    environment = {**preload([library]), "HEADRACE_CPUMASK_DISPLAY": "1"}
    environment |= {"HEADRACE_SUMMARY": "0", "HEADRACE_QUIET": "0"}
    cpu = str(min(os.sched_getaffinity(0)))
    result = launch(
        host,
        ranks,
        ["taskset", "-c", cpu, program],
        layered=False,
        environment={**environment, **settings},
    )
    assert result.code == 0, result.explain()
    return [line for line in result.err.splitlines() if line.startswith("headrace: ")]


@pytest.mark.parametrize("name", ALL)
def test_ranks_that_share_a_cpu_are_named(name: str, library) -> None:
    if os.cpu_count() < 2:
        pytest.skip("one CPU is all there is")
    lines = bound_to_one_cpu(name, library, 2)
    assert any("ranks 0, 1 on " in line and " share 1 CPU of " in line for line in lines), lines
    lines = bound_to_one_cpu(name, library, 1, OMP_NUM_THREADS="3")
    assert any("is bound to 1 CPU and has 3 threads" in line for line in lines), lines
    assert not any("share" in line for line in lines), lines


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_shown_unless_it_is_asked_for(name: str, library) -> None:
    assert bound_to_one_cpu(name, library, 2, HEADRACE_CPUMASK_DISPLAY="0") == []
    assert bound_to_one_cpu(name, library, 2, HEADRACE_DISABLE="1") == []


@pytest.mark.parametrize("name", ALL)
def test_threads_are_shown_when_the_job_ends(name: str, library) -> None:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2 or cpus[1] >= os.cpu_count():
        pytest.skip("two CPUs are needed")
    program = compile_c(host, ["threaded.c"], "threaded")
    environment = {**preload([library]), "HEADRACE_CPUMASK_DISPLAY": "1"}
    environment |= {"HEADRACE_SUMMARY": "0", "HEADRACE_QUIET": "0"}
    line = [program, cpus[0], cpus[1]]
    result = launch(host, 2, line, layered=False, environment=environment)
    assert result.code == 0, result.explain()
    form = r"headrace: \[PE_(\d)\]: thread \d+: cpumask set to 1 cpu on \S+, cpumask = ([01]+)"
    found = (re.fullmatch(form, line) for line in result.err.splitlines())
    shown = [match.groups() for match in found if match]
    masks = {
        "".join("01"[place == cpu] for place in reversed(range(os.cpu_count()))) for cpu in cpus[:2]
    }
    for rank in ("0", "1"):
        assert masks <= {mask for one, mask in shown if one == rank}, result.explain()


@pytest.mark.parametrize("name", ALL)
def test_more_ranks_than_cpus_are_told(name: str, library) -> None:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    ranks = os.cpu_count() + 1
    if ranks > 9:
        pytest.skip("a job of so many ranks is not started")
    program = compile_c(host, ["placed.c"], "placed")
    environment = {"HEADRACE_CPUMASK_DISPLAY": "1", "HEADRACE_SUMMARY": "0", "HEADRACE_QUIET": "0"}
    result = launch(host, ranks, [program], layered=True, environment=environment)
    assert result.code == 0, result.explain()
    told = f" has {ranks} ranks and {ranks - 1} CPUs, start fewer ranks on a node"
    assert told in result.err, result.explain()
