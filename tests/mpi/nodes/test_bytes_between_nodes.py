"""`headrace run --rank-order` and `headrace place` on four emulated nodes with four ranks each: the
bytes between nodes are as predicted, by the account of program, record and network cards."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import absent
from hosts import host_named
from least_traffic import least_between_nodes
from measuring import measuring

from headrace.place import orders

from .cluster import Cluster
from .placed_jobs import PATTERNS, RANKS, SIZES, Jobs, advised, predicted

NAMES = ["mpich", "mpich-abi", "openmpi", "intel", "debian-openmpi"]
# Where no order gains: in full only.
ROWS = [
    pytest.param(one, marks=pytest.mark.deep) if one == "all-to-all" else one for one in PATTERNS
]
STEPS = 2
# Beside the messages: headers, acknowledgements; the start of a job differs from run to run.
LEAST, MOST = 0.99, 1.06
RATIO = 0.02


@pytest.fixture(scope="module")
def cluster(clusters) -> Cluster:
    return clusters(len(SIZES))


@pytest.mark.parametrize("pattern", ROWS)
@pytest.mark.parametrize("name", NAMES)
def test_bytes_are_as_predicted(name: str, pattern: str, cluster: Cluster, library) -> None:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    jobs = Jobs(host, cluster, pattern)
    idle = jobs.run("1", 0, recorded=False).wire
    first = jobs.run("1", STEPS)
    assert first.record is not None, first.result.explain()
    expected = predicted(first.record)
    assert expected["today"] == expected["1"]
    best = least_between_nodes(RANKS, jobs.messages, SIZES)
    assert expected["computed"] <= 1.05 * STEPS * best
    runs = {"1": first, "0": jobs.run("0", STEPS), "computed": jobs.run("auto", STEPS)}
    for order, run in runs.items():
        told = run.result.explain()
        assert run.between_nodes(jobs.messages, STEPS) == expected[order], told
        assert predicted(run.record)["today"] == expected[order], told
        assert run.sums == first.sums, told
        assert np.bincount(run.node_of_rank).tolist() == list(SIZES), told
        ratio = (first.wire - idle) / (run.wire - idle)
        with measuring():  # how many acknowledgements there are depends on times
            assert LEAST < (run.wire - idle) / expected[order] < MOST, told
            assert abs(ratio - expected["1"] / expected[order]) < RATIO, told
    gains = expected["computed"] < 0.9 * expected["1"]
    assert ("rank-order" in advised(first.record)) == gains
    assert "rank-order" not in advised(runs["computed"].record)
    for order in ("0", "1"):
        places = orders.nodes(orders.numbered(order, SIZES), SIZES).tolist()
        assert runs[order].node_of_rank == places
    if pattern == "plane":
        assert expected["1"] / expected["computed"] == 1.5
