"""A rank that comes late to MPI_Finalize, or not as expected, hangs no job on several nodes."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import work_directory
from test_recorder import report_of

from .cluster import Cluster
from .launching import launch_on_nodes
from .test_recorded_nodes import HOSTS, compiled, recording

PAUSE = ["recorded_pause.c"]
INHERITED = {"OMPI_COMM_WORLD_SIZE": "3", "OMPI_COMM_WORLD_LOCAL_SIZE": "3"}
INHERITED_BY_OPENMPI = {"PMI_SIZE": "3", "MPI_LOCALNRANKS": "3"}


@pytest.fixture(scope="module")
def nodes(clusters) -> Cluster:
    return clusters(3)


@pytest.mark.parametrize("late", [0, 3, 5])
@pytest.mark.parametrize("name", HOSTS)
def test_who_has_given_up_hangs_nobody(name: str, late: int, nodes: Cluster, library: Path) -> None:
    """The others wait for less than the late rank takes. The job ends as without us, and the part
    of rank 0's node is recorded."""
    host, program = compiled(name, PAUSE)
    directory = work_directory(f"recorded-late-{name}-{late}")
    settings = recording(library, directory) | {"HEADRACE_RECORD_PATIENCE": "2"}
    result = launch_on_nodes(host, nodes, [program, 10, late, 9], settings, timeout=90)
    assert result.code == 0, result.explain()
    (record,) = directory.glob("*.hrc")
    report = report_of(record)
    assert report["run"]["ranks"] == 6 and not report["run"]["complete"]
    lacks = " ".join(report["run"]["lacks"])
    assert "MPI_Finalize with Headrace" in lacks or "did not send its part" in lacks, lacks
    assert {own["host"] for own in report["placement"]} == {"n0"}


@pytest.mark.parametrize("name", HOSTS)
def test_a_late_rank_is_waited_for(name: str, nodes: Cluster, library: Path) -> None:
    host, program = compiled(name, PAUSE)
    directory = work_directory(f"recorded-awaited-{name}")
    settings = recording(library, directory)
    result = launch_on_nodes(host, nodes, [program, 10, 0, 4], settings)
    assert result.code == 0, result.explain()
    (record,) = directory.glob("*.hrc")
    run = report_of(record)["run"]
    assert (run["ranks"], run["nodes"], run["complete"]) == (6, 3, True)


@pytest.mark.parametrize("name", HOSTS)
def test_variables_of_an_outer_job_do_not_hide_nodes(
    name: str, nodes: Cluster, library: Path
) -> None:
    """They are of a job on one node that has as many ranks."""
    host, program = compiled(name, PAUSE)
    directory = work_directory(f"recorded-outer-{name}")
    outer = INHERITED_BY_OPENMPI if name == "openmpi" else INHERITED
    settings = recording(library, directory) | outer
    result = launch_on_nodes(host, nodes, [program, 10, 0, 0], settings, ranks_per_node=1)
    assert result.code == 0, result.explain()
    (record,) = directory.glob("*.hrc")
    run = report_of(record)["run"]
    assert (run["ranks"], run["nodes"], run["complete"]) == (3, 3, True)
