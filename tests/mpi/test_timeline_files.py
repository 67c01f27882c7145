"""The timeline's calls on files, by MPI-IO, descriptors and streams, of signal handlers and threads
without MPI, too: each once, in order, within the program's own readings of the clock."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hosts import Host
from running import compile_program, launch, work_directory
from test_regions import INCLUDE
from test_timeline import NS, RANKS, TOLERANCE, exported, only_record, settings

FILES = ("mpi-io", "posix", "stdio")
WITHOUT_MPI = 1 << 24
BYTES = 64  # of an event
OF_HANDLERS = -1  # the region is that of what was interrupted


class Key(NamedTuple):
    rank: int
    kind: str
    file: str


class Note(NamedTuple):
    """What the program knows of a call."""

    name: str
    begin: int
    end: int
    bytes: int
    offset: int
    region: int


def run(host: Host, ranks: int, steps: int, directory: Path, **more: str) -> dict[Key, list[Note]]:
    flags = ["-O1", "-g", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}"]
    compiler = [*host.compilers["c"], "-lpthread", "-ldl"]
    name = f"timeline-files-{host.name}"
    program = compile_program(compiler, ["timeline_files.c"], name, flags)
    folder = directory / "files"
    folder.mkdir()
    command = [program, str(ranks), str(steps), directory / "tally", folder]
    own = settings(directory) | {"HEADRACE_RECORD_FILES": "1"} | more
    result = launch(host, ranks, command, True, own)
    assert result.code == 0, result.explain()
    return tallied(directory / "tally")


def tallied(tally: Path) -> dict[Key, list[Note]]:
    """By their end."""
    found = defaultdict(list)
    for own in tally.parent.glob(f"{tally.name}.*"):
        for line in own.read_text().splitlines():
            _, kind, name, *numbers, file = line.split()
            found[Key(int(own.suffix[1:]), kind, file)].append(Note(name, *map(int, numbers)))
    return dict(found)


def shown(document: dict, folder: Path) -> dict[Key, list[dict]]:
    """By their begin, which is their order, too: calls on one file are never in each other."""
    found = defaultdict(list)
    for event in document["traceEvents"]:
        if event["ph"] == "X" and event["cat"] in FILES:
            path = Path(event["args"]["file"])
            assert path.parent == folder
            found[Key(event["pid"], event["cat"], path.name)].append(event)
    return dict(found)


def described(event: dict) -> tuple:
    args = event["args"]
    moved = args.get("written", 0) + args.get("read", 0)
    return event["name"], moved, args.get("offset", -1), args.get("region")


def check(notes: list[Note], own: list[dict]) -> Iterator[tuple[int, int]]:
    """What is shown is what the program did last. Yields for each event by how much the clock of
    the timeline may differ from the program's."""
    for event, note in zip(own, notes[len(notes) - len(own) :], strict=True):
        region = f"part<{note.region}>" if note.region > 0 else None
        if note.region == OF_HANDLERS:
            region = event["args"].get("region")
        assert described(event) == (note.name, note.bytes, note.offset, region)
        end = event["ts"] + event["dur"]
        yield note.begin - round(event["ts"] * NS), note.end - round(end * NS)


def check_times(distances: list[tuple[int, int]]) -> None:
    assert max(least for least, _ in distances) <= min(most for _, most in distances) + TOLERANCE


@pytest.mark.parametrize("ranks", RANKS)
def test_each_call_on_a_file_is_there(host: Host, library: Path, ranks: int) -> None:
    directory = work_directory(f"timeline-files-{host.name}-{ranks}")
    notes = run(host, ranks, 600, directory)
    document, said = exported(only_record(directory))
    found = shown(document, directory / "files")
    assert not said
    assert document["metadata"]["cut_to_fit"] == 0
    assert found.keys() == notes.keys()
    assert all(len(found[key]) == len(notes[key]) for key in notes)
    check_times([each for key in notes for each in check(notes[key], found[key])])
    kept = {one["rank"]: one["events"] for one in document["metadata"]["files"]}
    assert kept == {
        rank: sum(len(found[key]) for key in found if key.rank == rank and key.kind != "mpi-io")
        for rank in range(ranks)
    }
    for key, own in found.items():
        # One line for the thread that has MPI, and one for the other.
        (line,) = {event["tid"] for event in own}
        assert (line > WITHOUT_MPI) == key.file.startswith("thread.")
    named = [
        event
        for event in document["traceEvents"]
        if event["name"] == "thread_name" and event["tid"] > WITHOUT_MPI
    ]
    assert sorted(event["pid"] for event in named) == list(range(ranks))
    assert all("without MPI" in event["args"]["name"] for event in named)


def test_the_latest_calls_on_files_stay_where_there_is_no_room(host: Host, library: Path) -> None:
    directory = work_directory(f"timeline-files-overflow-{host.name}")
    notes = run(host, 2, 4000, directory, HEADRACE_TIMELINE_MEMORY="64k")
    document, said = exported(only_record(directory))
    found = shown(document, directory / "files")
    assert found.keys() <= notes.keys()
    check_times([each for key, own in found.items() for each in check(notes[key], own)])
    marks = [
        e for e in document["traceEvents"] if e["name"].endswith("calls on files are not kept")
    ]
    assert len(marks) == 2
    lost = sum(one["lost"] for one in document["metadata"]["threads"])
    for one in document["metadata"]["files"]:
        assert one["events"] == 32768 // BYTES
        own = [key for key in notes if key.rank == one["rank"] and key.kind != "mpi-io"]
        assert one["lost"] == sum(len(notes[key]) for key in own) - one["events"] > 0
        lost += one["lost"]
    assert f"{lost:,} earlier events" in said


def test_without_records_of_files_there_are_none(host: Host, library: Path) -> None:
    directory = work_directory(f"timeline-files-off-{host.name}")
    run(host, 1, 100, directory, HEADRACE_RECORD_FILES="0")
    document, _ = exported(only_record(directory))
    found = shown(document, directory / "files")
    assert found and all(key.kind == "mpi-io" for key in found)
    assert document["metadata"]["files"] == []
