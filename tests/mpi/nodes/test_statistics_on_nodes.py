"""HEADRACE_IO_STATS and HEADRACE_IO_TIMERS of a job on emulated nodes: what the program tallied."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

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
        "HEADRACE_IO_STATS": "2",
        "MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY": "1",
        "MPICH_MPIIO_TIMERS": "1",
        "MPICH_MPIIO_HINTS_DISPLAY": "1",
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
    check_aggregators(result.err, directory / "interleaved", coherent == "none")
    check_hints_display(result.err, coherent)
    closes = result.err.count("headrace: I/O of '")
    assert result.err.count("headrace: times of '") == closes >= 3, result.explain()
    rows = re.findall(rf"headrace: +([a-z ]+?) +{NUMBER} +{NUMBER} +{NUMBER}\n", result.err)
    assert len(rows) == 10 * closes, result.explain()
    for name_of_row, *numbers in rows:
        least, mean, greatest = map(float, numbers)
        assert 0 <= least <= mean + 1e-6 and mean <= greatest + 1e-6, (name_of_row, numbers)
    sent = [float(numbers[2]) for row, *numbers in rows if row == "sending"]
    assert (max(sent) > 0) == (coherent != "none"), result.explain()
    # By one rank at a time, whichever.
    moved = [float(numbers[2]) for row, *numbers in rows if row == "writing"]
    assert len(moved) == closes and min(moved) > 0, result.explain()


def check_aggregators(said: str, file: Path, is_alone: bool) -> None:
    """What was told at the open is what ranks did."""
    lines = [line.removeprefix("headrace: ") for line in said.splitlines()]
    head = lines.index(
        f"aggregators of '{file}': "
        + (
            "none between nodes, since these may not read and write for each other here: on each "
            "node whichever rank is free does it for the node"
            if is_alone
            else "3 for calls in which nodes exchange"
        )
    )
    if is_alone:
        return
    named = [re.fullmatch(r"  (\d+): rank (\d+) on (n\d)", line) for line in lines[head + 1 :][:3]]
    assert [match.groups() for match in named] == [
        ("0", "0", "n0"),
        ("1", "2", "n1"),
        ("2", "4", "n2"),
    ]


def check_hints_display(said: str, coherent: str) -> None:
    """Each file's block says whether nodes move data for each other, and what would allow it."""
    told = re.findall(r"^(?:headrace: )?  nodes: (.*)$", said, re.MULTILINE)
    files = re.findall(r"^headrace: hints of '.*/(\w+)'", said, re.MULTILINE)
    assert told and len(told) <= len(files), said
    for line in told:
        if coherent != "none":
            assert line == "they may move data for each other, where that costs less"
            continue
        match = re.fullmatch(
            r"each moves its own data \((?:\w+ is local to a node\)|"
            r"on this file system, \w+, others might not see its writes at once\), "
            r"if they do set HEADRACE_FS_FACTS=\S+:coherent=true)",
            line,
        )
        assert match, line


@pytest.mark.parametrize("name", ["mpich", "openmpi", "intel"])
def test_ranks_of_the_aggregators_nodes_write(name, three_nodes, library) -> None:
    """Of a file with one aggregator only ranks of its node write in collective calls."""
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    directory = work_directory(f"aggregators-nodes-{name}")
    settings = preload([library]) | {
        "HEADRACE_IO_STATS": "2",
        "HEADRACE_AGGREGATORS_DISPLAY": "1",
        "HEADRACE_COHERENT_FS": "ext4,xfs,btrfs,overlay,tmpfs",
        "HEADRACE_WRITE_PATH": "exchanged",
        "HEADRACE_HINTS": "*interleaved:cb_nodes=1",
        "HEADRACE_RECORD": "0",
        "HEADRACE_QUIET": "0",
    }
    line = [build(host), directory, directory / "tally"]
    result = launch_on_nodes(host, three_nodes, line, settings, ranks_per_node=2)
    assert result.code == 0, result.explain()
    lines = [line.removeprefix("headrace: ") for line in result.err.splitlines()]
    heads = [
        at
        for at, line in enumerate(lines)
        if line
        == f"aggregators of '{directory / 'interleaved'}': 1 for calls in which nodes exchange"
    ]
    assert len(heads) == 2 and all(lines[at + 1] == "  0: rank 0 on n0" for at in heads)
    writers = Counter()
    for at, line in enumerate(lines):
        if not line.startswith(f"I/O of '{directory / 'interleaved'}'"):
            continue
        for below in lines[at + 1 :]:
            if below.startswith(("I/O of", "times of")):
                break
            if match := re.match(r"  .* on (n\d): writes: .*\((\d+) in collective calls", below):
                writers[match[1]] += int(match[2].split()[0])
    assert writers["n0"] > 0 and writers["n1"] == writers["n2"] == 0, result.explain()
