"""The page: whole without anything else, small for many ranks, harmless whatever a record says."""

import hashlib
import html.parser
import re
from pathlib import Path

import pytest
from cli_support import Command
from record_support import Job, large_job, small_job

from headrace.advice.judging import judge
from headrace.advice.rules import collect
from headrace.analysis.analyse import analyse
from headrace.record.reader import read
from headrace.report.page import page
from headrace.symbols.resolver import resolve

RULES = collect(())
LARGEST = 1_000_000
VOID = {"meta", "link", "br"}
LINKS = {"href", "src", "action", "srcset", "data", "poster", "background", "formaction"}


class Checked(html.parser.HTMLParser):
    """Fails on what is not closed, on scripts, handlers and references. Keeps tags and text."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attributes:
            assert not name.startswith("on")
            assert name not in LINKS or value == "data:,"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def made(job: Job, folder: Path) -> str:
    found = analyse(read(job.write(folder)))
    symbols = resolve(site.frames for site in found.sites)
    return page(found, symbols, judge(RULES, found.metrics))


def test_the_page_tells_of_a_timeline(tmp_path: Path) -> None:
    job = small_job()
    assert "--timeline" not in Checked(made(job, tmp_path)).text
    job.nodes[0].add("timelines", rank=0, events=12)
    assert "export app.1.2p1n.hrc --timeline run.json.gz" in Checked(made(job, tmp_path)).text


def test_the_page_has_it_all(tmp_path: Path) -> None:
    text = made(small_job(), tmp_path)
    checked = Checked(text)
    assert not {"script", "iframe", "object", "img", "form"} & set(checked.tags)
    assert "default-src 'none'" in text and "url(" not in text and "@import" not in text
    for part in (
        *("Parallel efficiency is 68%", "What to change first", "Load balance", "could not be"),
        *("Time and balance", "Operations", "Who sends most to whom", "Files", "Settings"),
        *("Data quality", "/scratch/out.dat", "./app -x"),
    ):
        assert part in checked.text
    assert len(re.findall('class="strip"', text)) == len(re.findall('class="matrix"', text)) == 1
    assert 'scope="col"' in text and 'scope="row"' in text and 'lang="en"' in text


def test_hostile_texts_stay_texts(tmp_path: Path) -> None:
    evil = "</style></title><script>alert(1)</script><img src=x onerror=y>"
    evil += "\"'&\u202egnp\x00\x1b\n{{7*7}}"
    job = small_job()
    job.facts.update(command=evil, mpi=evil)
    for node in job.nodes:
        for row in (node.rows["files"][0], node.rows["settings"][1], node.rows["ranks"][0]):
            row.update({name: node.text(evil) for name in {"file", "value", "host"} & row.keys()})
    text = made(job, tmp_path)
    checked = Checked(text)
    assert "script" not in checked.tags and "img" not in checked.tags
    assert "<script>alert(1)</script>" in checked.text and "{{7*7}}" in checked.text
    assert not any(bad in text for bad in ("\u202e", "\x00", "\x1b")) and "\\u202e" in text


def test_incomplete_and_empty_records(tmp_path: Path) -> None:
    job = small_job()
    job.nodes[1].rows["ranks"][0].update(state=0)
    assert "The record is incomplete" in Checked(made(job, tmp_path)).text
    text = Checked(made(Job(), tmp_path)).text
    assert "nothing could be judged" in text and "No rank's time was recorded" in text


@pytest.mark.parametrize("ranks", (1, 1024))
def test_the_page_is_small(tmp_path: Path, ranks: int) -> None:
    job = large_job(ranks, min(64, ranks), 6)
    for node in job.nodes:
        for number in range(10_000 // len(job.nodes)):
            name = f"/scratch/{node.number}/{number}"
            node.add("files", rank=node.rows["ranks"][0]["rank"], file=name, opens=1, written=1)
    text = made(job, tmp_path)
    Checked(text)
    assert len(text.encode()) < LARGEST


def test_the_command_writes_it(headrace: Command, tmp_path: Path) -> None:
    record = small_job().write(tmp_path)
    done = headrace("report", record, "--html")
    assert done.returncode == 0, done.stderr
    target = record.with_suffix(".html")
    assert done.stdout.strip() == str(target) and target.read_text().startswith("<!DOCTYPE html>")
    done = headrace("report", record, "-o", tmp_path / "none" / "x.html")
    assert done.returncode == 1 and "cannot be written" in done.stderr
    done = headrace("report", "--html", tmp_path / "an x.html", record)
    assert done.returncode == 1 and f"write --html -o '{tmp_path / 'an x.html'}'" in done.stderr


def test_a_page_replaces_only_a_page(headrace: Command, tmp_path: Path) -> None:
    record = small_job().write(tmp_path)
    before = record.read_bytes()
    notes = tmp_path / "notes.html"
    notes.write_text("<!DOCTYPE html>\n<p>mine</p>")
    linked = tmp_path / "link.html"
    linked.symlink_to(record)
    for target in (record, linked, notes):
        done = headrace("report", record, "-o", target)
        assert (done.returncode, done.stdout) == (1, "")
        assert (
            "is not replaced (it does not begin as a page of headrace report does)" in done.stderr
        )
    assert record.read_bytes() == before and "mine" in notes.read_text()
    done = headrace("report", tmp_path / "absent.hrc", "-o", notes)
    assert done.returncode == 1 and "is not replaced" in done.stderr, "before any work"
    done = headrace("report", "/", "--html")
    assert done.returncode and len(done.stderr.splitlines()) == 1
    for _ in range(2):
        assert headrace("report", record, "--html").returncode == 0
    assert headrace("report", record, "-o", "/dev/null").returncode == 0


def test_a_page_is_no_json(headrace: Command, tmp_path: Path) -> None:
    record = small_job().write(tmp_path)
    for flags in (["--html"], ["-o", tmp_path / "x.html"]):
        done = headrace("report", record, "--json", *flags)
        assert (done.returncode, done.stdout) == (2, "") and "--json prints" in done.stderr
    assert [*tmp_path.glob("*.html")] == []


def test_ten_thousand_files(tmp_path: Path) -> None:
    """With names that no two have in common, so that they are no family."""
    job = small_job()
    for number in range(10_000):
        name = "/scratch/" + hashlib.sha256(str(number).encode()).hexdigest()[:20]
        job.nodes[number % 2].add(
            "accesses", rank=number % 2, file=name, opens=1, writes=3, written=number, write_time=9
        )
        job.nodes[0].add("files", rank=0, file=f"{name}.mpi", opens=1, writes=1, written=number)
    text = made(job, tmp_path)
    Checked(text)
    assert len(text) < LARGEST
    assert "further" in text or "more" in text
