"""`headrace bench promises`: how records become verdicts and pages; the command on fast cases."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from bench_support import bench_command
from cli_support import ROOT, Command

from headrace.bench.programs import SUFFIXES, find_program
from headrace.bench.promises.cases import Case, read_cases, select
from headrace.bench.promises.findings import Finding, Findings, from_document, merged, to_document
from headrace.bench.promises.judgement import Record, Verdict, judge, read_record
from headrace.bench.promises.page import counts, markdown
from headrace.bench.promises.trial import MARKER, processes_with
from headrace.elf.facts import read_facts
from headrace.errors import HeadraceError

COMPLETE = "begun\nlayer\njudged\nfinished\n"
FAST = ("error-open-missing", "short-read-all")


@pytest.fixture
def bench(tmp_path: Path) -> Command:
    return bench_command(tmp_path)


def verdict_on(*texts: str, layered: bool = False, timed_out: bool = False) -> Verdict:
    records = [read_record(text) for text in texts]
    return judge(records, layered, timed_out, 1, "noise\nthe launcher's last words\n")


def test_all_ranks_right() -> None:
    assert verdict_on(COMPLETE, COMPLETE, layered=True) == Verdict(True, "right")


def test_a_line_that_is_not_whole_counts_for_nothing() -> None:
    assert read_record("begun\njudg") == Record(begun=True)
    assert read_record("") == Record()


@pytest.mark.parametrize(
    ("texts", "text", "detail"),
    [
        (["begun\nsignal\t11\tMPI_Wait\n", "begun\n"], "crashes (signal 11)", "in MPI_Wait"),
        # the others of a crashed rank hang or are ended
        (["begun\nhangs\tMPI_Barrier\n", "begun\nsignal\t6\t\n"], "crashes (signal 6)", ""),
        (["begun\nhangs\tMPI_Recv\n", "begun\njudged\n"], "hangs", "in MPI_Recv"),
        (["begun\nbroken\tfull count\nhangs\tMPI_File_close\n"], "hangs", "in MPI_File_close"),
        (["begun\n", COMPLETE], "ends the program", "exit code 1: the launcher's last words"),
        (["begun\njudged\n"], "MPI_Finalize ends the program", ""),
        (
            ["begun\nbroken\tfull count\njudged\nfinished\n"] * 2
            + ["begun\nbroken\twrong data\njudged\nfinished\n"],
            "full count; wrong data",
            "",
        ),
    ],
)
def test_broken_promises(texts: list[str], text: str, detail: str) -> None:
    assert verdict_on(*texts) == Verdict(False, text, detail)


@pytest.mark.parametrize(
    ("texts", "timed_out", "text"),
    [
        (["begun\nlayer\n", "begun\nlayer\nends\n"], False, "right"),
        # the launcher or the library ends those that are left
        (["begun\nlayer\nsignal\t6\tMPI_Wait\n", "begun\nlayer\nends\n"], False, "right"),
        (["begun\nlayer\nsignal\t11\tMPI_Wait\n", "begun\nends\n"], False, "crashes (signal 11)"),
        (["begun\nlayer\nhangs\tMPI_Wait\n", "begun\nlayer\nends\n"], False, "hangs"),
        (["begun\nlayer\n", "begun\nlayer\nends\n"], True, "hangs"),
        (["begun\nlayer\nbroken\twrong data\n", "begun\nends\n"], False, "wrong data"),
    ],
)
def test_a_rank_that_is_to_end(texts: list[str], timed_out: bool, text: str) -> None:
    assert verdict_on(*texts, layered=True, timed_out=timed_out).text == text


def test_a_job_that_had_to_be_ended_hangs() -> None:
    assert verdict_on("begun\n", "begun\n", timed_out=True).text == "hangs"


def test_a_job_that_did_not_start_is_no_verdict() -> None:
    assert verdict_on("", COMPLETE).kept is None
    assert "last words" in verdict_on("").detail


def test_headrace_must_take_part() -> None:
    plain = COMPLETE.replace("layer\n", "")
    assert verdict_on(plain).kept is True
    assert verdict_on(plain, layered=True) == Verdict(None, "not run", "Headrace did not take part")


CASES = read_cases(
    "first-a\t2\t1\tstandard\t14.3\tone thing\nfirst-b\t1\t4\tpractice\t14.7\tanother_thing\n"
)


def test_cases_are_read_and_selected() -> None:
    assert CASES[0] == Case("first-a", 2, 1, True, "14.3", "one thing")
    assert [case.name for case in select(CASES, ["first"])] == ["first-a", "first-b"]
    assert [case.name for case in select(CASES, ["first-b"])] == ["first-b"]
    assert select(CASES, []) == CASES
    with pytest.raises(HeadraceError, match="'second'"):
        select(CASES, ["first", "second"])


def made_findings() -> Findings:
    right, wrong = Verdict(True, "right"), Verdict(False, "hangs", "in MPI_Wait")
    both = [Finding(CASES[0], wrong, right), Finding(CASES[1], right, right)]
    return Findings("Some MPI 1.0", "0.1.0", "2026-11-22", both)


def test_findings_survive_the_disk() -> None:
    findings = made_findings()
    document = json.loads(json.dumps(to_document([findings])))
    assert from_document(document) == [findings]


def test_later_findings_replace_earlier_ones() -> None:
    first, later, other = made_findings(), made_findings(), made_findings()
    later.findings[:] = [Finding(CASES[0], Verdict(False, "full count"), Verdict(True, "right"))]
    [one, two] = merged([first, replace(other, mpi="Another"), later])
    assert (one.mpi, two.mpi) == ("Some MPI 1.0", "Another")
    assert [finding.plain.text for finding in one.findings] == ["full count", "right"]
    assert two.findings == other.findings


def test_what_counts_as_sound() -> None:
    assert made_findings().is_sound()
    planted = made_findings()
    planted.findings[0] = Finding(CASES[0], Verdict(True, "right"), Verdict(False, "full count"))
    assert not planted.is_sound()
    planted.findings[0] = Finding(CASES[0], Verdict(None, "not run"), Verdict(True, "right"))
    assert not planted.is_sound()


def test_page_marks_what_is_broken() -> None:
    page = markdown([made_findings()])
    assert "| first-a | **hangs** | right |" in page
    assert "| first-b \\* | right | right |" in page
    assert "another\\_thing" in page
    assert "2026-11-22" in page and "Some MPI 1.0" in page
    assert list(counts(made_findings())) == [
        "Some MPI 1.0: keeps 0 of 1 promises of the standard, 1 of 1 of practice",
        "with Headrace: keeps 1 of 1 promises of the standard, 1 of 1 of practice",
    ]


def test_strays_are_found_by_their_environment() -> None:
    environ = {**os.environ, MARKER: "of-this-test"}
    with subprocess.Popen([sys.executable, "-c", "input()"], env=environ, stdin=-1) as child:
        while child.pid not in processes_with(MARKER, "of-this-test"):
            assert child.poll() is None
            time.sleep(0.05)
        assert processes_with(MARKER, "of-another") == []
        child.kill()


@pytest.mark.parametrize("kind", ["mpich", "openmpi", "abi"])
def test_programs_name_their_library_only(bench: Command, kind: str) -> None:
    program = find_program("promises", kind, bench.environ)
    assert program.name == f"promises-{SUFFIXES[kind]}"
    facts = read_facts(program)
    assert not any("stdc++" in needed for needed in facts.needed)
    assert not facts.rpath and not facts.runpath


def run_cases(bench: Command, *arguments: str) -> tuple[int, list[Findings]]:
    words = [word for case in FAST for word in ("--case", case)]
    result = bench("bench", "promises", *words, "--limit", 300, "--json", "out", *arguments)
    assert "right" in result.stdout, result.stderr
    return result.returncode, from_document(json.loads((bench.directory / "out").read_text()))


def test_headrace_keeps_its_promises(bench: Command) -> None:
    code, [findings] = run_cases(bench, "--markdown", "page.md")
    assert code == 0
    assert {finding.case.name for finding in findings.findings} == set(FAST)
    assert all(finding.layered == Verdict(True, "right") for finding in findings.findings)
    assert all(finding.plain.kept is not None for finding in findings.findings)
    assert findings.mpi in (bench.directory / "page.md").read_text()
    again = bench("bench", "promises", "--read", "out", "--markdown", "again.md")
    assert again.returncode == 0, again.stderr
    assert (bench.directory / "again.md").read_text() == (bench.directory / "page.md").read_text()


def test_an_mpi_is_found_by_its_directory(bench: Command) -> None:
    directory = ROOT / ".dev" / "mpi" / "mpich"
    if not directory.is_dir():
        pytest.skip("no MPICH in .dev/mpi")
    code, [findings] = run_cases(bench, "--mpi", str(directory))
    assert (code, findings.mpi[:5]) == (0, "MPICH")


def test_faults_of_the_mpi_are_not_taken_for_headraces(bench: Command, tmp_path: Path) -> None:
    words = ("--case", FAST[0], "--json", "out", "--markdown", "page.md")
    result = bench("bench", "promises", *words, HEADRACE_DISABLE="1")
    assert result.returncode == 2 and not result.stdout
    assert "Headrace does not take part under MPICH" in result.stderr
    assert not (tmp_path / "out").exists() and not (tmp_path / "page.md").exists()


# Between the program and the MPI, with and without Headrace: a read that tells of all it was asked
# for, and one that ends in nothing, are what the command must find.
LIAR = r"""
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int PMPI_File_read_all(MPI_File, void *, int, MPI_Datatype, MPI_Status *);
int MPI_File_read_all(MPI_File file, void *memory, int count, MPI_Datatype type,
                      MPI_Status *status) {
  const char *way = getenv("LIAR");
  if (strcmp(way, "crash") == 0) raise(SIGSEGV);
  if (strcmp(way, "hang") == 0) for (;;) pause();
  if (strcmp(way, "exit") == 0) _exit(5);
  int code = PMPI_File_read_all(file, memory, count, type, status);
  if (strcmp(way, "count") == 0) MPI_Status_set_elements(status, MPI_BYTE, count);
  if (strcmp(way, "data") == 0) ((char *)memory)[3]++;
  return code;
}
"""


@pytest.mark.parametrize(
    ("way", "text"),
    [
        ("count", "full count"),
        ("data", "wrong data"),
        ("crash", "crashes (signal 11)"),
        ("hang", "hangs"),
        ("exit", "ends the program"),
    ],
)
def test_planted_faults_are_found(bench: Command, tmp_path: Path, way: str, text: str) -> None:
    include = ROOT / ".dev" / "mpi" / "mpich" / "include"
    if not include.is_dir():
        pytest.skip("no MPICH in .dev/mpi")
    compiler = os.environ.get("CC", "cc").split()
    liar = tmp_path / "liar.so"
    flags = ["-shared", "-fPIC", f"-I{include}", "-x", "c", "-", "-o", str(liar)]
    subprocess.run([*compiler, *flags], input=LIAR.encode(), check=True)
    result = bench(
        *("bench", "promises", "--case", "short-read-all", "--limit", "3", "--json", "out"),
        *("--dir", tmp_path),
        LD_PRELOAD=str(liar),
        LIAR=way,
    )
    assert result.returncode == 1, result.stderr
    [findings] = from_document(json.loads((tmp_path / "out").read_text()))
    [finding] = findings.findings
    assert (finding.plain.kept, finding.plain.text) == (False, text)
    assert (finding.layered.kept, finding.layered.text) == (False, text)
    # neither files nor processes are left
    assert not list(tmp_path.glob("headrace-*"))
    assert str(tmp_path) not in "".join(command_lines())


def command_lines() -> Iterator[str]:
    """Of all processes."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            yield file.read_text(errors="replace")


def test_usage_errors_are_one_line(bench: Command) -> None:
    for arguments in (["--case", "no-such"], ["--mpi", "/no/such/mpi"]):
        result = bench("bench", "promises", *arguments)
        assert result.returncode != 0
        assert len([line for line in result.stderr.splitlines() if line]) == 1, result.stderr
