"""Jobs leave records that nobody asked for, and harm nobody by that."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from hosts import Host
from measuring import measuring
from running import Result, compile_c, launch, preload, run, work_directory
from test_recorder import report_of

from headrace.record.reader import read

NOT_SET = {"HEADRACE_LOGPATH": ""}
"""Nobody has chosen a place."""
SHOWN = {"HEADRACE_QUIET": "0"}


def own_lines(result: Result) -> list[str]:
    return [line for line in result.err.splitlines() if line.startswith("headrace: ")]


def job(host: Host, ranks: int, words: list, settings: dict, directory: Path) -> Result:
    program = compile_c(host, ["recorded_many.c"], "recorded-many")
    result = launch(host, ranks, [program, *words], True, settings, cwd=directory)
    assert result.code == 0, result.explain()
    assert not result.litter
    return result


def test_a_record_is_left_where_the_job_was_started(host: Host, library: Path) -> None:
    directory = work_directory(f"by-default-{host.name}")
    result = job(host, 2, ["paths", 3], NOT_SET | SHOWN, directory)
    (record,) = (directory / "headrace-records").iterdir()
    lines = own_lines(result)
    assert 3 <= len(lines) <= 6 and str(record) in lines[-1], result.explain()
    run = report_of(record)["run"]
    assert (run["ranks"], run["complete"]) == (2, True)


@pytest.mark.parametrize("name", ["HEADRACE_DISABLE", "HEADRACE_RECORD"])
def test_a_record_can_be_turned_off(host: Host, name: str, library: Path) -> None:
    directory = work_directory(f"by-default-off-{host.name}-{name}")
    value = "1" if name == "HEADRACE_DISABLE" else "0"
    result = job(host, 2, ["paths", 3], NOT_SET | SHOWN | {name: value}, directory)
    assert not own_lines(result) and not list(directory.iterdir()), result.explain()


def test_quiet_jobs_are_recorded_without_a_word(host: Host, library: Path) -> None:
    directory = work_directory(f"by-default-quiet-{host.name}")
    result = job(host, 2, ["paths", 3], NOT_SET | {"HEADRACE_QUIET": "1"}, directory)
    assert not own_lines(result), result.explain()
    assert len(list((directory / "headrace-records").iterdir())) == 1


# On /sys nobody makes directories, root included.
def test_where_nobody_may_write_there_is_none(host: Host, library: Path) -> None:
    own = work_directory(f"by-default-sys-{host.name}")
    settings = NOT_SET | SHOWN | {"TMPDIR": str(own), "HEADRACE_RECORD_DIRECTORY": str(own)}
    result = job(host, 2, ["paths", 3], settings, Path("/sys"))
    last = own_lines(result)[-1]
    assert last.startswith("headrace: no record: cannot make the directory of the records"), last
    assert len(own_lines(result)) <= 6
    assert not list(own.glob("headrace-record*")), "what it recorded is removed"


def test_a_full_disk(host: Host, needs_root: None, library: Path) -> None:
    """The record goes to the node's own place, and a line says so."""
    directory = work_directory(f"by-default-full-{host.name}")
    own, full = directory / "own", directory / "full"
    own.mkdir()
    full.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", full], check=True)
    try:
        (full / "file").write_bytes(bytes(4096))
        for chosen in (NOT_SET, {"HEADRACE_LOGPATH": str(full)}):
            settings = chosen | SHOWN | {"TMPDIR": str(own)}
            result = job(host, 2, ["paths", 3], settings, full)
            lines = own_lines(result)
            assert len(lines) <= 6, result.explain()
            assert any("set HEADRACE_LOGPATH to a directory" in line for line in lines), lines
            assert [path.name for path in full.rglob("*")] == ["file"]
    finally:
        subprocess.run(["umount", full], check=True)
    assert len(list((own / f"headrace-records-{os.geteuid()}").iterdir())) == 2


def test_one_rank_that_moves_no_data_leaves_none(host: Host, library: Path) -> None:
    """As scripts do by the thousand that import mpi4py; unless somebody asks for its record, or for
    more than the default."""
    directory = work_directory(f"by-default-idle-{host.name}")
    program = compile_c(host, ["recorded_many.c"], "recorded-many")
    environment = host.environment | preload([library]) | NOT_SET
    asking = ("RECORD=1", "RECORD_FILES=1", "TIMELINE=1", "TRACE=math")
    for asked in ("", "RECORD=auto", *asking):
        name, _, value = asked.partition("=")
        own = {f"HEADRACE_{name}": value} if asked else {}
        before = len(list(directory.rglob("*.hrc")))
        result = run([program, "idle"], environment | own, cwd=directory)
        assert result.code == 0, result.explain()
        is_asked = asked in asking
        assert bool(own_lines(result)) == is_asked, result.explain()
        assert len(list(directory.rglob("*.hrc"))) - before == is_asked, asked
    result = run([program, "paths", 1], environment, cwd=directory)
    assert result.code == 0, result.explain()
    found = len(list(directory.rglob("*.hrc")))
    assert found == len(asking) + 1, "a message to itself is one"


def test_what_the_recorder_says_of_its_own_time_is_a_least(host: Host, library: Path) -> None:
    """It is less than what a loop of calls takes longer with it, and no tiny part of that."""
    calls = 1_000_000
    directory = work_directory(f"by-default-own-time-{host.name}")
    program = compile_c(host, ["recorded_many.c"], "recorded-many")
    settings = NOT_SET | {"HEADRACE_RECORD": "0"}
    with measuring():
        without = float(launch(host, 1, [program, "calls", calls], True, settings).out)
        settings = {"HEADRACE_LOGPATH": str(directory), "HEADRACE_RECORD": "1"}
        recorded = float(launch(host, 1, [program, "calls", calls], True, settings).out)
        record = max(directory.glob("*.hrc"), key=lambda path: path.stat().st_mtime)
        told = report_of(record)["quality"]["recorder_seconds"]
        assert 0.1 * (recorded - without) < told < 1.5 * (recorded - without)


def test_short_jobs_can_be_left_out(host: Host, library: Path) -> None:
    directory = work_directory(f"by-default-short-{host.name}")
    settings = NOT_SET | SHOWN | {"HEADRACE_RECORD_SHORTEST": "1000"}
    result = job(host, 2, ["paths", 3], settings, directory)
    assert not own_lines(result) and not list(directory.iterdir()), result.explain()


def test_ten_thousand_call_paths(host: Host, library: Path) -> None:
    """All calls are counted, whether or not each path finds room; a record stays small."""
    directory = work_directory(f"many-paths-{host.name}")
    settings = {"HEADRACE_LOGPATH": str(directory), "HEADRACE_RECORD_DEPTH": "32"}
    job(host, 2, ["paths", 10000], settings, directory)
    (record,) = directory.glob("*.hrc")
    assert record.stat().st_size < 4 << 20
    report = report_of(record)
    assert 0 < report["quality"]["folded_calls"] < 2 * 10000
    (node,) = read(record).nodes
    assert node["calls"].size > 2 * 1000, "rows of paths that found room"
    calls = {own["name"]: (own["calls"], own["bytes"]) for own in report["mpi"]["procedures"]}
    assert calls["MPI_Sendrecv"] == (20000, 20000)


# Making one takes long under some MPIs: the rest is for the full tier.
@pytest.mark.parametrize("count", [1000, pytest.param(100_000, marks=pytest.mark.deep)])
def test_many_communicators(host: Host, count: int, library: Path) -> None:
    directory = work_directory(f"many-communicators-{host.name}-{count}")
    words = ["communicators", count]
    job(host, 2, words, {"HEADRACE_LOGPATH": str(directory)}, directory)
    (record,) = directory.glob("*.hrc")
    assert record.stat().st_size < 1 << 20
    report = report_of(record)
    calls = {own["name"]: (own["calls"], own["bytes"]) for own in report["mpi"]["procedures"]}
    assert calls["MPI_Sendrecv"] == (2 * count, 2 * count)
    assert calls["MPI_Comm_split"][0] == calls["MPI_Comm_free"][0] == 2 * count
    (node,) = read(record).nodes
    assert {1, 2} <= set(node["communicators"]["size"])
    by_size = Counter()
    places = dict(enumerate(node["communicators"]["size"]))
    columns = node["calls"].rows("communicator", "calls")
    for name, (place, number) in zip(node.texts_of("calls", "procedure"), columns, strict=True):
        if name == "MPI_Sendrecv":
            by_size[places[place]] += number
    alone = 2 * len(range(0, count, 3))
    assert by_size == {1: alone, 2: 2 * count - alone}
