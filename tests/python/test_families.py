"""Files of which each rank has its own are shown as one row; from records made by hand."""

from pathlib import Path
from typing import Any

import pytest
from record_support import Job
from schema_support import check
from test_record_report import SCHEMA, told

MS = 1_000_000
HASHES = [f"file-{0x1234567890ABCDEF + at:016x}" for at in range(8)]


def job_of(names: list[str], *, by: tuple[str, ...] = ("posix",), ranks: int = 16) -> Job:
    """The file at place i is used by rank i, who writes 1000 + i bytes to it in i ms."""
    job = Job(facts={"ranks": str(ranks), "nodes": "1", "command": "./app"})
    node = job.node()
    for rank in range(ranks):
        node.add("ranks", rank=rank, state=1, run=1000 * MS, threads=1)
    for at, name in enumerate(names):
        used(job, at % ranks, name, 1000 + at, by=by, time=at * MS)
    return job


def used(
    job: Job, rank: int, name: str, size: int, by: tuple[str, ...] = ("posix",), time: int = 0
) -> None:
    (node,) = job.nodes
    for layer in by:
        if layer == "mpi":
            node.add("files", rank=rank, file=name, opens=1, written=size, writes=2, time=time)
        else:
            node.add(
                "accesses", rank=rank, file=name, layer=("posix", "stdio").index(layer), opens=1,
                written=size, writes=2, write_time=time, write_bin1=2, block=4096,
                furthest_written=size,
            )  # fmt: skip


def families_of(job: Job, folder: Path) -> list[dict[str, Any]]:
    document, _ = told(job, folder)
    check(document, SCHEMA)
    names = {one["name"] for one in document["io"]["files"]}
    for one in document["io"]["families"]:
        assert one["name"] not in names
    return document["io"]["families"]


@pytest.mark.parametrize("by", (("posix",), ("stdio",), ("mpi",), ("mpi", "posix")))
def test_a_file_for_each_rank_is_one_row(tmp_path: Path, by: tuple[str, ...]) -> None:
    job = job_of([f"/scratch/out.{rank}.dat" for rank in range(16)], by=by)
    used(job, 0, "/scratch/input", 5, by=by, time=MS)
    document, text = told(job, tmp_path)
    check(document, SCHEMA)
    (family,) = document["io"]["families"]
    layers = len(by)
    assert family == {
        "name": "/scratch/out.{0..15}.dat",
        "files": 16,
        "ranks": 16,
        "interface": {"mpi": "MPI-IO", "posix": "POSIX", "stdio": "STDIO"}[by[0]],
        "opens": {"total": 16 * layers, "least": layers, "greatest": layers},
        "reads": {"total": 0, "least": 0, "greatest": 0},
        "writes": {"total": 32 * layers, "least": 2 * layers, "greatest": 2 * layers},
        "bytes_read": {"total": 0, "least": 0, "greatest": 0},
        "bytes_written": {
            "total": layers * sum(range(1000, 1016)),
            "least": layers * 1000,
            "greatest": layers * 1015,
        },
        "seconds": {
            "total": pytest.approx(layers * 0.120),
            "least": 0.0,
            "greatest": pytest.approx(layers * 0.015),
        },
    }
    assert len(document["io"]["files"]) == 17, "each is there by itself, too"
    rows = [line for line in text.splitlines() if "/scratch/" in line]
    assert not any("out.3.dat" in line for line in rows)
    named = [line for line in rows if "/scratch/out.{0..15}.dat (16 files, one a rank)" in line]
    calls_by_bytes = sum(one != "mpi" for one in by)
    assert len(named) == layers + calls_by_bytes
    assert f"{sum(range(1000, 1016)) / 1024:.1f} KiB" in named[0] and "0.120 s" in named[0]
    assert "Files of single ranks" in text


def test_layers_of_one_file_stay_apart(tmp_path: Path) -> None:
    """Files that are written by calls on descriptors and on streams, too."""
    job = job_of([])
    for rank in range(8):
        used(job, rank, f"/s/out.{rank}", 1024, by=("posix",), time=MS)
        used(job, rank, f"/s/out.{rank}", 2048, by=("stdio",), time=2 * MS)
    _, text = told(job, tmp_path)
    rows = [line for line in text.splitlines() if "/s/out.{0..7} (8 files" in line]
    assert any("posix" in row and "8.0 KiB" in row for row in rows)
    assert any("stdio" in row and "16.0 KiB" in row for row in rows)
    assert not any("24.0 KiB" in row for row in rows)


@pytest.mark.parametrize(
    ("names", "expected"),
    (
        ([f"/s/out.{at:04}" for at in range(16)], "/s/out.{0000..0015}"),
        ([f"/s/run7/{at}/p{at}.h5" for at in range(8, 12)], "/s/run7/{8..11}/p{8..11}.h5"),
        ([f"{at}" for at in range(4)], "{0..3}"),
        ([f"/s/a{at}.{at % 2}b" for at in range(4)], "/s/a{0..3}.{0..1}b"),
        ([f"/s/{'9' * 30}{at}" for at in range(4)], f"/s/{{{'9' * 30}0..{'9' * 30}3}}"),
        ([f"/s/ä\n\x1b[{at}] {{1..2}}\u202e" for at in range(4)], None),
    ),
)
def test_names(tmp_path: Path, names: list[str], expected: str | None) -> None:
    document, text = told(job_of(names), tmp_path)
    (family,) = document["io"]["families"]
    assert family["name"] == (expected or "/s/ä\n\x1b[{0..3}] {1..2}\u202e")
    assert family["files"] == len(names)
    assert "\x1b" not in text and "\u202e" not in text
    if expected is None:
        assert "/s/ä\\u000a\\u001b[{0..3}] {1..2}\\u202e (4 files" in text


@pytest.mark.parametrize(
    "names",
    (
        [],
        ["/s/one", "/s/two", "/s/three", "/s/four", "/s/five"],
        ["/s/out.0", "/s/out.1", "/s/out.2"],
        ["/s/out.0", "/s/out.1", "/s/out.2", "/s/out3"],
        HASHES,
        ["(files)", "(other files)"],
        [f"/s/{at}/*" for at in range(8)],
        [f"/s/out.{'²³¹٣'[at]}" for at in range(4)],
    ),
)
def test_what_is_no_family(tmp_path: Path, names: list[str]) -> None:
    assert families_of(job_of(names), tmp_path) == []


def test_files_of_several_ranks_are_none(tmp_path: Path) -> None:
    names = [f"/s/out.{at}" for at in range(6)]
    job = job_of(names)
    for at in range(3):
        used(job, 15, names[at], 1)
    assert families_of(job, tmp_path) == [], "three are left"
    job = job_of([])
    for name in names:
        used(job, 3, name, 1000)
    assert families_of(job, tmp_path) == [], "all are one rank's"
    job = job_of([])
    for at, name in enumerate(names):
        used(job, at, name, 1000, by=("mpi",))
        used(job, at + 1, name, 1000, by=("posix",))
    assert families_of(job, tmp_path) == [], "MPI-IO and POSIX by different ranks"


def test_several_files_a_rank(tmp_path: Path) -> None:
    job = job_of([])
    for rank in range(4):
        for step in range(3):
            used(job, rank, f"/s/step{step}.{rank}", 1000)
    (family,) = families_of(job, tmp_path)
    assert (family["name"], family["files"], family["ranks"]) == ("/s/step{0..2}.{0..3}", 12, 4)
    assert "/s/step{0..2}.{0..3} (12 files, of 4 ranks)" in told(job, tmp_path)[1]


def test_sizes_of_another_order_are_apart(tmp_path: Path) -> None:
    job = job_of([])
    for rank in range(5):
        used(job, rank, f"/s/out.{rank}", 1000 + rank)
    used(job, 5, "/s/out.5", 100_000)
    (family,) = families_of(job, tmp_path)
    assert (family["name"], family["files"]) == ("/s/out.{0..4}", 5)
    text = told(job, tmp_path)[1]
    assert "/s/out.5 " in text
    for rank in range(6, 10):
        used(job, rank, f"/s/out.{rank}", 200_000)
    assert [one["files"] for one in families_of(job, tmp_path)] == [5, 5]


def test_mixed_names(tmp_path: Path) -> None:
    names = [f"/s/a.{at}" for at in range(4)] + [f"/s/b.{at}" for at in range(4)]
    names += ["/s/log", "/s/a.4.old", HASHES[0]]
    found = {one["name"]: one["files"] for one in families_of(job_of(names), tmp_path)}
    assert found == {"/s/a.{0..3}": 4, "/s/b.{0..3}": 4}
