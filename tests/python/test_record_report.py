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
from headrace.analysis.timeline import timeline
from headrace.errors import HeadraceError
from headrace.record.reader import read
from headrace.report.actions import BAR, characters
from headrace.report.document import document
from headrace.report.terminal import show
from headrace.report.timeline_text import timeline_lines
from headrace.report.units import library, place, seconds, short_time, size
from headrace.symbols.resolver import resolve
from headrace.texts import shown

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
    assert first["wait_seconds"] == {"least": pytest.approx(0.1), "most": pytest.approx(0.35)}
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
    assert "0.100 s to 0.350 s" in lines[3]
    titles = (
        *("Time and balance", "Operations", "Calls by bytes", "Hottest call paths"),
        *("Who sends most to whom", "Files", "What Headrace chose", "Placement", "Settings"),
        "Data quality",
    )
    assert [line for line in lines if line in titles] == list(titles)
    for part in ("app+0x200", "staged", "small pieces", "OMP_NUM_THREADS", "not measured: I/O"):
        assert part in text


def test_a_timeline_is_told_with_how_to_see_it(tmp_path: Path) -> None:
    made, text = told(small_job(), tmp_path)
    assert made["timeline"] is None
    assert "HEADRACE_TIMELINE=1 switches that on" in text
    job = small_job()
    for rank, node in enumerate(job.nodes):
        node.add("timelines", rank=rank, thread=0, events=1000 + rank, lost=7)
        node.add("timelines", rank=rank, thread=1, events=10)
        node.add("file_timelines", rank=rank, events=3, lost=rank)
    made, text = told(job, tmp_path)
    check(made, SCHEMA)
    command = "headrace record export app.1.2p1n.hrc --timeline run.json.gz"
    assert made["timeline"] == {
        "ranks": 2, "events": 2027, "file_events": 6, "lost_events": 15, "export": command,
    }  # fmt: skip
    assert "2,027 calls and regions of 2 ranks one by one, 6 of these calls on files" in text
    assert "15 earlier ones found no room: raise HEADRACE_TIMELINE_MEMORY" in text
    assert command in text and "HEADRACE_TIMELINE=1" not in text


def test_a_name_that_a_shell_would_read_otherwise_is_not_in_the_command(tmp_path: Path) -> None:
    job = small_job()
    job.nodes[0].add("timelines", rank=0, events=1)
    path = job.write(tmp_path, "a;reboot.hrc")
    assert "export FILE --timeline" in timeline_lines(timeline(read(path)))[1]


def job_with_accesses() -> Job:
    """One rank that writes by MPI-IO, descriptors and streams; two files are one."""
    job = Job(facts={"ranks": "1", "nodes": "1", "command": "./app", "directory": "/scratch"})
    node = job.node()
    second = 1_000_000_000
    node.add(
        "ranks", rank=0, state=1, run=second, threads=1, system_read=1000, system_written=10000,
        device_read=-1, device_written=4096, other_written=500, rings=2,
    )  # fmt: skip
    node.add("files", rank=0, file="out", opens=1, written=4000, store_written=6000, writes=2)
    node.add(
        "accesses", rank=0, file="/scratch/out", layer=0, opens=1, reads=4, read=800, unaligned=1,
        read_time=second // 2, sequential_reads=3, consecutive_reads=2, read_bin1=4, block=4096,
        maps=1, mapped=4096,
    )  # fmt: skip
    node.add(
        "accesses", rank=0, file="/scratch/log", layer=1, opens=2, writes=5, written=1500,
        write_bin0=5,
    )  # fmt: skip
    return job


def test_files_without_mpi(tmp_path: Path) -> None:
    made, text = told(job_with_accesses(), tmp_path)
    check(made, SCHEMA)
    files = {one["name"]: one for one in made["io"]["files"]}
    assert set(files) == {"out", "/scratch/log"}
    both, log = files["out"], files["/scratch/log"]
    assert (both["opens"], both["bytes_read"], both["bytes_written"]) == (2, 800, 4000)
    assert (both["store_bytes_read"], both["store_bytes_written"]) == (800, 6000)
    assert both["mpi"]["bytes_written"] == 4000 and both["posix"]["bytes_read"] == 800
    assert both["posix"]["read_bins"] == [0, 4, 0, 0, 0, 0, 0, 0, 0, 0]
    assert both["seconds"] == pytest.approx(0.5) and both["stdio"] is None
    assert log["store_bytes_written"] is None and log["stdio"]["bytes_written"] == 1500
    read, written = made["io"]["flow"]["read"], made["io"]["flow"]["written"]
    assert (read["posix_bytes"], read["system_bytes"], read["device_bytes"]) == (800, 1000, None)
    assert read["seen_share"] == pytest.approx(0.8)
    assert (written["mpi_bytes"], written["store_bytes"], written["stdio_bytes"]) == (
        4000,
        6000,
        1500,
    )
    assert written["seen_share"] == pytest.approx(0.8)
    assert (made["io"]["rings"], made["io"]["mapped_bytes"]) == (2, 4096)
    assert "From the program to storage" in text and "Files used without MPI" in text
    assert "2 rings of io_uring" in text and "75%" in text


def test_a_file_that_mpi_knows_by_two_names_is_one(tmp_path: Path) -> None:
    """Rank 0 writes 100 bytes and reads 40 of them by another name; rank 1 reads 7 elsewhere."""
    job = job_with_accesses()
    node = job.nodes[0]
    common = {"opens": 1, "collective_read_requests": 1, "store_read": 64, "time": 3}
    node.add("files", rank=0, file="out.dat", opens=1, written=100, writes=1, store_written=100)
    node.add("files", rank=0, file="./out.dat", read=10, reads=1, read_requests=1, **common)
    node.add("files", rank=0, file="/scratch/out.dat", read=30, reads=2, read_requests=2, **common)
    node.add("files", rank=1, file="/scratch/out.dat", store_read=-1, store_written=-1)
    node.add("files", rank=1, file="/elsewhere/out.dat", opens=1, read=7, reads=1)
    made, text = told(job, tmp_path)
    check(made, SCHEMA)
    files = {one["name"]: one for one in made["io"]["files"]}
    assert set(files) == {"out", "/scratch/log", "out.dat", "/elsewhere/out.dat"}
    one = files["out.dat"]
    assert (one["bytes_written"], one["bytes_read"], one["writes"], one["reads"]) == (100, 40, 1, 3)
    assert (one["ranks"], one["opens"], one["seconds"]) == (2, 3, 6e-9)
    assert (one["store_bytes_read"], one["store_bytes_written"]) == (128, 100)
    reads = one["mpi"]["storage"]["reads"]
    assert (reads["requests"], reads["in_collective_calls"], reads["aggregators"]) == (3, 2, 1)
    assert files["/elsewhere/out.dat"]["bytes_read"] == 7
    assert made["metrics"]["files"] == 3 and "/scratch/out.dat" not in text


@pytest.mark.parametrize(
    ("value", "told_so"),
    (("0", "HEADRACE_RECORD_FILES=1 switches that on"), ("1", "I/O through mapped files")),
)
def test_how_to_record_files_is_told_where_they_are_not(
    tmp_path: Path, value: str, told_so: str
) -> None:
    job = small_job()
    job.nodes[0].add("settings", name="HEADRACE_RECORD_FILES", value=value, origin="default")
    _, text = told(job, tmp_path)
    (line,) = [one for one in text.splitlines() if "not measured: I/O" in one]
    assert told_so in line


def test_records_of_versions_without_them(tmp_path: Path) -> None:
    job = job_with_accesses()
    job.schema["tables"] = [one for one in job.schema["tables"] if one["name"] != "accesses"]
    new = ("system_", "device_", "other_", "rings")
    for table in job.schema["tables"]:
        table["columns"] = [one for one in table["columns"] if not one["name"].startswith(new)]
    made, text = told(job, tmp_path)
    check(made, SCHEMA)
    assert [one["name"] for one in made["io"]["files"]] == ["out"]
    assert made["io"]["flow"]["read"]["system_bytes"] is None
    assert "accesses" in text


def test_incomplete_records_say_so(tmp_path: Path) -> None:
    job = small_job()
    job.nodes[1].rows["ranks"][0].update(state=0, folded=7)
    job.nodes[0].rows["calls"][2]["failed"] = 2
    made, text = told(job, tmp_path)
    assert "INCOMPLETE: 1 rank was running when the record was made" in text
    assert "folded: 7 calls" in text
    assert "calls that returned an error: MPI_Send 2" in text
    assert made["run"]["complete"] is False and made["quality"]["folded_calls"] == 7


def test_a_python_without_lines_is_named(tmp_path: Path) -> None:
    job = small_job()
    _, text = told(job, tmp_path)
    assert "lines of Python" not in text
    job.facts["python_without_lines"] = "3.99.1"
    _, text = told(job, tmp_path)
    assert "lines of Python: not known for this one, 3.99.1" in text


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
    assert seconds(0) == "0 s" and seconds(499_999) == "500 us"
    assert seconds(4_412_000) == "4.41 ms" and seconds(10_000_000) == "0.010 s"
    assert seconds(1.5e9) == "1.500 s"


@pytest.mark.parametrize(
    "shares", [[1.0], [0.368, 0.626, 0.005, 0.001], [1 / 3] * 3, [0.005] * 200, [0.2, 0.1], []]
)
def test_the_bar_is_full_where_shares_are_a_whole(shares: list[float]) -> None:
    drawn = characters(shares)
    assert len(drawn) == len(shares) and sum(drawn) == round(sum(shares) * BAR)
    assert all(abs(count - share * BAR) < 1 for count, share in zip(drawn, shares, strict=True))
