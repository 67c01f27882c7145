"""Slurm itself starts ranks in the orders that `headrace run` tells it, and knows a job's size."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hosts import Host
from running import Result, compile_c, work_directory
from test_limits_work import present
from test_recorder import report_of

from headrace.launchers.families import SLURM
from headrace.launchers.job_size import job_size
from headrace.place import order_file, orders

from .slurm import LAYERS, Slurm, emulated_slurm, srun
from .test_rank_order import SHUFFLED, nodes_of

EQUAL = (2, 2, 2, 2)
UNEQUAL = (3, 1, 2, 2)
RANKS = sum(EQUAL)


@pytest.fixture(scope="module", params=[EQUAL, UNEQUAL], ids=["equal", "unequal"])
def sizes(request: pytest.FixtureRequest) -> tuple[int, ...]:
    return request.param


@pytest.fixture(scope="module")
def slurm(sizes: tuple[int, ...]) -> Iterator[Slurm]:
    with emulated_slurm(sizes) as made:
        yield made


def start(slurm: Slurm, host: Host, options: list, program: list, **environment: str) -> Result:
    return slurm.headrace(host, ["run", *options], [*srun(host, RANKS), *program], environment)


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


STEPS = (
    *("", "-n 1", "-n 2 -N 1", "-n 4", "-n 5", "-n 6", "-n 7", "-n 4 -m cyclic", "-n 12 -O"),
    *("-n 10 --overcommit", "-n 3 -w n1,n2 -N 2", "-n 4 --ntasks-per-node=2"),
)
# Slurm's own choice of nodes decides where these are.
CHOSEN_IF_UNEQUAL = ("-n 2", "-n 2 -N 2", "-n 4 -N 2", "-n 2 -c 2")
CHOSEN = (
    *("-n 4 -m block:block,pack", "-n 6 -m plane=2", "-n 4 -w n1,n2", "-n 2 -r 1 -N 2"),
    "-n 4 -N 1-2",
)


@pytest.mark.parametrize("options", [*STEPS, *CHOSEN_IF_UNEQUAL, *CHOSEN])
def test_nodes_of_a_step_are_known(options: str, sizes: tuple[int, ...], slurm: Slurm) -> None:
    allocation = ["salloc", "-Q", "-N", len(sizes), "-n", RANKS]
    variables = slurm.run([*allocation, "env", "-0"], os.environ).out.split("\0")
    environ = dict(one.split("=", 1) for one in variables if one.startswith("SLURM_"))
    line = ["srun", *options.split(), "hostname"]
    found = job_size(line, SLURM, environ)
    result = slurm.run([*allocation, *line], os.environ)
    assert result.code == 0, result.explain()
    real = Counter(result.out.split())
    assert found.ranks == real.total()
    if options in CHOSEN or (sizes == UNEQUAL and options in CHOSEN_IF_UNEQUAL):
        assert found.hosts == ()
    else:
        assert dict(zip(found.hosts, found.sizes, strict=True)) == real


@pytest.mark.parametrize("name", LAYERS)
def test_a_smaller_step_stays_on_its_nodes(
    name: str, sizes: tuple[int, ...], slurm: Slurm, library: Path
) -> None:
    """Slurm gives each node one of them, and so does the order."""
    host = present(name)
    program = compile_c(host, ["placed.c"], f"placed-{name}")
    line = [*srun(host, len(sizes)), program]
    result = slurm.headrace(host, ["run", "--rank-order", "2"], line, {})
    assert (
        nodes_of(result)
        == orders.nodes(orders.numbered("2", [1] * len(sizes)), [1] * len(sizes)).tolist()
    )


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
