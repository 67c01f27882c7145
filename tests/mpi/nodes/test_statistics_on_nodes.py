"""HEADRACE_IO_STATS and HEADRACE_IO_TIMERS of a job on emulated nodes: what the program tallied."""

from __future__ import annotations

import re

import pytest
from conftest import absent
from hosts import host_named
from running import preload, work_directory
from test_recorded_files import build, tallied, told

from .cluster import Cluster
from .launching import launch_on_nodes

NUMBER = r"(\d+\.\d+)"


@pytest.fixture(scope="module")
def three_nodes(clusters) -> Cluster:
    return clusters(3)


@pytest.mark.parametrize("coherent", ["none", "ext4,xfs,btrfs,overlay,tmpfs"])
@pytest.mark.parametrize("name", ["mpich", "openmpi", "intel"])
def test_statistics_are_of_all_nodes(name, coherent, three_nodes, library) -> None:
    """Whether nodes write for each other or not."""
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    directory = work_directory(f"statistics-nodes-{name}-{len(coherent)}")
    settings = preload([library]) | {
        "HEADRACE_IO_STATS": "1",
        "MPICH_MPIIO_TIMERS": "1",
        "HEADRACE_COHERENT_FS": coherent,
        "HEADRACE_WRITE_PATH": "automatic" if coherent == "none" else "exchanged",
        "HEADRACE_RECORD": "0",
        "HEADRACE_QUIET": "0",
    }
    line = [build(host), directory, directory / "tally"]
    result = launch_on_nodes(host, three_nodes, line, settings, ranks_per_node=2)
    assert result.code == 0, result.explain()
    expected = {file: row[1:] for file, row in tallied(directory / "tally").items()}
    assert told(result.err, coherent == "none") == expected, result.explain()
    assert "6 ranks on 3 nodes, " in result.err, result.explain()
    closes = result.err.count("headrace: I/O of '")
    assert result.err.count("headrace: times of '") == closes >= 3, result.explain()
    rows = re.findall(rf"headrace: +([a-z ]+?) +{NUMBER} +{NUMBER} +{NUMBER}\n", result.err)
    assert len(rows) == 5 * closes, result.explain()
    for name_of_row, *numbers in rows:
        least, mean, greatest = map(float, numbers)
        assert 0 <= least <= mean + 1e-6 and mean <= greatest + 1e-6, (name_of_row, numbers)
    # By one rank at a time, whichever.
    moved = [float(numbers[2]) for row, *numbers in rows if row == "in storage"]
    assert len(moved) == closes and min(moved) > 0, result.explain()
