"""The parts of one job, from its nodes, as one record; and jobs that run on this node."""

import json
import os
from pathlib import Path

import pytest
from record_support import Job, small_job

from headrace.advice.judging import judge
from headrace.advice.rules import collect
from headrace.analysis.analyse import analyse
from headrace.errors import HeadraceError
from headrace.launch.gather import find_job
from headrace.record.merge import merge
from headrace.record.reader import read
from headrace.record.tables import Record
from headrace.report.document import document
from headrace.report.quality import quality
from headrace.symbols.resolver import resolve

START = "2026-11-28T10:15:00+0000"


def part(folder: Path, node: int, **facts: str) -> Record:
    """What one of the small job's nodes made by itself."""
    job = small_job()
    job.nodes = [job.nodes[node]]
    job.nodes[0].number = 0
    job.facts.update({"nodes": "1", "complete": "0", "start": START} | facts)
    own = folder / str(node)
    own.mkdir(exist_ok=True)
    return read(job.write(own))


def told(record: Record) -> dict:
    found = analyse(record)
    made = document(found, resolve([]), judge(collect(()), found.metrics))
    made.pop("verdict")
    return json.loads(json.dumps(made))


def test_parts_are_the_whole(tmp_path: Path) -> None:
    whole = told(read(small_job().write(tmp_path)))
    for order in ((0, 1), (1, 0)):
        assert told(merge([part(tmp_path, node) for node in order])) == whole


def test_one_part_says_which_ranks_are_missing(tmp_path: Path) -> None:
    found = analyse(part(tmp_path, 1, left_out="rank 0: \x1b why", lost_calls="7"))
    assert "1 of 2 ranks is missing: 0" in found.run.lacks
    lines = quality(found, resolve([]))
    assert any("type 'headrace record gather' on each" in line for line in lines)
    assert any("not counted: 7 calls or more" in line for line in lines)
    (left_out,) = [line for line in lines if "left out were rank 0:" in line]
    assert "\x1b" not in left_out


def test_what_was_left_out_and_lost_is_added_up(tmp_path: Path) -> None:
    parts = [part(tmp_path, node, left_out=f"x{node}", lost_calls="3") for node in range(2)]
    joined = merge(parts)
    assert joined.facts["left_out"] == "x0; x1"
    assert analyse(joined).quality.lost_calls == 6


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"ranks": "3"}, "not of the job"),
        ({"start": "2026-11-28T12:15:00+0000"}, "not of the job"),
    ],
)
def test_parts_of_other_jobs_are_refused(tmp_path: Path, facts: dict[str, str], why: str) -> None:
    with pytest.raises(HeadraceError, match=why):
        merge([part(tmp_path, 0), part(tmp_path, 1, **facts)])


def test_a_part_counts_once(tmp_path: Path) -> None:
    with pytest.raises(HeadraceError, match="rank 0 is in"):
        merge([part(tmp_path, 0), part(tmp_path, 0)])


def test_nonsense_of_lost_calls_counts_as_none(tmp_path: Path) -> None:
    for text in ("", "x", "-1", "9" * 30, "\u0663"):
        assert analyse(part(tmp_path, 0, lost_calls=text)).quality.lost_calls == 0


def test_jobs_are_found_by_a_part_of_their_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whatever else runs on this machine.
    monkeypatch.setattr("headrace.launch.gather.goes_on", lambda _: False)
    own = tmp_path / f"headrace-record-{os.geteuid()}"
    names = ("slurm-1234.0", "pmix-prterun-n0-77@1", "slurm-1235.0")
    for name in names:
        (own / name).mkdir(parents=True)
    environ = {"HEADRACE_RECORD_DIRECTORY": str(tmp_path)}
    assert find_job("1234", environ).name == names[0]
    assert find_job(names[1], environ).name == names[1]
    for wrong in ("123", "slurm", ""):
        with pytest.raises(HeadraceError, match="was not found"):
            find_job(wrong, environ)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a directory away")
def test_what_others_planted_is_no_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headrace.launch.gather.goes_on", lambda job: job.is_relative_to(tmp_path))
    own = tmp_path / f"headrace-record-{os.geteuid()}"
    for name in ("mine", "planted"):
        (own / name).mkdir(parents=True)
    os.chown(own / "planted", 65534, 65534)
    (own / "link").symlink_to(own / "mine")
    environ = {"HEADRACE_RECORD_DIRECTORY": str(tmp_path)}
    assert find_job("", environ).name == "mine"
    os.chown(own, 65534, 65534)
    with pytest.raises(HeadraceError, match="was not found"):
        find_job("mine", environ)


def test_no_record_of_a_job_is_the_whole(tmp_path: Path) -> None:
    job = Job(facts={"ranks": "1"})
    one = read(job.write(tmp_path))
    assert merge([one]) is one
