"""The timeline: each call and region once, in order, within the program's own readings of the
clock, whatever MPI, language and end of the program; told where it begins late."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest
from hosts import REPOSITORY, Host
from running import compile_program, launch, work_directory
from test_languages import FORTRAN, fortran_program
from test_random_ends import gathered
from test_regions import INCLUDE

NS = 1000  # of a microsecond
PART = 340  # events
TOLERANCE = 50_000  # ns by which two of the system's clocks may drift apart meanwhile
RANKS = (1, 2, 4)


class Note(NamedTuple):
    """What the program knows of a call, or a region."""

    name: str
    begin: int
    end: int
    sent: int
    received: int
    peer: int
    region: int

    @property
    def shown(self) -> tuple:
        if self.name.startswith("region:"):
            return (self.name.removeprefix("region:"), "region", 0, 0, -1, None)
        region = f"part<{self.region}>" if self.region else None
        return (self.name, "mpi", self.sent, self.received, self.peer, region)


@dataclass
class Shown:
    """What the export has of one thread. `open`: what had not ended."""

    events: list[dict]
    open: list[dict]
    lost: int


def program(host: Host) -> Path:
    flags = ["-O1", "-g", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}"]
    compiler = [*host.compilers["c"], "-lpthread", "-ldl"]
    return compile_program(compiler, ["timeline.c"], f"timeline-{host.name}", flags)


def settings(directory: Path) -> dict[str, str]:
    return {
        "HEADRACE_RECORD": "1",
        "HEADRACE_LOGPATH": str(directory),
        "HEADRACE_TIMELINE": "1",
    }


def tallied(tally: Path) -> dict[tuple[int, int], list[Note]]:
    """By rank and thread, by their end."""
    found = defaultdict(list)
    for file in tally.parent.glob(f"{tally.name}.*"):
        for line in file.read_text().splitlines():
            thread, name, *numbers = line.split()
            key = int(file.suffix[1:]), int(thread)
            found[key].append(Note(name, *map(int, numbers)))
    return dict(found)


def export(records: list[Path], path: Path) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "headrace", "record", "export", *records, "--timeline", path]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def exported(record: Path, name: str = "out.json") -> tuple[dict, str]:
    path = record.parent / name
    done = export([record], path)
    assert done.returncode == 0, done.stderr
    text = gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()
    return json.loads(text), done.stderr


def only_record(directory: Path) -> Path:
    (record,) = directory.glob("*.hrc")
    return record


def shown(document: dict) -> dict[tuple[int, int], Shown]:
    found = {
        (one["rank"], one["thread"]): Shown([], [], one["lost"])
        for one in document["metadata"]["threads"]
    }
    for event in document["traceEvents"]:
        key = event["pid"], event["tid"] - event["pid"]
        if event["ph"] == "X" and event["cat"] in ("mpi", "mpi-io", "region"):
            found[key].events.append(event)
        elif event["ph"] == "B":
            found[key].open.append(event)
    for one in document["metadata"]["threads"]:
        own = found[one["rank"], one["thread"]]
        assert one["events"] == len(own.events)
    assert document["metadata"]["cut_to_fit"] == 0
    return found


def described(event: dict) -> tuple:
    args = event["args"]
    return (
        event["name"],
        event["cat"],
        args.get("sent", 0),
        args.get("received", 0),
        args.get("peer", -1),
        args.get("region"),
    )


def check(notes: list[Note], own: Shown) -> Iterator[tuple[int, int]]:
    """What is shown is what the program did last. Yields for each event by how much the clock of
    the timeline may differ from the program's."""
    kept = len(own.events)
    assert own.lost == len(notes) - kept
    last = sorted(notes[len(notes) - kept :], key=lambda one: (one.begin, -one.end))
    assert [described(event) for event in own.events] == [note.shown for note in last]
    open_ends: list[float] = []
    for event, note in zip(own.events, last, strict=True):
        begin, end = event["ts"], event["ts"] + event["dur"]
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        assert all(end <= outer + 0.001 for outer in open_ends), "they lie in each other"
        open_ends.append(end)
        yield note.begin - round(begin * NS), note.end - round(end * NS)


def check_all(document: dict, notes: dict[tuple[int, int], list[Note]]) -> None:
    """One clock holds for all ranks and threads."""
    found = shown(document)
    assert found.keys() == notes.keys()
    distances = [each for key in notes for each in check(notes[key], found[key])]
    assert max(least for least, _ in distances) <= min(most for _, most in distances) + TOLERANCE


def run(host: Host, ranks: int, words: tuple[int | str, ...], directory: Path, **more: str) -> Path:
    """words: seed and steps, and how. The tally."""
    tally = directory / "tally"
    seed, steps, *way = map(str, words)
    command = [program(host), seed, steps, tally, *way]
    result = launch(host, ranks, command, True, settings(directory) | more)
    assert result.code == 0, result.explain()
    return tally


@pytest.mark.parametrize("ranks", RANKS)
def test_each_call_and_region_is_there(host: Host, library: Path, ranks: int) -> None:
    directory = work_directory(f"timeline-{host.name}-{ranks}")
    tally = run(host, ranks, (ranks, 400), directory)
    document, said = exported(only_record(directory), "out.json.gz")
    check_all(document, tallied(tally))
    assert not said
    names = {
        e["pid"]: e["args"]["name"] for e in document["traceEvents"] if e["name"] == "process_name"
    }
    assert set(names) == set(range(ranks))
    assert all(name.startswith(f"rank {rank}") for rank, name in names.items())


def test_threads_have_a_line_each(host: Host, library: Path) -> None:
    directory = work_directory(f"timeline-threads-{host.name}")
    tally = run(host, 2, (7, 400, "threads"), directory)
    document, _ = exported(only_record(directory))
    notes = tallied(tally)
    assert len(notes) == 2 * 4
    found = shown(document)
    # Threads get their numbers in the order in which they come: they are known by what they do.
    chosen = {}
    for (rank, _), own in notes.items():
        did = Counter(note.shown for note in own)
        (number,) = [
            number
            for (of, number), line in found.items()
            if of == rank and Counter(map(described, line.events)) == did
        ]
        chosen[rank, number] = own
    check_all(document, chosen)


def test_the_latest_events_stay_where_there_is_no_room(host: Host, library: Path) -> None:
    directory = work_directory(f"timeline-overflow-{host.name}")
    tally = run(host, 2, (3, 20_000), directory, HEADRACE_TIMELINE_MEMORY="64k")
    notes = tallied(tally)
    document, said = exported(only_record(directory))
    for key, own in shown(document).items():
        assert 3 * PART < len(own.events) <= 4 * PART
        assert own.lost == len(notes[key]) - len(own.events) > 0
    check_all(document, notes)
    lost = sum(own.lost for own in shown(document).values())
    assert f"{lost:,} earlier events" in said
    told = [e for e in document["traceEvents"] if e["name"].endswith("earlier events are not kept")]
    assert len(told) == 2


def test_a_killed_job_has_what_it_was_in(host: Host, library: Path) -> None:
    directory = work_directory(f"timeline-kill-{host.name}")
    images = directory / "images"
    images.mkdir()
    tally = directory / "tally"
    own = settings(directory) | {"HEADRACE_RECORD_DIRECTORY": str(images)}
    result = launch(host, 2, [program(host), "5", "200", tally, "kill"], True, own)
    assert result.code != 0
    document, _ = exported(gathered(images, directory))
    check_all(document, tallied(tally))
    for (rank, _), line in shown(document).items():
        region, call = line.open
        assert (region["name"], region["cat"]) == ("last", "region")
        assert (call["name"], call["cat"]) == ("MPI_Barrier" if rank else "MPI_Recv", "mpi")
        assert (
            max(event["ts"] + event["dur"] for event in line.events) <= region["ts"] <= call["ts"]
        )


def test_nothing_is_kept_unless_asked(host: Host, library: Path) -> None:
    directory = work_directory(f"timeline-off-{host.name}")
    run(host, 2, (1, 100), directory, HEADRACE_TIMELINE="0")
    done = export([only_record(directory)], directory / "none")
    assert done.returncode == 1
    assert "has no timeline" in done.stderr and "HEADRACE_TIMELINE=1" in done.stderr
    assert not (directory / "none").exists()


@pytest.mark.parametrize(("name", "binding"), [(host.name, b) for host, b in FORTRAN])
def test_fortran(name: str, binding: str, library: Path) -> None:
    host, compiled = fortran_program(name, binding, "regions.F90", [INCLUDE / "headrace.f90"])
    directory = work_directory(f"timeline-{name}-{binding}")
    result = launch(host, 2, [compiled], True, settings(directory))
    assert result.code == 0, result.explain()
    document, _ = exported(only_record(directory))
    for line in shown(document).values():
        # Calls while the program has recording off are not there.
        assert [(event["name"], event["cat"]) for event in line.events] == [
            ("whole", "region"),
            ("MPI_Comm_rank", "mpi"),
            *[("solve", "region"), ("MPI_Allreduce", "mpi")] * 5,
            ("MPI_Barrier", "mpi"),
            ("MPI_Barrier", "mpi"),
        ]
        reduced = [event for event in line.events if event["name"] == "MPI_Allreduce"]
        assert all(event["args"]["sent"] == 40 for event in reduced)
        assert all(event["args"]["region"] == "solve" for event in reduced)
