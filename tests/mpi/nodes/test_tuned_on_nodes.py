"""`headrace tune` by a launcher line: what `tune collectives` finds to win between nodes, whose
links are slow, is then carried out there; and what `tune DIR` measures between them."""

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
from headrace.tune.figures import read_figures

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


# A short run of `headrace tune DIR`.
SHORT = ("--minutes", 0.05, "--raw")
ONE_NODE = "the job has 2 nodes: the profile will apply to files of one node only"


@pytest.mark.parametrize("name", ["mpich", "openmpi", "intel"])
def test_a_shared_directory_is_measured_between_nodes(name: str, cluster: Cluster) -> None:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    place = work_directory(f"tune-io-{name}")
    (place / "data").mkdir()
    words = ("tune", place / "data", *SHORT, "--output", place / "p.toml")
    told = command(host, cluster, *words, HEADRACE_QUIET="0")
    said, _, measuring_said = told.partition("measuring ")
    assert ONE_NODE in measuring_said and ONE_NODE not in said, told
    assert not list((place / "data").iterdir())
    found = read_figures(place / "p.json")
    assert (found.nodes, found.node_ranks) == (NODES, RANKS)
    # The nodes share the machine's page cache.
    assert (found.coherence_tries, found.coherence_stale) == (50, 0)
    messages = {one.bytes: one for one in found.figures if one.what == "message"}
    assert set(messages) == {8, 1 << 20} and all(one.ranks == 2 for one in messages.values())
    assert tomllib.loads((place / "p.toml").read_text())["machine"]["nodes"] == 1


@pytest.mark.parametrize("name", ["mpich", "openmpi", "intel"])
def test_a_directory_that_nodes_do_not_share_is_told(name: str, cluster: Cluster) -> None:
    """The other node has none of the files, and nothing hangs."""
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    place = work_directory(f"tune-apart-{name}")
    (place / "data").mkdir()
    mount = ["mount", "-t", "tmpfs", "tmpfs", place / "data"]
    subprocess.run(cluster.node_command("n1", mount), check=True)
    try:
        words = ("tune", place / "data", *SHORT, "--output", place / "p.toml")
        command(host, cluster, *words)
    finally:
        unmount = cluster.node_command("n1", ["umount", place / "data"])
        subprocess.run(unmount, check=True)
    found = read_figures(place / "p.json")
    assert (found.coherence_tries, found.coherence_stale) == (50, 50)
    assert not list((place / "data").iterdir())
