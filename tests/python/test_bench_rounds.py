"""Rounds of a comparison on faked runs: what is left out, what is kept, what is told."""

import json
import shutil
from pathlib import Path

import pytest
from peers_support import HOSTS, FakeRuns, Usage

from headrace.bench import compare as compare_module
from headrace.bench import comparison as comparison_module
from headrace.bench import runner
from headrace.bench.comparison import SPARE_BYTES, Comparison, NoSpace, run_rounds, start
from headrace.bench.jobs import (
    HEADRACE,
    JOBS,
    PLAIN,
    Job,
    Measurement,
    Way,
    ior_job,
    read_measurement,
    tile_job,
)
from headrace.bench.partial import kept
from headrace.bench.report import facts, speed_table
from headrace.bench.runner import RunFailed
from headrace.demo import sizing
from headrace.errors import HeadraceError


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeRuns:
    """Runs that are not made, each of a file of eight bytes."""
    runs = FakeRuns()
    monkeypatch.setattr(comparison_module, "measure", runs.measure)
    return runs


def begin(folder: Path) -> Comparison:
    """The first round of a job whose files are as large as its flags make them."""
    job = tile_job(2, ("--piece", "8"))
    return start(job, HOSTS["mpich"], folder, {}, lambda _: None)


def test_flags_leave_the_space_checked(
    fake: FakeRuns, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Not enough for one file more.
    usage = Usage(1 << 40, 0, SPARE_BYTES + 7)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(NoSpace, match="not enough space"):
        begin(tmp_path)
    assert [way for _, way in fake.runs] == [HEADRACE] and not list(tmp_path.iterdir())
    usage = Usage(1 << 40, 0, SPARE_BYTES + 8)
    assert begin(tmp_path).job.largest_file == 8
    assert not list(tmp_path.iterdir())


def test_an_access_that_a_flag_switches_off_is_left_out(fake: FakeRuns, tmp_path: Path) -> None:
    fake.accesses = ("write",)
    result = begin(tmp_path)
    run_rounds(result, tmp_path, {}, lambda _: None, 2, 2, 0)
    assert {cell.access for cell in result.cells()} == {"write"}
    assert speed_table(result).row_count == len(result.ways)
    fake.accesses = ()
    with pytest.raises(HeadraceError, match="it makes no write and no read"):
        begin(tmp_path)


def test_what_was_not_checked_is_not_told_to_be_right(tmp_path: Path) -> None:
    summary = tmp_path / "summary"
    for checks, is_checked in (
        ({"checked": False}, False),
        ({"checked": True}, True),
        ({}, True),
        ({"Parameters": {"checkWrite": False, "checkRead": False}}, False),
        ({"Parameters": {"checkWrite": False, "checkRead": True}}, True),
    ):
        job = ior_job(2) if "Parameters" in checks else tile_job(2)
        document = {"results": [], **checks}
        summary.write_text(json.dumps({"tests": [document]} if job.key == "ior" else document))
        assert read_measurement(job, summary).is_checked == is_checked
    ways = ior_job(2).ways
    result = Comparison(ior_job(2), HOSTS["mpich"], {way.key: [Measurement()] for way in ways})
    result.runs["posix"][0].is_checked = False
    told = "wrong data found by checking every run: plain MPI 0, POSIX not checked, Headrace 0"
    assert told in list(facts(result))


def test_all_ways_compute_as_long_as_plain_mpi_transfers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    summary = tmp_path / "summary"
    samples = [{"access": "write", "computing": seconds} for seconds in (9.0, 1.5, 1.0)]
    row = {"access": "write", "bytes": 1, "totalTime": 1.0, "hintsBeforeClose": {}}
    summary.write_text(json.dumps({"results": [row], "samples": samples}))
    first = read_measurement(JOBS["overlap"](1), summary)
    assert first.computing == {"write": 1.5}
    fake = FakeRuns()

    def measured(job: Job, way: Way, *more: object, **options: object) -> Measurement:
        result = fake.measure(job, way, *more, **options)
        result.computing = {"write": 1.5, "read": 0.25} if way.key == PLAIN else {"write": 7.0}
        return result

    monkeypatch.setattr(comparison_module, "measure", measured)
    job = start(JOBS["overlap"](1), HOSTS["mpich"], tmp_path, {}, lambda _: None).job
    for way in job.ways:
        assert job.told(way)[-4:] == ("--compute", "1.5", "--readCompute", "0.25")
    assert job.line.endswith("--compute 1.5 --readCompute 0.25")


def test_the_results_of_an_earlier_run_are_not_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The first one writes its results and crashes at the end; the second one writes none."""
    job = tile_job(2)
    file = tmp_path / "file"
    monkeypatch.setattr(runner, "find_program", lambda *_: Path("tile"))
    monkeypatch.setattr(runner, "launch", lambda *_, **__: None)

    def crash(*_: object) -> tuple[int, str]:
        file.with_name("file.json").write_text('{"results": []}')
        return 139, ""

    monkeypatch.setattr(runner, "run_captured", crash)
    for code in (139, 1):
        with pytest.raises(RunFailed, match=f"exit code {code}"):
            runner.measure(job, job.ways[0], HOSTS["mpich"], file, {})
        monkeypatch.setattr(runner, "run_captured", lambda *_: (1, ""))


def test_a_peer_that_fails_later_on_is_left_out(fake: FakeRuns, tmp_path: Path) -> None:
    result = begin(tmp_path)
    fake.fail = lambda _job, way, number: "it crashed" if way.key == PLAIN and number > 8 else ""
    run_rounds(result, tmp_path, {}, lambda _: None, 5, 5, 0)
    assert (
        result.rounds == 5
        and PLAIN in result.failed
        and PLAIN not in {way.key for way in result.ways}
    )
    fake.fail = lambda _job, way, _number: "" if way.key == HEADRACE else "it crashed"
    with pytest.raises(RunFailed, match="no other way works"):
        run_rounds(result, tmp_path, {}, lambda _: None, 9, 9, 0)


@pytest.mark.parametrize("failing", ["plain", HEADRACE])
def test_what_was_measured_stays_when_an_mpi_fails(
    fake: FakeRuns, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, failing: str
) -> None:
    """The second of three MPIs, in its third round."""
    monkeypatch.setattr(compare_module, "find_wanted", lambda *_: [*HOSTS.values()] * 2)
    runs = 4 + 4 * 3  # of the first MPI
    fake.fail = lambda _job, way, number: (
        "it crashed" if number > runs + 12 and way.key == failing else ""
    )
    found: list[Comparison] = []
    kept_at: list[int] = []
    arguments = ("tile", tile_job(2, ("--piece", "8")), "all", 3, tmp_path, {}, found)
    if failing == HEADRACE:
        with pytest.raises(RunFailed), kept(found, lambda: kept_at.append(len(found))):
            compare_module.compare_ways(*arguments)
        assert [one.rounds for one in found] == [3, 2] and kept_at == [2]
    else:
        compare_module.compare_ways(*arguments)
        assert [one.rounds for one in found] == [3] * 4


def test_nothing_is_kept_where_nothing_was_found() -> None:
    kept_at: list[int] = []
    for ending in (HeadraceError("it", "fails", "help it"), KeyboardInterrupt()):
        with pytest.raises(type(ending)), kept([], lambda: kept_at.append(0)):
            raise ending
    assert not kept_at
    with kept([], lambda: kept_at.append(0)):
        pass
    assert kept_at == [0]


def test_the_demo_finds_a_size_without_a_plain_mpi(
    fake: FakeRuns, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sizing, "measure", fake.measure)
    fake.fail = lambda _job, way, _number: "it crashed" if way.key == PLAIN else ""
    part = sizing.PARTS[0]
    arguments = (part, 60.0, HOSTS["mpich"], tmp_path, {}, lambda _: None)
    assert sizing.sized_job(*arguments).largest_file > part.make(part.sizes[-1]).largest_file
    fake.fail = lambda _job, way, _number: "it crashed" if way.key == HEADRACE else ""
    with pytest.raises(RunFailed):
        sizing.sized_job(*arguments)


@pytest.mark.parametrize("way", ["posix", HEADRACE])
def test_no_way_is_blamed_for_a_full_disk(fake: FakeRuns, tmp_path: Path, way: str) -> None:
    fake.fail = lambda _job, one, _number: "No space left on device" if one.key == way else ""
    with pytest.raises(NoSpace, match=r"filled up .*No space left"):
        begin(tmp_path)
    assert not list(tmp_path.iterdir())
