"""`headrace bench compare` and `headrace demo`: what they claim, and what they leave behind."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from bench_support import bench_command, started
from cli_support import Command

from headrace.bench.comparison import Comparison, losing_first
from headrace.bench.flags import require_no_way
from headrace.bench.jobs import (
    HEADRACE,
    JOBS,
    PLAIN,
    Measurement,
    ior_job,
    lattice_job,
    tile_job,
)
from headrace.bench.report import facts, is_sound
from headrace.errors import HeadraceError
from headrace.mpi.installed import Mpi

HINTS = {"headrace_write_taken": "direct", "headrace_write_reason": "for the test"}


@pytest.fixture
def bench(tmp_path: Path) -> Command:
    return bench_command(tmp_path)


class FakeHost:
    """As far as a comparison's numbers need one."""

    title = "an MPI"
    mpi = Mpi("mpich", Path("libmpi.so.12"), None)


def comparison(ours: list[float], plain: list[float], posix: list[float]) -> Comparison:
    result = Comparison(ior_job(2), FakeHost())
    rows = {HEADRACE: ours, PLAIN: plain, "posix": posix}
    for way, values in rows.items():
        hints = {"write": dict(HINTS), "read": {}} if way == HEADRACE else {"write": {}}
        result.runs[way] = [
            Measurement({"write": value, "read": 10 * value}, hints) for value in values
        ]
    result.identical = {PLAIN: True, "posix": True}
    return result


def test_ratios_are_paired_and_losses_come_first() -> None:
    ours = [100.0, 200.0, 400.0, 100.0, 200.0, 400.0]
    result = comparison(ours, [value / 2 for value in ours], [value * 2 for value in ours])
    cells = losing_first([result])
    assert [cell.other.key for cell in cells] == ["posix", "posix", PLAIN, PLAIN]
    assert cells[0].is_certain_loss and not cells[-1].is_loss
    assert {cell.ratio.median for cell in cells} == {0.5, 2.0}
    # The runs differ by a factor of four, the paired ratios not at all.
    assert all(cell.ratio.low == cell.ratio.high for cell in cells)


def test_path_and_reason_come_from_the_hints() -> None:
    result = comparison([1.0], [1.0], [1.0])
    assert result.path("write") == ("direct", "for the test")
    assert result.path("read") == ("", "")


def test_sound_means_part_taken_and_data_right() -> None:
    good = comparison([1.0], [1.0], [1.0])
    assert is_sound(good)
    good.identical["posix"] = False
    assert not is_sound(good)
    other_wrong = comparison([1.0], [1.0], [1.0])
    other_wrong.identical[PLAIN] = False
    other_wrong.runs[PLAIN][0].overwritten = 5
    assert is_sound(other_wrong)  # the peer's own damage explains the difference
    ours_wrong = comparison([1.0], [1.0], [1.0])
    ours_wrong.runs[HEADRACE][0].wrong = 1
    assert not is_sound(ours_wrong)
    absent = comparison([1.0], [1.0], [1.0])
    absent.runs[HEADRACE][0].hints = {}
    assert not is_sound(absent)


def test_a_peer_that_fails_is_left_out() -> None:
    result = comparison([1.0, 1.0], [], [2.0, 2.0])
    result.failed[PLAIN] = "it crashed"
    assert result.rounds == 2
    assert {cell.other.key for cell in result.cells()} == {"posix"}
    assert "left out: it crashed" in list(facts(result))


def test_ways_differ_only_in_what_they_compare() -> None:
    for job in (ior_job(2), lattice_job(2)):
        plain, headrace = (way for way in job.ways if way.key in (PLAIN, HEADRACE))
        assert plain.flags == headrace.flags
        assert headrace.preload and not plain.preload


@pytest.mark.parametrize(
    ("name", "extra", "flags"),
    [
        ("checkpoint", "-G 7", "--piece 1000 --size 50000 --steps 250 --variables 4 -G 7"),
        ("checkpoint", "--steps 3", "--piece 1000 --size 50000 --variables 4 --steps 3"),
        ("checkpoint", "--DIMS=6,8", "--steps 250 --variables 4 --DIMS=6,8"),
        ("tile", "--piece 64", "--size 32000000 --piece 64"),
        ("tile", "--piece 3000", "--size 31998000 --piece 3000"),
        ("tile", "--piece=3k", "--size 31997952 --piece=3k"),
        ("tile", "--piece 64m", "--size 67108864 --piece 64m"),
        ("tile", "--piece 0", "--size 32000000 --piece 0"),
        ("tile", "--piece many", "--size 32000000 --piece many"),
        ("tile", "--piece", "--size 32000000 --piece"),
        ("tile", "--grid 1,2", "--grid 1,2"),
        ("irregular", "--memory permuted", "--pieces 200000 --mean 100 --memory permuted"),
        ("lattice", "--dims=8,4,4,4", "--dims=8,4,4,4"),
        ("lattice", "-G 7", "--dims 32,16,16,32 -G 7"),
        ("ior", "-s4", "-b 100000 -t 10000 -s4"),
        ("strided", "-b 100", "--stride 4096 --size 128m -b 100"),
        ("overlap", "--share 2", "--size 64m -i 3 --share 2"),
    ],
)
def test_flags_replace_only_what_they_name(name: str, extra: str, flags: str) -> None:
    job = JOBS[name](2, extra.split())
    assert " ".join(job.flags).endswith(f" {flags}")
    assert job.line.startswith(name) and job.line.endswith(extra)
    own = set(flags.split()) - set(extra.split()) - {"-i", "3"}
    assert own <= set(job.line.split()) and not job.largest_file


def test_a_way_stays_what_it_is() -> None:
    job = JOBS["ior"](2, ("-V", "-i", "2"))
    for way in job.ways:
        assert job.told(way)[-len(way.flags) :] == way.flags
    limit = next(way for way in tile_job(2).with_requests({"write": 4096}).ways if way.is_limit)
    assert tile_job(2).told(limit)[-4:] == ("--way", "contiguous", "--request", "4096")


@pytest.mark.parametrize(
    ("job", "flags", "named"),
    [
        ("ior", "-w -a MPIIO", "-a"),
        ("ior", "-wc", "-wc"),
        ("ior", "--API=POSIX", "--API=POSIX"),
        ("ior", "-O checkRead=1,collective=0", "checkRead=1,collective=0"),
        ("ior", "-Oapi=POSIX", "-Oapi=POSIX"),
        ("tile", "--Way posix", "--Way"),
        ("lattice", "--readRequest=4k", "--readRequest=4k"),
        ("ior", "-C -wr -U hints -o /a/c -O checkRead=1 --blockSize 4k", ""),
        ("tile", "-G 7 --piece 4k --dims=4,4", ""),
    ],
)
def test_flags_that_make_a_way_are_refused(job: str, flags: str, named: str) -> None:
    if not named:
        require_no_way(job, flags.split())
        return
    with pytest.raises(HeadraceError, match=f"'{named}' cannot be compared"):
        require_no_way(job, flags.split())


def test_a_file_under_another_name_is_told(bench: Command) -> None:
    flags = ("-F", "-s", "1", "-b", "10000")
    result = bench("bench", "compare", "ior", "--rounds", 1, "--dir", ".", "--", *flags)
    assert result.returncode == 2 and not list(bench.directory.iterdir())
    assert "has not made the file 'ior-mpich-headrace'" in result.stderr
    assert "drop what renames files" in result.stderr


def test_compare_reports_and_writes_json(bench: Command) -> None:
    flags = ("-s", "4", "-b", "20000", "-t", "10000")
    result = bench(
        *("bench", "compare", "ior", "--rounds", 2, "--dir", ".", "--json", "out", "--", *flags)
    )
    assert result.returncode == 0, result.stdout + result.stderr
    (document,) = json.loads((bench.directory / "out").read_text())
    assert document["tookPart"] and document["identical"] == {"plain": True, "posix": True}
    assert document["damaged"] == {"plain MPI": 0, "POSIX": 0, "Headrace": 0}
    assert len(document["MiB/s"]["write"]["headrace"]) == document["rounds"] == 2
    assert document["paths"]["write"][0] in ("direct", "staged")
    for text in ("identical to the byte, Headrace and POSIX: yes", "too few rounds", "settings of"):
        assert text in result.stdout
    assert {path.name for path in bench.directory.iterdir()} == {"out"}


def test_compare_tells_that_the_layer_kept_out(bench: Command) -> None:
    flags = ("--dims", "8,4,4,4")
    result = bench(
        *("bench", "compare", "lattice", "--rounds", 1, "--dir", ".", "--", *flags),
        HEADRACE_DISABLE="1",
    )
    assert result.returncode == 1
    assert "Headrace did not carry this file" in result.stdout


def test_compare_names_what_went_wrong(bench: Command) -> None:
    result = bench("bench", "compare", "ior", "--dir", ".", "--", "-t", "3")
    assert result.returncode == 1
    assert "not a multiple of transfer size 3" in result.stderr
    result = bench("bench", "compare", "ior", "--dir", "missing")
    assert result.returncode == 2 and "missing" in result.stderr
    result = bench("bench", "ior", "--plain", "--", "-w", HEADRACE_BENCH_PATH="/nowhere")
    assert result.returncode == 2
    assert "the benchmark program ior-mpich was not found" in result.stderr


def test_demo_shows_all_jobs(bench: Command) -> None:
    result = bench("demo", "--seconds", 12, "--dir", ".")
    assert result.returncode == 0, result.stdout + result.stderr
    for text in (
        "IOR, many small collective calls",
        "4-D lattice field",
        "strided collective write",
        "bytes of others overwritten or missing: plain MPI 0, POSIX 0, Headrace 0",
        "./dev headrace run -n 4 ./app",
        "spinning",
        "as a page for a browser: headrace-demo.html\n  2 ranks on 1 node, ",
    ):
        assert text in result.stdout
    assert result.stdout.count("identical to the byte") == 6
    assert " NO" not in result.stdout
    (page,) = bench.directory.iterdir()
    assert "MPI_File_write" in page.read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_demo_cleans_up_when_interrupted(bench: Command, number: signal.Signals) -> None:
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with started(bench, "demo", "--dir", ".", by=number, **streams) as child:
        while not list(bench.directory.glob("headrace-*/*")):
            assert child.poll() is None
            time.sleep(0.05)
        os.kill(child.pid, number)
        output, _ = child.communicate()
    assert child.returncode == 130, output
    assert not list(bench.directory.iterdir())
    assert not _processes_below(bench.directory)


def _processes_below(directory: Path) -> list[str]:
    """Command lines of processes that work in `directory`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if Path(os.readlink(folder / "cwd")).is_relative_to(directory):
                found.append((folder / "cmdline").read_text())
        except OSError:
            continue
    return found
