"""When ranks read and wrote, from records made by hand: one time for all, and no byte lost."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from record_support import Job, small_job
from schema_support import check
from test_record_report import SCHEMA, told
from test_report_page import Checked, made

SECOND = 1_000_000_000
BEGIN = 1_800_000_000 * SECOND


def job_of(ranks: int, seconds: int = 64, on_node: int = 1 << 30) -> Job:
    job = Job(facts={"ranks": str(ranks), "nodes": "1", "command": "./app"})
    for rank in range(ranks):
        if rank % on_node == 0:
            node = job.node()
        node.add("ranks", rank=rank, state=1, start=BEGIN, run=seconds * SECOND, threads=1)
    return job


def moved(job: Job, rank: int, second: float, node: int = 0, **given: int) -> None:
    given = {"layer": 0, "ranks": 1, "width": SECOND, **given}
    job.nodes[node].add("heat", rank=rank, begin=BEGIN + int(second * SECOND), **given)


def heat_of(job: Job, folder: Path) -> dict[str, Any]:
    document = told(job, folder)[0]
    check(document, SCHEMA)
    return document["io"]["heat_map"]


def test_bins_of_the_record_are_those_of_the_report(tmp_path: Path) -> None:
    job = job_of(2)
    moved(job, 0, 3, read=5, written=7)
    moved(job, 1, 63, layer=1, written=9)
    heat = heat_of(job, tmp_path)
    assert (heat["bin_seconds"], heat["bins"], heat["joined"]) == (1.0, 64, False)
    first, second = heat["rows"]
    assert (first["rank"], first["ranks"], second["rank"]) == (0, 1, 1)
    assert first["mpi"]["bytes_read"] == [5 if at == 3 else 0 for at in range(64)]
    assert first["mpi"]["bytes_written"] == [7 if at == 3 else 0 for at in range(64)]
    assert not any(first["own"]["bytes_read"]) and not any(second["mpi"]["bytes_written"])
    assert second["own"]["bytes_written"] == [0] * 63 + [9]


def test_clocks_and_widths_come_to_one(tmp_path: Path) -> None:
    """Rank 1 began two seconds later; its bins are wider."""
    job = job_of(1, 8)
    job.nodes[0].add("ranks", rank=1, state=1, start=BEGIN + 2 * SECOND, run=8 * SECOND)
    job.facts["ranks"] = "2"
    moved(job, 0, 0, width=SECOND // 2, written=10)
    moved(job, 1, 2, width=2 * SECOND, written=100)
    moved(job, 1, 8, width=2 * SECOND, written=1)
    heat = heat_of(job, tmp_path)
    assert (heat["bin_seconds"], heat["bins"]) == (2.0, 5)
    first, second = (row["mpi"]["bytes_written"] for row in heat["rows"])
    assert first == [10, 0, 0, 0, 0] and second == [0, 100, 0, 0, 1]


def test_a_bin_across_others_is_split_exactly(tmp_path: Path) -> None:
    job = job_of(1, 8)
    moved(job, 0, 1, width=4 * SECOND, read=1001)
    heat = heat_of(job, tmp_path)
    assert heat["bin_seconds"] == 4.0
    assert heat["rows"][0]["mpi"]["bytes_read"] == [750, 251]


def test_no_byte_is_lost_whatever_the_bins(tmp_path: Path) -> None:
    draw = random.Random(7)
    for _ in range(20):
        job = job_of(3, draw.randrange(1, 200))
        sums = {"read": 0, "written": 0}
        for _ in range(100):
            given = {name: draw.randrange(1 << draw.randrange(1, 50)) for name in sums}
            second = draw.random() * 300
            width = draw.randrange(1, 1 << draw.randrange(1, 40))
            moved(job, draw.randrange(3), second, width=width, layer=draw.randrange(2), **given)
            for name, size in given.items():
                sums[name] += size
        heat = heat_of(job, tmp_path)
        assert heat["bins"] <= 64
        for name, size in sums.items():
            lists = [row[at][f"bytes_{name}"] for row in heat["rows"] for at in ("mpi", "own")]
            assert sum(map(sum, lists)) == size
            assert all(len(one) == heat["bins"] and min(one) >= 0 for one in lists)


def test_many_ranks_are_joined(tmp_path: Path) -> None:
    job = job_of(1000, on_node=100)
    for rank in range(1000):
        moved(job, rank, rank % 64, node=rank // 100, written=rank)
    document, text = told(job, tmp_path)
    heat = document["io"]["heat_map"]
    assert heat["joined"] and len(heat["rows"]) == 256
    assert sum(row["ranks"] for row in heat["rows"]) == 1000
    at = 0
    for row in heat["rows"]:
        assert row["rank"] == at
        assert sum(row["mpi"]["bytes_written"]) == sum(range(at, at + row["ranks"]))
        at += row["ranks"]
    lines = text.splitlines()
    begin = lines.index("Reads and writes over time")
    drawn = [line.strip() for line in lines[begin:] if re.match(r" *\d+-\d+ ", line)]
    assert len(drawn) == 8 and drawn[0].startswith("0-124 ") and drawn[7].startswith("875-999 ")


def test_the_text_shows_when(tmp_path: Path) -> None:
    job = job_of(2)
    moved(job, 0, 0, written=4096)
    moved(job, 1, 62, written=1024)
    moved(job, 1, 32, layer=1, read=4)
    _, text = told(job, tmp_path)
    rows = {line.split()[0]: line for line in text.splitlines() if "|" in line}
    read, written = re.findall(r"\|(.{32})\|", rows["0"])
    assert read == " " * 32 and written == "@" + " " * 31
    read, written = re.findall(r"\|(.{32})\|", rows["1"])
    assert read == " " * 16 + "." + " " * 15 and written == " " * 31 + "#"
    assert "a character stands for 2.000 s; @ is 4.0 KiB" in text


def test_without_reads_and_writes_nothing_is_shown(tmp_path: Path) -> None:
    document, text = told(job_of(2), tmp_path)
    assert document["io"]["heat_map"]["rows"] == []
    assert "over time" not in text and "over time" not in made(job_of(2), tmp_path)


def test_records_of_versions_without_it(tmp_path: Path) -> None:
    job = small_job()
    tables = job.schema["tables"]
    tables[:] = [table for table in tables if table["name"] != "heat"]
    document, text = told(job, tmp_path)
    check(document, SCHEMA)
    assert document["io"]["heat_map"] is None and "over time" not in text
    assert "heat" in document["quality"]["not_measured"]


@pytest.mark.parametrize("ranks", (1, 3000))
def test_the_page_has_pictures(tmp_path: Path, ranks: int) -> None:
    job = job_of(ranks)
    for rank in range(ranks):
        moved(job, rank, 10, written=1000 + rank)
        moved(job, rank, 30.5, written=1)
    text = made(job, tmp_path)
    checked = Checked(text)
    assert "Reads and writes over time" in checked.text
    assert len(re.findall('<svg class="heat"', text)) == 1, "nothing was read"
    (label,) = re.findall(r'<svg class="heat"[^>]* aria-label="([^"]*)"', text)
    assert f"Bytes written by {ranks} ranks" in label
    assert "most from 10.000 s to 11.000 s" in label
    (shapes,) = re.findall(r'<svg class="heat".*?</svg>', text)
    assert 'class="shade4"' in shapes and 'class="shade0"' in shapes
    assert len(text) < 400_000


@pytest.mark.parametrize(
    "given", ({"width": 0}, {"width": 1 << 62}, {"begin": 0}, {"begin": 1 << 62}, {"ranks": 0})
)
def test_odd_rows_do_no_harm(tmp_path: Path, given: dict[str, int]) -> None:
    job = job_of(2)
    moved(job, 1, 5, read=11)
    job.nodes[0].rows["heat"][0].update(given)
    moved(job, 5000, 5, read=1)
    heat = heat_of(job, tmp_path)
    assert sum(sum(row["mpi"]["bytes_read"]) for row in heat["rows"]) == 12
    json.dumps(heat)
