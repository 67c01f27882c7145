"""Phases of programs: what a report makes of them, and what programs are built with."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cli_support import ROOT, Command, clean_environment
from record_support import MILLISECOND, Job, NodeTables, small_job
from rich.console import Console
from schema_support import check

from headrace import regions
from headrace.advice.judging import judge
from headrace.advice.rules import collect
from headrace.analysis.analyse import Findings, analyse
from headrace.record.reader import read
from headrace.report.document import document
from headrace.report.terminal import show
from headrace.symbols.resolver import resolve

SCHEMA = json.loads((ROOT / "docs" / "reference" / "report.schema.json").read_text())
RULES = collect(())


def told(found: Findings) -> tuple[dict[str, Any], str]:
    """The JSON and the text."""
    symbols = resolve(site.frames for site in found.sites)
    judged = judge(RULES, found.metrics)
    out = Console(width=240)
    with out.capture() as text:
        show(out, found, symbols, judged)
    return json.loads(json.dumps(document(found, symbols, judged))), text.get()


def rank(node: NodeTables, number: int, **given: int) -> None:
    ms = MILLISECOND
    node.add("ranks", rank=number, host="n0", state=1, run=1000 * ms, threads=1, **given)


def region_job() -> Job:
    """Two ranks on two nodes, whose regions have other numbers on each."""
    ms = MILLISECOND
    job = Job(facts={"ranks": "2", "nodes": "2"})
    for number in range(2):
        node = job.node()
        rank(node, number)
        solve, write = (1, 2) if number == 0 else (2, 1)
        both = {"rank": number, "thread": 0}
        node.add(
            "regions", **both, region=solve, id=7, label="solve", entries=3,
            time=(400, 600)[number] * ms, own=(300, 500)[number] * ms,
        )  # fmt: skip
        node.add(
            "regions", **both, region=write, id=8, label="", entries=1, time=100 * ms, own=100 * ms
        )
        for region, calls, time in ((solve, 30, 200), (write, 2, 50), (0, 1, 10)):
            node.call(
                number, "MPI_Allreduce", 1, region=region, calls=calls, sent=8 * calls,
                time=time * ms, greatest=time * ms,
            )  # fmt: skip
        node.call(number, "MPI_Send", 0, region=solve, calls=5, sent=50, time=ms, greatest=ms)
    return job


def test_regions_are_added_up_over_ranks(tmp_path: Path) -> None:
    made, text = told(analyse(read(region_job().write(tmp_path))))
    check(made, SCHEMA)
    solve, write = made["regions"]
    assert (solve["id"], solve["label"], solve["ranks"], solve["entries"]) == (7, "solve", 2, 6)
    assert solve["seconds"] == pytest.approx(1.0)
    assert solve["imbalance_percent"] == pytest.approx(100 * 0.1 / 0.6 * 2)
    assert solve["own"]["seconds"] == pytest.approx(0.8)
    assert solve["in_mpi"]["seconds"] == pytest.approx(0.402)
    assert solve["mpi_share"] == pytest.approx(0.402 / 0.8)
    assert [(one["procedure"], one["calls"], one["bytes"]) for one in solve["calls"]] == [
        ("MPI_Allreduce", 60, 480),
        ("MPI_Send", 10, 100),
    ]
    assert [one["calls"] for one in write["calls"]] == [4]
    (operations,) = [one for one in made["mpi"]["procedures"] if one["name"] == "MPI_Allreduce"]
    assert operations["calls"] == 66
    (line,) = [one for one in text.splitlines() if one.lstrip().startswith("solve ")]
    assert line.split()[1:4] == ["2", "6", "50.0%"]
    assert "MPI_Allreduce 60, MPI_Send 10" in line
    assert any(one.lstrip().startswith("region 8 ") for one in text.splitlines())


def test_a_job_without_regions_has_no_table(tmp_path: Path) -> None:
    made, text = told(analyse(read(small_job().write(tmp_path))))
    assert made["regions"] == []
    assert "Regions" not in text.splitlines()


def test_threads_of_a_rank_count_as_their_mean(tmp_path: Path) -> None:
    job = Job(facts={"ranks": "1", "nodes": "1"})
    node = job.node()
    rank(node, 0)
    for thread in range(4):
        time = 100 * (thread + 1) * MILLISECOND
        both = {"rank": 0, "thread": thread, "region": 1, "id": 0, "label": "work"}
        node.add("regions", **both, entries=1, time=time, own=time)
        node.call(0, "MPI_Send", 0, thread=thread, region=1, calls=1, time=50 * MILLISECOND)
    (made,) = told(analyse(read(job.write(tmp_path))))[0]["regions"]
    assert made["seconds"] == pytest.approx(0.25)
    assert made["mpi_share"] == pytest.approx(0.05 / 0.25)
    assert made["entries"] == 4


def test_time_for_which_recording_was_off_does_not_count(tmp_path: Path) -> None:
    job = Job(facts={"ranks": "1", "nodes": "1"})
    node = job.node()
    rank(node, 0, off=250 * MILLISECOND, mismatched=3)
    node.call(0, "MPI_Barrier", 1, calls=1, time=250 * MILLISECOND)
    made, text = told(analyse(read(job.write(tmp_path))))
    assert made["run"]["seconds"] == pytest.approx(0.75)
    assert made["efficiency"]["parallel"] == pytest.approx(0.5 / 0.75)
    assert made["quality"]["off_seconds"] == pytest.approx(0.25)
    assert made["quality"]["mismatched_regions"] == 3
    assert "recording off, 0.250 s of a rank" in text
    assert "regions: 3 ends" in text


def test_a_number_of_a_region_that_is_not_there_is_none(tmp_path: Path) -> None:
    job = Job(facts={"ranks": "1", "nodes": "1"})
    node = job.node()
    rank(node, 0)
    node.call(0, "MPI_Barrier", 1, calls=4, region=9)
    made = told(analyse(read(job.write(tmp_path))))[0]
    assert made["regions"] == []
    assert made["mpi"]["procedures"][0]["calls"] == 4


def test_without_the_library_python_s_regions_do_nothing() -> None:
    with regions.region("solve"):
        assert regions.begin("inner") == 0
        assert regions.end("inner") == 0
    assert regions.record(regions.QUERY) == regions.OFF
    assert regions.flush() is False


def test_a_label_has_the_same_number_everywhere() -> None:
    assert regions.number("solve") == 509998004
    assert all(0 <= regions.number(f"phase {i}") < 1 << 31 for i in range(1000))


def test_the_folder_of_headers_is_told() -> None:
    done = Command(clean_environment(), ROOT / "python")("include")
    assert done.returncode == 0, done.stderr
    folder = Path(done.stdout.rstrip("\n"))
    assert {"headrace.h", "headrace.f90", "pat_api.h"} <= {one.name for one in folder.iterdir()}


@pytest.mark.parametrize("standard", ["c99", "c11", "c++11", "c++20"])
def test_headers_compile_without_a_warning(standard: str, tmp_path: Path) -> None:
    language = "c++" if "+" in standard else "c"
    source = tmp_path / f"program.{language}"
    source.write_text('#include "pat_api.h"\nint main(void) { return PAT_region_end(1) - 1; }\n')
    flags = ["-Wall", "-Wextra", "-Werror", "-pedantic", f"-std={standard}", "-x", language]
    folder = ROOT / "python" / "headrace" / "include"
    program = tmp_path / "program"
    compiler = "g++" if language == "c++" else "gcc"
    command = [compiler, *flags, f"-I{folder}", source, "-o", program, "-ldl"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([program], check=False).returncode == 0
