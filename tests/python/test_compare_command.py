"""`headrace compare`: which runs it takes for which, what it prints, and its exit statuses."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_support import ROOT, Command
from click.testing import CliRunner
from compare_support import run_of
from record_mutations import mutated
from record_support import Job, large_job, small_job
from rich.console import Console
from schema_support import check

from headrace.analysis.analyse import analyse
from headrace.cli import cli
from headrace.compare.comparison import compare
from headrace.compare.profile import MOST_SITES, Profile, profile, record_facts
from headrace.errors import HeadraceError
from headrace.record.reader import read
from headrace.report.comparison_document import comparison_document
from headrace.report.comparison_text import show_comparison
from headrace.symbols.resolver import resolve

SCHEMA = json.loads((ROOT / "docs" / "reference" / "compare.schema.json").read_text())
MUTATIONS = 600
FAST, SLOW = (1000, 1001, 1002, 1003), (2000, 2001, 2002, 2003)


@pytest.fixture
def records(tmp_path: Path) -> tuple[list[Path], list[Path]]:
    """Of four runs each."""
    groups = []
    for name, times in (("old", FAST), ("new", SLOW)):
        folder = tmp_path / name
        folder.mkdir()
        groups.append([run_of(one).write(folder, f"{one}.hrc") for one in times])
    return groups[0], groups[1]


def pairs(first: list[Path], second: list[Path]) -> list[Path]:
    return [file for pair in zip(first, second, strict=True) for file in pair]


def named(option: str, files: list[Path]) -> list[str]:
    return [word for file in files for word in (option, str(file))]


def test_the_ways_to_name_runs_are_one(headrace: Command, records) -> None:
    old, new = records
    ways = (
        pairs(old, new),
        [*named("--before", old), *named("--after", new)],
        [*named("--after", new), *named("--before", [old[0].parent])],
        [old[0].parent, new[0].parent],
    )
    for way in ways:
        done = headrace("compare", *way, "--json")
        assert done.returncode == 1, done.stderr
        told = json.loads(done.stdout)
        check(told, SCHEMA)
        assert [run["file"] for run in told["before"]["runs"]] == list(map(str, old))
        assert [run["file"] for run in told["after"]["runs"]] == list(map(str, new))
        assert told["outcome"] == "slower" and told["exit_status"] == 1
        assert told["speed_up"]["ratio"] == pytest.approx(0.5, rel=0.01)


def test_the_exit_statuses(headrace: Command, records) -> None:
    old, new = records
    better = headrace("compare", *pairs(new, old))
    assert better.returncode == 0 and "1.999 times as fast [1.994, 2.003]: faster" in better.stdout
    worse = headrace("compare", *pairs(old, new), "--check", "echo same >&2; echo also")
    assert worse.returncode == 1 and "SLOWER, beyond the tolerance of 5 %" in worse.stdout
    assert worse.stderr == "same\nalso\n" and "The answers are the same" in worse.stdout
    assert headrace("compare", *pairs(old, new), "--tolerance", "101").returncode == 0
    wrong = headrace("compare", *pairs(new, old), "--check", "exit 7")
    assert wrong.returncode == 2
    assert "WRONG ANSWERS: 'exit 7' ended with status 7." in wrong.stdout
    missing = headrace("compare", *pairs(new, old), "--check", "/no/such/command")
    assert missing.returncode == 2 and "status 127" in missing.stdout


def test_one_run_each_has_no_interval(headrace: Command, records) -> None:
    done = headrace("compare", records[0][0], records[1][0])
    assert done.returncode == 0
    assert "0.500 times as fast; one run each, no interval" in done.stdout
    few = headrace("compare", *pairs(records[0][:2], records[1][:2]))
    assert few.returncode == 0 and "in 67% of cases; 95% takes 4 runs each" in few.stdout


def test_what_is_not_comparable(headrace: Command, records, tmp_path: Path) -> None:
    job = run_of(1000)
    job.facts["ranks"] = "3"
    other = job.write(tmp_path, "other.hrc")
    before = records[0][0]
    done = headrace("compare", before, other, "--check", "touch made")
    assert done.returncode == 3
    assert "NOT COMPARABLE: the numbers of ranks differ: 2 before, 3 after" in done.stdout
    assert "nothing was compared" in done.stderr and not (tmp_path / "made").exists()
    told = json.loads(headrace("compare", before, other, "--json").stdout)
    check(told, SCHEMA)
    assert told["speed_up"] is None and told["exit_status"] == 3 and len(told["obstacles"]) == 2
    forced = headrace("compare", before, other, "--force", "--check", "false")
    assert forced.returncode == 2 and "NOT COMPARABLE" in forced.stdout


def test_a_wrong_line_is_no_slow_run(headrace: Command, records, tmp_path: Path) -> None:
    old, new = records
    (tmp_path / "empty").mkdir()
    (tmp_path / "foreign.hrc").write_text("other")
    for line, why in (
        ([], "a run before the change or one after it is missing"),
        ([*old[:3]], "3 records do not make pairs"),
        ([old[0], old[0]], "is given twice"),
        ([old[0], new[0], "--before", old[1]], "with and without --before"),
        (["--before", old[0]], "is missing"),
        ([tmp_path / "empty", new[0]], "has no record (*.hrc or *.darshan)"),
        ([old[0], tmp_path / "foreign.hrc"], "is no record"),
        ([old[0], tmp_path / "gone.hrc"], "No such file"),
        ([old[0], new[0], "--tolerance", "-1"], "--tolerance"),
        ([old[0], new[0], "--unknown"], "--unknown"),
        ([old[0], new[0], "--check", ""], "its command is blank"),
        ([old[0], new[0], "--check", " \t\n # cmp a b"], "its command is blank"),
    ):
        done = headrace("compare", *line)
        assert (done.returncode, done.stdout) == (3, ""), line
        assert why in done.stderr and len(done.stderr.splitlines()) == 1
    assert headrace("compare", "--help").returncode == 0


def status_of(headrace: Command, *line: object, **streams: object) -> int:
    words = [sys.executable, "-m", "headrace", "compare", *map(str, line)]
    return subprocess.run(words, env=headrace.environ, check=False, **streams).returncode


@pytest.fixture
def unread() -> Iterator[int]:
    """The end of a pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


@pytest.mark.parametrize("flags", ([], ["--json"]))
def test_a_reader_that_has_gone_changes_no_status(
    headrace: Command, records, unread: int, flags: list[str]
) -> None:
    old, new = records
    for line, status in (
        (pairs(new, old), 0),
        (pairs(old, new), 1),
        ([*pairs(new, old), "--check", "false"], 2),
        ([old[0], new[0], old[1]], 3),
    ):
        assert status_of(headrace, *line, *flags, stdout=unread, stderr=subprocess.PIPE) == status
        assert status_of(headrace, *line, *flags, stdout=unread, stderr=unread) == status


@pytest.mark.parametrize("flags", ([], ["--json"]))
def test_what_cannot_be_printed_is_no_slow_run(
    headrace: Command, records, flags: list[str]
) -> None:
    with open("/dev/full", "w") as full:
        assert status_of(headrace, *pairs(*records), *flags, stdout=full, stderr=full) == 3


def test_a_fault_of_ours_is_no_slow_run(records, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr("headrace.commands.compare.compare_runs", fail)
    result = CliRunner().invoke(cli, ["compare", *map(str, pairs(*records))])
    assert isinstance(result.exception, HeadraceError) and result.exception.exit_code == 3
    assert "ZeroDivisionError, a fault of Headrace" in str(result.exception)
    assert "ZeroDivisionError: of ours" in result.stderr


def profiled(path: Path) -> Profile:
    record = read(path)
    found = analyse(record, MOST_SITES)
    symbols = resolve(site.frames for site in found.sites)
    return profile(str(record.path), found, symbols, record_facts(record))


def told(before: Path, after: Path) -> str:
    """The text, after the JSON has been checked."""
    found = compare([profiled(before)], [profiled(after)], 5, force=True)
    check(json.loads(json.dumps(comparison_document(found, None))), SCHEMA)
    out = Console(width=200)
    with out.capture() as text:
        show_comparison(out, found, None)
    return text.get()


def test_what_can_be_read_can_be_compared(tmp_path: Path) -> None:
    sound = small_job().write(tmp_path)
    path = tmp_path / "x.hrc"
    compared = 0
    for seed in range(MUTATIONS):
        path.write_bytes(mutated(seed, mend=True))
        try:
            read(path)
        except HeadraceError:
            continue
        assert "answers were not compared" in told(sound, path)
        compared += 1
    assert compared > MUTATIONS // 20


def test_how_good_the_numbers_are_is_said(tmp_path: Path) -> None:
    sound = small_job().write(tmp_path, "a.hrc")
    job = small_job()
    job.nodes[0].rows["ranks"][0]["folded"] = 7
    job.schema["tables"] = [one for one in job.schema["tables"] if one["name"] != "decisions"]
    text = told(sound, job.write(tmp_path, "b.hrc"))
    assert "folded: 7 calls of" in text
    assert "not measured: decisions of" in text


def test_records_without_anything(tmp_path: Path) -> None:
    path = Job().write(tmp_path)
    assert "has no time" in told(path, path)


def test_hostile_texts_do_not_reach_the_terminal(tmp_path: Path) -> None:
    evil = "\x1b]0;title\x07[bold red]a\u202eb\n\\[/x\r" + "y" * 10_000
    job = small_job()
    job.facts.update(command=evil, mpi=evil)
    for node in job.nodes:
        for name, columns in (
            ("ranks", ("host", "cores", "program")),
            ("settings", ("name", "value", "origin")),
            ("modules", ("file", "build_id")),
            ("decisions", ("subject", "choice")),
            ("calls", ("procedure",)),
        ):
            for row in node.rows.get(name, ()):
                row.update(dict.fromkeys(columns, node.text(evil)))
    text = told(small_job().write(tmp_path, "a.hrc"), job.write(tmp_path, "b.hrc"))
    assert not any(bad in text for bad in ("\x1b", "\x07", "\r", "\u202e"))
    assert "\\u001b]0;title" in text and "[bold red]" in text and "y" * 1000 not in text


def test_many_ranks(tmp_path: Path) -> None:
    path = tmp_path / "x.hrc"
    path.write_bytes(large_job(512, 64, 40).data())
    text = told(path, path)
    assert "1.000 times as fast" in text and "512 ranks" in text
