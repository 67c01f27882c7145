"""`headrace record export --timeline`: calls on files, by MPI and without it; threads' lines."""

from pathlib import Path

import pytest
from record_support import Job
from test_timeline import (
    HOSTILE,
    POSIX,
    START,
    STDIO,
    WITHOUT_MPI,
    add,
    export,
    node_of,
    slices,
)


def test_calls_on_files_are_shown(tmp_path: Path) -> None:
    job = Job()
    node = node_of(job, 0)
    node.add("file_timelines", rank=0, events=4, since=START)
    node.add("regions", rank=0, region=1, id=7, label="solve")
    add(node, 0, 0, 9000, procedure="MPI_File_write_all", file="/scratch/a", sent=8)
    add(node, 0, 1000, 2000, POSIX, procedure="write", file="/b", sent=5, offset=0, region=1)
    add(node, 0, 4000, 500, STDIO, procedure="read", file=HOSTILE, received=6, system_thread=77)
    for begin, thread in ((0, 99), (100, 98), (200, 99)):
        given = {"procedure": "sync", "file": "/c", "thread": -1, "system_thread": thread}
        add(node, 0, begin, 1000, POSIX, **given)
    document = export(job, tmp_path)
    whole, write, read_by_stream, *others = slices(document)
    assert (whole["cat"], whole["args"]) == ("mpi-io", {"file": "/scratch/a", "written": 8})
    assert (write["name"], write["cat"], write["tid"]) == ("write", "posix", 0)
    assert write["args"] == {"file": "/b", "offset": 0, "written": 5, "region": "solve"}
    assert (read_by_stream["cat"], read_by_stream["tid"]) == ("stdio", 0)
    assert read_by_stream["args"] == {"file": HOSTILE, "read": 6}
    # Threads without MPI have a line each: only what is of one lies in each other.
    assert [(one["tid"] - WITHOUT_MPI, one["dur"]) for one in others] == [
        (99, 1),
        (98, 1),
        (99, 0.8),
    ]
    named = [
        one for one in document["traceEvents"] if one["tid"] > WITHOUT_MPI and one["ph"] == "M"
    ]
    assert [(one["tid"] - WITHOUT_MPI, one["args"]["name"]) for one in named] == [
        (99, "thread without MPI (99)"),
        (98, "thread without MPI (98)"),
    ]
    assert document["metadata"]["files"] == [{"rank": 0, "events": 4, "lost": 0, "since_us": 0}]


def test_calls_on_files_that_were_lost_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = Job()
    node = node_of(job, 0, lost=2)
    node.add("file_timelines", rank=0, events=1, lost=1200, since=START + 5000)
    add(node, 0, 6000, 10, POSIX, procedure="write", file="/b")
    document = export(job, tmp_path)
    marks = [one for one in document["traceEvents"] if one["ph"] == "i"]
    assert [(one["name"], one["ts"]) for one in marks] == [
        ("2 earlier events are not kept", 0),
        ("1,200 earlier calls on files are not kept", 5),
    ]
    assert "1,202 earlier events" in capsys.readouterr().err


def test_each_line_has_a_number_of_its_own(tmp_path: Path) -> None:
    """Within its process; only the first thread's may be 0 or that of the process, which Perfetto
    takes for the main thread's."""
    job = Job()
    for rank in range(4):
        node = node_of(job, rank, threads=5)
        for thread in range(5):
            add(node, rank, 0, 1, thread=thread)
    lines = [(one["pid"], one["tid"]) for one in slices(export(job, tmp_path))]
    assert len(set(lines)) == 4 * 5
    for rank in range(4):
        first, *others = [line for of, line in lines if of == rank]
        assert first == rank and not {0, rank} & set(others)
