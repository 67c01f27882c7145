"""`headrace tune collectives` by a launcher line: what it finds to win between nodes, whose links
are slow, is then carried out there."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import absent
from hanging import JOB_SECONDS
from hosts import Host, host_named
from measuring import measuring
from running import work_directory

from headrace.bench.collectives.findings import Job, read_jobs

from .cluster import Cluster
from .launching import headrace_environment, launcher_line

NODES, RANKS = 2, 2
# All three send more than they must there. So large that the link tells, however the 2 cores are
# shared.
WHAT = ("--operations", "allgatherv", "--least", "32k", "--most", "32k")


@pytest.fixture(scope="module")
def cluster(clusters) -> Iterator[Cluster]:
    made = clusters(NODES)
    made.limit("20mbit")
    return made


def command(host: Host, cluster: Cluster, *words: object, **more: str) -> str:
    """What the command of a cluster's user says on stderr; after `--` comes the launcher's line."""
    line = launcher_line(host, cluster, [RANKS] * NODES)
    whole = [sys.executable, "-m", "headrace", *words, "--mpi", host.name, "--", *line]
    done = subprocess.run(
        cluster.login_command(whole),
        env=headrace_environment(host) | more,
        capture_output=True,
        text=True,
        timeout=JOB_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr


def benched(host: Host, cluster: Cluster, file: Path, **more: str) -> Job:
    command(host, cluster, "bench", "collectives", *WHAT, "--batches", 1, "--json", file, **more)
    (job,) = read_jobs(file)
    return job


@pytest.mark.parametrize("name", ["mpich", "openmpi", "intel"])
def test_what_wins_between_nodes_is_carried_out(name: str, cluster: Cluster) -> None:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    folder = work_directory(f"tuned-{name}")
    table = folder / "table.toml"
    told = command(host, cluster, "tune", "collectives", *WHAT, "--batches", 12, table)
    with measuring():
        assert f"{name} on 2 nodes of 2 ranks counts on 2 nodes with at least 2 ranks each" in told
    found = tomllib.loads(table.read_text())
    assert "4 ranks on 2 nodes of 2" in found["origin"]["jobs"]
    gain = found[name]["several"]["2x2"]["allgatherv"].split()
    assert gain[0] == "32768-32768" and float(gain[1]) >= 1.03
    on = {"HEADRACE_COLLECTIVES": "1", "HEADRACE_COLL_TABLE": str(table)}
    job = benched(host, cluster, folder / "with.json", **on)
    assert (job.nodes, job.node_ranks) == (NODES, RANKS)
    assert job.cells[0].wrong == 0
    assert job.cells[0].taken in ("doubling nodes", "ring of nodes")
    assert benched(host, cluster, folder / "without.json").cells[0].taken == "the MPI library"
