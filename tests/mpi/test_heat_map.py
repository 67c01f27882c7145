"""When ranks read and wrote: what is recorded is what the program did, at the time it did it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from hosts import Host
from running import compile_program, launch, work_directory
from test_recorder import report_of

from headrace.record.reader import read

NS = 1e9


@dataclass(frozen=True)
class Phase:
    """What the program says."""

    rank: int
    layer: str
    direction: str
    begin: int
    end: int
    bytes: int


def run(host: Host, ranks: int, *words: str) -> Path:
    program = compile_program(host.compilers["c"], ["heat_phases.c"], f"heat-phases-{host.name}")
    directory = work_directory(f"heat-map-{host.name}-{ranks}-{len(words)}")
    (directory / "images").mkdir()
    settings = {
        "HEADRACE_RECORD": "1",
        "HEADRACE_RECORD_FILES": "1",
        "HEADRACE_LOGPATH": str(directory / "records"),
        "HEADRACE_RECORD_DIRECTORY": str(directory / "images"),
    }
    done = launch(host, ranks, [program, directory, *words], True, settings)
    assert (done.code == 0) == (not words), done.explain()
    return directory


def phases_in(directory: Path) -> list[Phase]:
    found = []
    for tally in directory.glob("tally.*"):
        for line in tally.read_text().splitlines():
            layer, direction, *numbers = line.split()
            found.append(Phase(int(tally.suffix[1:]), layer, direction, *map(int, numbers)))
    return found


def is_told(one: dict, directory: Path) -> bool:
    """Files of which the program tells, and not those of its tallies or of the MPI library."""
    name = Path(one["name"])
    return name.parent == directory and name.suffix not in (".hrc",) and name.stem != "tally"


def check_sums(report: dict, directory: Path, phases: list[Phase]) -> None:
    """The bins have the bytes of all files, no more and no less; the files have the program's."""
    io = report["io"]
    for direction in ("read", "written"):
        of_bins = {
            layer: sum(sum(row[layer][f"bytes_{direction}"]) for row in io["heat_map"]["rows"])
            for layer in ("mpi", "own")
        }
        of_files = dict.fromkeys(("mpi", "own"), 0)
        told = dict.fromkeys(("mpi", "own"), 0)
        for one in io["files"]:
            for layer, parts in (("mpi", ("mpi",)), ("own", ("posix", "stdio"))):
                moved = sum(one[part][f"bytes_{direction}"] for part in parts if one[part])
                of_files[layer] += moved
                told[layer] += moved if is_told(one, directory) else 0
        assert of_bins == of_files
        truth = dict.fromkeys(("mpi", "own"), 0)
        for phase in phases:
            if phase.direction == direction:
                truth[phase.layer] += phase.bytes
        assert told == truth


@pytest.mark.parametrize("ranks", (1, 2, 4))
def test_bytes_are_in_the_bins_of_their_phases(host: Host, library: Path, ranks: int) -> None:
    directory = run(host, ranks)
    (path,) = (directory / "records").glob("*.hrc")
    report = report_of(path)
    phases = phases_in(directory)
    assert len(phases) == 7 * ranks
    check_sums(report, directory, phases)
    heat = report["io"]["heat_map"]
    assert 0 < heat["bins"] <= 64 and not heat["joined"]
    rows = {row["rank"]: row for row in heat["rows"]}
    assert sorted(rows) == list(range(ranks)) and {row["ranks"] for row in rows.values()} == {1}
    zero = min(start for node in read(path).nodes for (start,) in node["ranks"].rows("start"))
    width = heat["bin_seconds"] * NS
    for phase in phases:
        bins = rows[phase.rank][phase.layer][f"bytes_{phase.direction}"]
        assert len(bins) == heat["bins"]
        # A bin that a call only touches may have a part of it, as may the one beside it, since the
        # recorder's own bins lie otherwise.
        first = int((phase.begin - zero - width) // width)
        last = int((phase.end - zero + width) // width)
        assert sum(bins[max(first, 0) : last + 1]) >= phase.bytes, (phase, bins, first, last)
    for rank, row in rows.items():
        for layer, direction in (("mpi", "read"), ("mpi", "written"), ("own", "read")):
            own = [one for one in phases if (one.rank, one.layer) == (rank, layer)]
            own = [one for one in own if one.direction == direction]
            for at, moved in enumerate(row[layer][f"bytes_{direction}"]):
                begin, end = zero + (at - 1) * width, zero + (at + 2) * width
                near = any(one.begin < end and one.end > begin for one in own)
                assert near or not moved or layer == "own", (rank, layer, direction, at, moved)


def test_a_killed_job_leaves_its_times(host: Host, library: Path) -> None:
    directory = run(host, 2, "kill")
    (job,) = (directory / "images" / f"headrace-record-{os.geteuid()}").iterdir()
    phases = phases_in(directory)
    assert len(phases) == 7 * 2
    check_sums(report_of(job), directory, phases)
