"""Emulated nodes, which the tests of a file share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from conftest import absent

from .cluster import Cluster


@pytest.fixture(scope="module")
def clusters() -> Iterator[Callable[[int], Cluster]]:
    """By their number of nodes, made when they are asked for."""
    if os.geteuid() != 0:
        absent("emulated nodes need root")
    made: dict[int, Cluster] = {}
    with ExitStack() as stack:

        def cluster_of(nodes: int) -> Cluster:
            if nodes not in made:
                made[nodes] = stack.enter_context(Cluster(nodes))
            return made[nodes]

        yield cluster_of
