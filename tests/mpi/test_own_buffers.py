"""HEADRACE_IOBUF for a program's own files: no byte and no answer changes, whatever the end."""

from __future__ import annotations

import platform
import re
from collections import Counter
from pathlib import Path

import pytest
from conftest import absent
from hosts import Host
from mounting import mounted
from running import PROGRAMS, Result, compile_c, compile_program, launch, preload, work_directory
from running import run as start
from test_languages import FORTRAN, PYTHON, fortran_program
from test_program_io import files_below, io_in, run_c, tallied, used
from test_recorder import report_of

BYTES = 64
RECORDS = 20000
BUFFERS = [None, "*:size=4096", "*/own-*:size=64k,*calls", "*"]


def expected(records: int = RECORDS) -> bytes:
    return b"".join(bytes([1 + i % 250]) * BYTES for i in range(records))


def number(word: str, result: Result) -> int:
    found = re.search(rf"^.*\b{word} (\d+)", result.out, re.MULTILINE)
    assert found is not None, result.explain()
    return int(found[1])


def run(
    host: Host,
    end: str,
    buffers: str | None,
    ranks: int = 1,
    place: Path | None = None,
    records: int = RECORDS,
    **options,
) -> tuple[Result, Path]:
    place = place or work_directory(f"own-{host.name}-{end}")
    program = compile_c(host, ["own_ends.c"], "own-ends")
    given = {} if buffers is None else {"HEADRACE_IOBUF": buffers}
    given["HEADRACE_QUIET"] = "0"
    given["HEADRACE_RECORD"] = "0"
    return launch(host, ranks, [program, place, records, end], True, given, **options), place


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("buffers", BUFFERS)
@pytest.mark.parametrize("ranks", [1, 2])
def test_every_answer_is_right(
    host: Host, library: Path, ranks: int, buffers: str | None, seed: int
) -> None:
    place = work_directory(f"own-random-{host.name}")
    program = compile_c(host, ["own_buffers.c"], "own-buffers")
    given = {} if buffers is None else {"HEADRACE_IOBUF": buffers}
    given["HEADRACE_RECORD"] = str(seed % 2)
    given["HEADRACE_RECORD_FILES"] = "1"
    result = launch(host, ranks, [program, place, seed, 12000], True, given)
    assert result.code == 0, result.explain()
    assert result.out.splitlines() == ["wrong 0"] * ranks, result.explain()


ENDS = (
    "return",
    "exit",
    "quick",
    "now",
    "handler",
    "abort",
    "assert",
    "exec",
    "child",
    "stale",
    "job",
)
CLOSED = ("raw", "range", "from", "copy")


@pytest.mark.parametrize("end", (*ENDS, *CLOSED))
def test_nothing_is_lost(host: Host, library: Path, end: str) -> None:
    result, place = run(host, end, "*")
    assert number("told", result) == 0, result.explain()
    assert "lost" not in result.err, result.explain()
    assert (place / "0.calls").read_bytes() == expected(), result.explain()
    assert (place / "0.stream").read_bytes() == expected(), result.explain()
    # 64 bytes a call, and a buffer of a MiB, or less if the node's memory is little.
    assert number("calls", result) < RECORDS // 10, result.explain()


def test_calls_are_fewer_only_for_files_that_are_named(host: Host, library: Path) -> None:
    for buffers, is_named in ((None, False), ("*.other", False), ("*calls:size=64k", True)):
        result, place = run(host, "return", buffers)
        assert (place / "0.calls").read_bytes() == expected(), result.explain()
        calls = number("calls", result)
        assert (calls < RECORDS // 500) == is_named, result.explain()
        assert is_named or calls >= RECORDS, result.explain()


def test_reads_are_ahead(host: Host, library: Path) -> None:
    for buffers, most in ((None, RECORDS + 10), ("*calls:size=64k", RECORDS // 500)):
        place = work_directory(f"own-read-{host.name}")
        (place / "0.calls").write_bytes(expected())
        result, _ = run(host, "read", buffers, place=place)
        assert number("right", result) == RECORDS + 1, result.explain()
        assert number("calls", result) <= most, result.explain()


def test_a_handler_may_write_at_any_moment(host: Host, library: Path) -> None:
    result, place = run(host, "within", "*:size=4096", records=400_000)
    assert number("told", result) == 0, result.explain()
    data = (place / "0.calls").read_bytes()
    records = [data[at : at + BYTES] for at in range(0, len(data), BYTES)]
    assert len(records) == number("records", result), result.explain()
    assert all(one == one[:1] * BYTES for one in records)
    assert sum(one[0] == 251 for one in records) == number("handler", result) > 0
    own = [one[0] for one in records if one[0] != 251]
    assert own == [1 + i % 250 for i in range(400_000)]


def test_a_handler_may_jump_out_at_any_moment(host: Host, library: Path) -> None:
    """Other threads go on. No instruction of a write is left out."""
    result, _ = run(host, "jumps", "*:size=4096", records=300)
    assert result.code == 0, result.explain()
    assert number("jumps", result) > 0 and number("told", result) == 0, result.explain()
    assert number("steps", result) > 100 or platform.machine() != "x86_64", result.explain()


@pytest.mark.parametrize("buffers", [None, "*", "*:size=4k"])
def test_a_limit_of_the_file_is_told(host: Host, library: Path, buffers: str | None) -> None:
    result, place = run(host, "limit", buffers)
    assert number("told", result) > 0, result.explain()
    assert number("closed", result) == 1, result.explain()
    assert (place / "0.calls").read_bytes() == expected()[: 100 * BYTES + 32]


@pytest.mark.parametrize("end", ["exit", "now", "exec", "job"])
@pytest.mark.parametrize("kind", ["calls", "stream"])
def test_the_end_tells_what_cannot_be_written(
    host: Host, library: Path, kind: str, end: str
) -> None:
    """The calls that wrote it have returned long since."""
    result, place = run(host, f"limited:{end}", f"*{kind}", records=1000)
    assert number("told", result) == 0, result.explain()
    told = {
        "calls": "what was buffered cannot be written (File too large)",
        "stream": "0.stream' has buffered may be lost (File too large)",
    }
    assert result.err.count(told[kind]) == 1, result.explain()
    written = {"calls": 100, "stream": 501}  # the stream was flushed there
    assert (place / f"0.{kind}").read_bytes() == expected()[: written[kind] * BYTES]


def test_a_full_disk_is_told(host: Host, library: Path, needs_root) -> None:
    place = work_directory(f"own-full-{host.name}") / "mount"
    with mounted("-t", "tmpfs", "-o", "size=256k,mode=777", "tmpfs", at=place):
        result, _ = run(host, "full", "*calls:size=64k", place=place)
        assert number("told", result) > 0, result.explain()
        assert number("closed", result) == 1, result.explain()
        found = (place / "0.calls").read_bytes()
        assert expected().startswith(found) and len(found) >= 128 << 10


def test_two_processes_that_write_one_file(host: Host, library: Path) -> None:
    """The second to open it has no buffer, and a line says so."""
    place = work_directory(f"own-shared-{host.name}")
    (place / "0.calls").touch()
    (place / "1.calls").hardlink_to(place / "0.calls")
    result, _ = run(host, "return", "*calls:verbose", ranks=2, place=place)
    told = "has no buffers (another process writes it with buffers)"
    assert result.err.count(told) == 1, result.explain()
    assert (place / "0.calls").read_bytes() == expected(), result.explain()


@pytest.mark.parametrize("buffers", ["*", "*:size=4k"])
def test_counts_are_of_the_program(host: Host, library: Path, buffers: str) -> None:
    """As it has tallied them, not of what buffers made of its calls."""
    directory = run_c(host, 2, "buffered", HEADRACE_IOBUF=buffers)
    io, tally = io_in(directory), tallied(directory)
    found = used(directory, io)
    assert {key: found.get(key) for key in tally} == tally
    plain = files_below(directory, io)["rank-0/plain"]["posix"]
    assert (plain["sequential_writes"], plain["consecutive_writes"]) == (11, 10)
    assert (plain["sequential_reads"], plain["consecutive_reads"]) == (2, 1)
    assert plain["unaligned"] == 10 + 1


def test_what_they_did_is_told(host: Host, library: Path) -> None:
    result, place = run(host, "return", "*calls:size=64k:count=2:verbose,*stream:size=64k")
    assert f"buffers of '{place}/0.calls': 2 of 64 KiB, 1 read ahead" in result.err, (
        result.explain()
    )
    assert re.search(rf"'{place}/0.calls': {RECORDS} writes became \d\d, ", result.err), (
        result.explain()
    )
    assert "0.stream" not in result.err, result.explain()


CHOICES = {
    "plain": [("4 of 64 KiB, 1 read ahead", "HEADRACE_IOBUF names it")],
    "stream": [("1 of 64 KiB", "HEADRACE_IOBUF names it")],
    "append": [("none", "it is opened to append, where others may write, too")],
    "copied": [
        ("4 of 64 KiB, 1 read ahead", "HEADRACE_IOBUF names it"),
        ("none from now on", "it is copied"),
    ],
}


def choose(host: Host, many: int, **given: str) -> tuple[Result, Path]:
    place = work_directory(f"own-choices-{host.name}")
    program = compile_c(host, ["own_choices.c"], "own-choices")
    given |= {"HEADRACE_IOBUF": "*/own-choices-*:size=64k", "HEADRACE_QUIET": "0"}
    # An eighth of it for all cores is the most that a file's buffers take.
    given |= {"HEADRACE_LOGPATH": str(place / "records"), "HEADRACE_NODE_MEMORY": "1g"}
    result = launch(host, 2, [program, place, many], True, given)
    assert result.code == 0, result.explain()
    files = [one for one in place.iterdir() if one.is_file()]
    assert len(files) == 2 * (4 + many)
    assert all(one.read_text() == "text\n" for one in files), result.explain()
    return result, place


def chosen(place: Path) -> Counter[tuple[str, str, str]]:
    """How often, by subject, choice and reason."""
    (record,) = (place / "records").glob("*.hrc")
    found: Counter[tuple[str, str, str]] = Counter()
    for one in report_of(record)["decisions"]:
        if "buffers of" in one["subject"]:
            found[one["subject"], one["choice"], one["reason"]] += one["times"]
    return found


def test_the_record_has_what_was_chosen(host: Host, library: Path) -> None:
    """Of each process and file, with the reason."""
    _, place = choose(host, 0, HEADRACE_RECORD="1")
    assert chosen(place) == {
        (f"buffers of '{place}/{rank}.{name}'", *choice): 1
        for rank in range(2)
        for name, choices in CHOICES.items()
        for choice in choices
    }


def test_many_files_are_a_few_lines_of_the_record(host: Host, library: Path) -> None:
    """None is left out."""
    _, place = choose(host, 140, HEADRACE_RECORD="1", HEADRACE_RECORD_NAMES="full")
    found = chosen(place)
    good = [key for key in found if key[1] == "4 of 64 KiB, 1 read ahead"]
    assert len(good) == 2 and sum(found[key] for key in good) == 2 * (2 + 140)
    named, further = sorted(subject for subject, *_ in good)
    assert further == "buffers of further files, each used by one process"
    assert re.fullmatch(rf"buffers of (1[0-9]\d) files, such as '{place}/\d.plain'", named)
    assert sum(found.values()) == 2 * (5 + 140)


def test_names_may_be_left_out_of_the_record(host: Host, library: Path) -> None:
    _, place = choose(host, 1, HEADRACE_RECORD="1", HEADRACE_RECORD_NAMES="none")
    assert {subject for subject, *_ in chosen(place)} == {"buffers of '(files)'"}


def test_the_display_tells_what_was_chosen(host: Host, library: Path) -> None:
    """For the files of the job's first process."""
    result, place = choose(host, 1, HEADRACE_RECORD="0", HEADRACE_HINTS_DISPLAY="1")
    lines = [line for line in result.err.splitlines() if "own-choices" in line]
    files = CHOICES | {"many-0": CHOICES["plain"]}
    expected = []
    for name, choices in files.items():
        for choice, reason in choices:
            if choice.startswith("none"):
                begin = choice.replace("none", "has no buffers")
                expected.append(f"headrace: '{place}/0.{name}' {begin} ({reason})")
            else:
                expected.append(f"headrace: buffers of '{place}/0.{name}': {choice}")
    assert sorted(line.split(", leave it out")[0] for line in lines) == sorted(expected)


def test_a_process_without_mpi_is_left_alone(library: Path) -> None:
    place = work_directory("own-without")
    line = f"import os; f = os.open('{place}/x', 66); [os.write(f, b'x') for _ in range(1000)]"
    given = preload([library]) | {"HEADRACE_IOBUF": "*:verbose", "HEADRACE_QUIET": "0"}
    result = start(["python3", "-c", line], given)
    assert result.code == 0 and not result.err, result.explain()
    assert (place / "x").read_bytes() == b"x" * 1000


@pytest.mark.parametrize(
    ("host", "binding"), FORTRAN, ids=[f"{host.name}-{binding}" for host, binding in FORTRAN]
)
def test_fortran(host: Host, binding: str, library: Path) -> None:
    host, program = fortran_program(host.name, binding, "program_io.F90")
    trees = []
    for buffers in ("", "*:verbose"):
        directory = work_directory(f"own-fortran-{host.name}-{binding}")
        given = {"HEADRACE_IOBUF": buffers, "HEADRACE_QUIET": "0"}
        done = launch(host, 1, [program, directory], True, given)
        assert done.code == 0 and not done.out.strip(), done.explain()
        trees.append({one.name: one.read_bytes() for one in directory.iterdir()})
    assert trees[0] == trees[1] and set(trees[0]) == {"unformatted", "formatted"}
    assert re.search(r"formatted': [1-9]\d* writes became 1, ", done.err), done.explain()


def test_streams_of_cpp(host: Host, library: Path) -> None:
    compiler = [*host.compilers["c"], "-lstdc++"]
    program = compile_program(compiler, ["program_io.cc"], f"program-io-cpp-{host.name}", ["-O1"])
    directory = work_directory(f"own-cpp-{host.name}")
    given = {"HEADRACE_IOBUF": "*:verbose", "HEADRACE_QUIET": "0"}
    done = launch(host, 1, [program, directory], True, given)
    assert done.code == 0 and not done.out.strip(), done.explain()
    assert (directory / "file").read_bytes() == b"begin" + b"x" * 499_995
    assert re.search(r"file': [1-9]\d* writes became 2, ", done.err), done.explain()


@pytest.mark.parametrize("host", PYTHON, ids=[host.name for host in PYTHON])
def test_python(host: Host, library: Path) -> None:
    if host.missing:
        absent(host.missing)
    trees = []
    for buffers in ("", "*own-python*:verbose"):
        directory = work_directory(f"own-python-{host.name}")
        line = [host.python, "-u", PROGRAMS / "program_io.py", directory]
        given = {"HEADRACE_IOBUF": buffers, "HEADRACE_QUIET": "0"}
        done = launch(host, 1, line, True, given)
        assert done.code == 0, done.explain()
        trees.append({one.name: one.read_bytes() for one in directory.iterdir() if one.is_file()})
    assert trees[0] == trees[1]
    assert re.search(r"binary': 10 writes became 1, ", done.err), done.explain()
