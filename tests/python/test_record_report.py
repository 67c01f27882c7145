"""`headrace report`: what it prints, that its JSON keeps to the schema, and what it refuses."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cli_support import ROOT, Command
from record_mutations import mutated
from record_support import Job, large_data, small_job
from rich.console import Console
from schema_support import check

from headrace.advice.judging import judge
from headrace.advice.rules import collect
from headrace.analysis.analyse import analyse
from headrace.errors import HeadraceError
from headrace.record.reader import read
from headrace.report.actions import BAR, characters
from headrace.report.document import document
from headrace.report.terminal import show
from headrace.report.units import library, place, seconds, short_time, shown, size
from headrace.symbols.resolver import resolve

SCHEMA = json.loads((ROOT / "docs" / "reference" / "report.schema.json").read_text())
RULES = collect(())
MUTATIONS = 1000
SECONDS_LARGE = 30  # of one core; two on an idle machine


def told(job: Job, folder: Path) -> tuple[dict[str, Any], str]:
    """The JSON and the text."""
    found = analyse(read(job.write(folder)))
    symbols = resolve(site.frames for site in found.sites)
    out = Console(width=200)
    with out.capture() as text:
        show(out, found, symbols, judge(RULES, found.metrics))
    return json.loads(json.dumps(document(found, symbols, judge(RULES, found.metrics)))), text.get()


def test_json_keeps_to_its_schema(tmp_path: Path) -> None:
    for job in (small_job(), Job()):
        check(told(job, tmp_path)[0], SCHEMA)


def test_numbers_of_the_small_job(tmp_path: Path) -> None:
    made, _ = told(small_job(), tmp_path)
    assert made["version"] == 1
    assert made["run"] == {
        "source": "record",
        "ranks": 2,
        "nodes": 2,
        "mpi": "MPICH 5.0.2",
        "command": "./app -x",
        "seconds": 1.0,
        "complete": True,
        "lacks": [],
    }
    first = made["mpi"]["procedures"][0]
    assert (first["name"], first["calls"], first["bytes"]) == ("MPI_Allreduce", 20, 160)
    assert first["seconds"] == pytest.approx(0.4)
    assert first["wait_seconds"] == {"least": pytest.approx(0.2), "most": pytest.approx(0.3)}
    assert made["mpi"]["matrix"] == [{"from": 0, "to": 1, "messages": 3, "bytes": 3000}]
    (file,) = made["io"]["files"]
    assert file["name"] == "/scratch/out.dat" and file["opens"] == 2
    assert (file["bytes_written"], file["store_bytes_written"]) == (8192, 8192)
    assert (file["bytes_read"], file["store_bytes_read"]) == (0, None)


def test_the_text_has_it_all(tmp_path: Path) -> None:
    _, text = told(small_job(), tmp_path)
    lines = text.splitlines()
    assert lines[0] == "2 ranks on 2 nodes, 1.000 s, MPICH 5.0.2, ./app -x"
    assert lines[1].startswith("Parallel efficiency is 68%, below POP's 80%")
    assert "0.675 = load balance 0.844 x communication efficiency 0.800" in lines[2]
    assert "0.200 s to 0.300 s" in lines[3]
    titles = (
        *("Time and balance", "Operations", "Calls by bytes", "Hottest call paths"),
        *("Who sends most to whom", "Files", "What Headrace chose", "Placement", "Settings"),
        "Data quality",
    )
    assert [line for line in lines if line in titles] == list(titles)
    for part in ("app+0x200", "staged", "small pieces", "OMP_NUM_THREADS", "not measured: I/O"):
        assert part in text


def test_incomplete_records_say_so(tmp_path: Path) -> None:
    job = small_job()
    job.nodes[1].rows["ranks"][0].update(state=0, folded=7)
    job.nodes[0].rows["calls"][2]["failed"] = 2
    made, text = told(job, tmp_path)
    assert "INCOMPLETE: 1 ranks were running when the record was made" in text
    assert "folded: 7 calls" in text
    assert "calls that returned an error: MPI_Send 2" in text
    assert made["run"]["complete"] is False and made["quality"]["folded_calls"] == 7


def test_hostile_texts_do_not_reach_the_terminal(tmp_path: Path) -> None:
    job = small_job()
    evil = "\x1b]0;title\x07[bold red]a\u202eb\n\\[/x\r" + "y" * 10_000
    job.facts["command"] = evil
    for node in job.nodes:
        for row in (node.rows["files"][0], node.rows["settings"][1], node.rows["ranks"][0]):
            row.update({name: node.text(evil) for name in {"file", "value", "host"} & row.keys()})
    made, text = told(job, tmp_path)
    assert not any(bad in text for bad in ("\x1b", "\x07", "\r", "\u202e"))
    assert "\\u001b]0;title" in text and "[bold red]" in text
    assert "y" * 1000 not in text
    assert made["run"]["command"] == evil


def test_what_can_be_read_can_be_shown(tmp_path: Path) -> None:
    path = tmp_path / "x.hrc"
    shown_ones = 0
    for seed in range(MUTATIONS):
        path.write_bytes(mutated(seed, mend=True))
        try:
            found = analyse(read(path))
        except HeadraceError:
            continue
        symbols = resolve(site.frames for site in found.sites)
        check(document(found, symbols, judge(RULES, found.metrics)), SCHEMA)
        shown_ones += 1
        if shown_ones % 10 == 0:
            out = Console(width=200)
            with out.capture() as text:
                show(out, found, symbols, judge(RULES, found.metrics))
            assert "Data quality" in text.get()
    assert shown_ones > MUTATIONS // 20


def test_the_command(headrace: Command, tmp_path: Path) -> None:
    path = small_job().write(tmp_path)
    done = headrace("report", path)
    assert done.returncode == 0 and "Parallel efficiency is 68%" in done.stdout
    done = headrace("report", path, "--json", PYTHONIOENCODING="ascii")
    check(json.loads(done.stdout), SCHEMA)
    closed = f"{sys.executable} -m headrace report {path} --json | true"
    environ = {**headrace.environ, "PYTHONUNBUFFERED": "1"}
    done = subprocess.run(closed, shell=True, env=environ, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("", "")
    path.write_bytes(b"other")
    done = headrace("report", path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "is no record (it begins otherwise), give a file" in done.stderr
    assert headrace("report").returncode == 2


def test_many_ranks(tmp_path: Path) -> None:
    path = tmp_path / "x.hrc"
    path.write_bytes(large_data())
    begin = time.process_time()
    found = analyse(read(path))
    made = document(
        found,
        resolve(site.frames for site in found.sites),
        judge(RULES, found.metrics),
    )
    assert time.process_time() - begin < SECONDS_LARGE
    assert {one["name"]: one["calls"] for one in made["mpi"]["procedures"]} == dict.fromkeys(
        ("MPI_Allreduce", "MPI_Send", "MPI_Recv"), 4096 * 20 * 1000
    )
    assert len(made["mpi"]["matrix"]) == 4096 * 26
    assert all(one["calls"] == 4096 * 1000 for one in made["mpi"]["paths"])


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (size(None), "-"),
        (size(1023), "1023 B"),
        (size(1536), "1.5 KiB"),
        (size(2**70), "1073741824.0 TiB"),
        (short_time(999), "999 ns"),
        (short_time(1_500_000), "1.5 ms"),
        (shown("a\tb"), "a\\u0009b"),
        (shown("x" * 20, 9), "xxx...xxx"),
    ],
)
def test_units(made: str, expected: str) -> None:
    assert made == expected


def test_texts_that_people_read() -> None:
    assert library("MPICH Version:      5.0.2\nMPICH Release date: x, y") != ""
    assert library("MPICH Version:      5.0.2") == "MPICH 5.0.2"
    assert library("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4") == "Open MPI v4.1.4"
    assert library("\x1b[0m") == "\\u001b[0m" and library("") == ""
    assert place("/tmp/build/src/a.c") == "a.c" and place("a.c") == "a.c" and place("d/") == "d/"
    assert seconds(0) == "0.000 s" and seconds(499_999) == "500 us"
    assert seconds(500_000) == "0.001 s" and seconds(1.5e9) == "1.500 s"


@pytest.mark.parametrize(
    "shares", [[1.0], [0.368, 0.626, 0.005, 0.001], [1 / 3] * 3, [0.005] * 200, [0.2, 0.1], []]
)
def test_the_bar_is_full_where_shares_are_a_whole(shares: list[float]) -> None:
    drawn = characters(shares)
    assert len(drawn) == len(shares) and sum(drawn) == round(sum(shares) * BAR)
    assert all(abs(count - share * BAR) < 1 for count, share in zip(drawn, shares, strict=True))
