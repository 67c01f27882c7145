"""The parts of one job, from its nodes, as one record; and jobs that run on this node."""

import json
import os
import struct
from pathlib import Path

import pytest
from click.testing import CliRunner
from record_support import Job, small_job

from headrace.advice.judging import judge
from headrace.advice.rules import collect
from headrace.analysis.analyse import analyse
from headrace.commands.record.gather import gather
from headrace.errors import HeadraceError
from headrace.launch.gather import find_job, job_directories
from headrace.record.merge import merge
from headrace.record.reader import read
from headrace.record.tables import Record
from headrace.report.document import document
from headrace.report.quality import quality
from headrace.settings.resolver import resolve_run
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


def image(*facts: tuple[str, str]) -> bytes:
    """As src/record/image.h has it, as far as the command reads one: a header, an extent of
    something else, and notes of which the first is of another kind."""
    notes = b""
    for kind, fields in ((1, ("MPI_Send", "0")), *((9, fact) for fact in facts)):
        text = b"".join(struct.pack("<I", len(one)) + one.encode() for one in fields)
        note = struct.pack("<IHH", 8 + len(text), kind, len(fields)) + text
        notes += note + bytes(-len(note) % 8)
    header = b"HRIMAGE1" + struct.pack("<I", 256) + bytes(244)
    other = struct.pack("<6IQ", 2, 0, 128, 8, 0, 0, 64) + bytes(32)
    extent = struct.pack("<6IQ", 6, 0, 1, 8192, len(notes), 0, 32 + 8192)
    return header + other + extent + notes + bytes(8192 - len(notes)) + bytes(64)


def test_jobs_are_found_by_their_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under every launcher, and never by the launcher's process number."""
    running: set[str] = set()
    monkeypatch.setattr("headrace.launch.gather.goes_on", lambda job: job.name in running)
    own = tmp_path / f"headrace-record-{os.geteuid()}"
    numbers = {
        "hydra-4242-99": "1234",
        "pmix-prterun-n0-77@1-1234-5": "4242.server",
        "slurm-7.0-8-9": "7",
        "slurm-7.1-18-19": "7",
        "process-5-6": "",
        "process-55-6": "12_3_.a",
    }
    for name, number in numbers.items():
        (own / name).mkdir(parents=True)
        facts = [("host", "n0"), *([("job", number)] if number else [])]
        (own / name / "rank-0").write_bytes(image(*facts))
    (own / "damaged-1-1").mkdir()
    (own / "damaged-1-1" / "rank-0").write_bytes(image(("job", "1234"))[:300])
    settings = resolve_run({"HEADRACE_RECORD_DIRECTORY": str(tmp_path)})
    assert find_job("1234", settings, {}).name == "hydra-4242-99"
    assert find_job("4242", settings, {}).name == "pmix-prterun-n0-77@1-1234-5"
    assert find_job("4242.server", settings, {}).name == "pmix-prterun-n0-77@1-1234-5"
    assert find_job("12[3]", settings, {}).name == "process-55-6"
    assert find_job("process-5-6", settings, {}).name == "process-5-6"
    for wrong in ("123", "99", "7", "5", "6", "hydra", "server", ""):
        with pytest.raises(HeadraceError, match="was not found"):
            find_job(wrong, settings, {})
    running.add("slurm-7.1-18-19")
    assert find_job("7", settings, {}).name == find_job("", settings, {}).name == "slurm-7.1-18-19"


@pytest.mark.parametrize("place", ["command line", "file", "environment", "user", "site"])
def test_jobs_are_found_where_any_place_of_settings_says(place: str, tmp_path: Path) -> None:
    images = tmp_path / "images"
    (images / f"headrace-record-{os.geteuid()}" / f"killed-{os.getpid()}").mkdir(parents=True)
    file = tmp_path / "headrace.toml"
    file.write_text(f'[settings]\nrecord_directory = "{images}"\n')
    name = "HEADRACE_RECORD_DIRECTORY"
    given = {"environment": {name: str(images)}}
    files = {"user": {"HEADRACE_USER": str(file)}, "site": {"HEADRACE_SITE": str(file)}}
    environ = {"HEADRACE_USER": "", "HEADRACE_SITE": ""} | (given | files).get(place, {})
    assignments = [f"{name}={images}"] if place == "command line" else []
    settings = resolve_run(environ, assignments, files=[file] if place == "file" else [])
    found = [job for job in job_directories(settings, environ) if job.is_relative_to(images)]
    assert [job.name for job in found] == [f"killed-{os.getpid()}"]


@pytest.mark.parametrize("option", ["--set", "--settings"])
def test_gather_takes_what_the_job_was_started_with(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = tmp_path / "images"
    own = images / f"headrace-record-{os.geteuid()}" / "killed"
    own.mkdir(parents=True)
    file = tmp_path / "headrace.toml"
    file.write_text(f'[settings]\nrecord_directory = "{images}"\n')
    monkeypatch.setattr("headrace.commands.record.gather.gather_job", lambda job, *_, **__: job)
    monkeypatch.setattr("headrace.commands.record.gather.goes_on", lambda job: job != own)
    value = f"RECORD_DIRECTORY={images}" if option == "--set" else str(file)
    done = CliRunner().invoke(gather, [option, value])
    assert (done.exit_code, done.output) == (0, f"{own}\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a directory away")
def test_what_others_planted_is_no_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headrace.launch.gather.goes_on", lambda job: job.is_relative_to(tmp_path))
    own = tmp_path / f"headrace-record-{os.geteuid()}"
    for name in ("mine", "planted"):
        (own / name).mkdir(parents=True)
    os.chown(own / "planted", 65534, 65534)
    (own / "link").symlink_to(own / "mine")
    settings = resolve_run({"HEADRACE_RECORD_DIRECTORY": str(tmp_path)})
    assert find_job("", settings, {}).name == "mine"
    os.chown(own, 65534, 65534)
    with pytest.raises(HeadraceError, match="was not found"):
        find_job("mine", settings, {})


def test_no_record_of_a_job_is_the_whole(tmp_path: Path) -> None:
    job = Job(facts={"ranks": "1"})
    one = read(job.write(tmp_path))
    assert merge([one]) is one
