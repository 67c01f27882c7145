"""Collective operations of jobs that Slurm's own srun starts: the library's algorithms are set as a
table has them, and a cluster is measured by a line of srun."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hosts import Host
from running import compile_c, work_directory
from test_limits_work import present

from headrace.bench.collectives.findings import read_jobs
from headrace.mpi.installed import from_library
from headrace.mpi.program import examine

from .slurm import Slurm, emulated_slurm, srun

NODES, RANKS = 2, 2  # ranks of each node
# By library: an algorithm of allgather's, and the variable that has it.
ALGORITHMS = {
    "mpich": ("ring", "MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM is ring"),
    "openmpi": ("ring", "OMPI_MCA_coll_tuned_allgather_algorithm is 4"),
}


@pytest.fixture(scope="module")
def slurm() -> Iterator[Slurm]:
    with emulated_slurm([RANKS] * NODES) as made:
        yield made


@pytest.mark.parametrize("nodes", [1, NODES])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_table_s_algorithms_are_set_on_one_node(
    name: str, nodes: int, slurm: Slurm, library: Path
) -> None:
    host = present(name)
    algorithm, shown = ALGORITHMS[name]
    ranks = 2
    program = compile_c(host, ["memory_shown.c"], f"memory_shown-{name}")
    table = work_directory(f"slurm-table-{name}") / "table.toml"
    table.write_text(
        f'[{name}.one.library.{ranks}]\nversion = "{version_of(host, program)}"\n'
        f'allgather = "{algorithm} 0-0 1.5"\n'
    )
    line = [*srun(host, ranks, "-N", nodes), program, shown.split()[0]]
    result = slurm.headrace(host, ["run"], line, {"HEADRACE_COLL_TABLE": str(table)})
    assert result.code == 0, result.explain()
    assert (shown in result.out) == (nodes == 1), result.explain()


def version_of(host: Host, program: Path) -> str:
    environ = {**os.environ, **host.environment}
    library = examine([str(program)], environ).library
    assert library is not None
    return from_library(library, environ).version


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_cluster_is_measured(name: str, slurm: Slurm, library: Path) -> None:
    host = present(name)
    file = work_directory(f"slurm-bench-{name}") / "times.json"
    words = ["bench", "collectives", "--always", "--operations", "allgather,gatherv"]
    words += ["--least", "1k", "--most", "1k", "--batches", 2, "--mpi", name, "--json", file, "--"]
    result = slurm.headrace(host, words, srun(host, NODES * RANKS, "-N", NODES), {})
    assert result.code == 0, result.explain()
    (job,) = read_jobs(file)
    assert (job.nodes, job.node_ranks) == (NODES, RANKS)
    assert [cell.wrong for cell in job.cells] == [0, 0]
    assert all(cell.by_layer for cell in job.cells), result.explain()
