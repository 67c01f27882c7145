"""What the core puts into a record is what the reader finds: `headrace_gather` makes one of images
whose calls are known."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

import pytest
from cli_support import ROOT

from headrace.analysis.paths import Paths
from headrace.record.reader import read
from headrace.record.tables import Node, Record

BUILD = ROOT / "build" / "release"
GATHER = BUILD / "lib" / "headrace_gather"
MAKER = BUILD / "tests" / "gather" / "make_images"
RANKS = 4
KILLED = 3

pytestmark = pytest.mark.skipif(
    not (GATHER.exists() and MAKER.exists()), reason="build/release has no headrace_gather"
)


@dataclass
class Job:
    """Images of a job's ranks, and what was put into each."""

    folder: Path
    told: list[dict[str, int]]

    @property
    def images(self) -> Path:
        return self.folder / "job"

    def gather(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [GATHER, self.images, self.folder / "records", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def record(self) -> Record:
        done = self.gather()
        assert done.returncode == 0, done.stderr
        return read(Path(done.stdout.strip()))


@pytest.fixture
def folder() -> Iterator[Path]:
    """A directory of this user alone; those that pytest makes may be read by others."""
    path = Path(mkdtemp())
    yield path
    shutil.rmtree(path)


@pytest.fixture
def job(folder: Path) -> Job:
    command = [MAKER, "images", folder, str(RANKS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Job(folder, [json.loads(line) for line in done.stdout.splitlines()])


def rows(node: Node, table: str) -> list[dict[str, int]]:
    columns = node[table].columns
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def headrace(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    own = {
        "PYTHONPATH": str(ROOT / "python"),
        "HEADRACE_LIBRARY": str(GATHER.with_name("libheadrace.so")),
    }
    command = [sys.executable, "-m", "headrace", *words]
    return subprocess.run(command, env=os.environ | own, cwd=cwd, capture_output=True, check=False)


def test_all_calls_are_there(job: Job) -> None:
    (node,) = job.record().nodes
    found = {(row["rank"], node.text(row["procedure"])): row for row in rows(node, "calls")}
    assert len(found) == node["calls"].size == 2 * RANKS
    communicators = rows(node, "communicators")
    for told in job.told:
        send = found[told["rank"], "MPI_Send"]
        assert (send["class"], send["calls"], send["bin1"]) == (0, told["calls"], told["calls"])
        assert (send["sent"], send["time"]) == (told["sent"], told["send_ns"])
        assert send["least"] <= send["time"] // 3 <= send["greatest"]
        world = communicators[send["communicator"]]
        assert (world["size"], node.text(world["name"])) == (RANKS, "MPI_COMM_WORLD")
        reduce = found[told["rank"], "MPI_Allreduce"]
        assert (reduce["class"], reduce["calls"], reduce["bin0"]) == (1, 1, 1)
        assert reduce["failed"] == told["failed"]
        assert reduce["time"] == reduce["least"] == reduce["greatest"] == told["allreduce_ns"]
        assert communicators[reduce["communicator"]]["size"] == 2


def test_a_damaged_job_does_not_keep_others_from_their_records(job: Job) -> None:
    """Though it comes first."""
    bad = job.folder / "a-bad"
    bad.mkdir(mode=0o700)
    (bad / "rank-0").write_bytes(b"no image")
    done = headrace("record", "gather", "--to", job.folder / "to", bad, job.images)
    assert done.returncode == 1
    (record,) = _paths(done.stdout)
    assert read(record).is_whole and not job.images.exists()
    assert f"no record was made of '{bad}'" in done.stderr.decode() and (bad / "rank-0").exists()


def test_a_folder_of_records_may_have_any_name(job: Job) -> None:
    folder = os.fsencode(job.folder) + b"/\xff "
    done = headrace("record", "gather", "--to", folder, job.images)
    assert (done.returncode, done.stderr) == (0, b"")
    (record,) = _paths(done.stdout)
    assert os.fsencode(record.parent) == folder and read(record).is_whole
    done = headrace("report", "--html", record)
    assert done.returncode == 0 and _paths(done.stdout) == [record.with_suffix(".html")]


def test_the_directory_of_a_job_may_be_the_one_we_are_in(job: Job) -> None:
    rules = job.folder / "rules.toml"
    rules.write_text("""[[rules]]
id = "any"
title = "t"
action = "x"
by = ["headrace"]
when = "ranks > 1"
bound = "run_seconds"
settings.headrace.HEADRACE_VERIFY = true
""")
    (job.images / f"rank-{KILLED}").unlink()  # of jobs that were killed there is no advice
    (job.images / "inner").mkdir()
    for place, name in ((job.images, "."), (job.images / "inner", "..")):
        done = headrace("report", name, "--html", cwd=place)
        assert (done.returncode, _paths(done.stdout)) == (0, [job.folder / "job.html"])
        done = headrace("apply", name, "--rules", rules, cwd=place)
        assert done.returncode == 0, done.stderr
        assert "from the record job." in (job.folder / "job.toml").read_text()


def _paths(told: bytes) -> list[Path]:
    return [Path(os.fsdecode(line)) for line in told.split(b"\n")[:-1]]


def test_ranks_share_their_call_paths(job: Job) -> None:
    (node,) = job.record().nodes
    paths = Paths()
    numbers = paths.add(node)
    calls = rows(node, "calls")
    used = {(node.text(row["procedure"]), numbers[row["path"]]) for row in calls}
    assert len(used) == 2
    for _, number in used:
        frames = paths.frames(number, 8)
        assert len(frames) >= 3
        assert Path(frames[0].module) == MAKER.resolve()
        assert frames[0].build_id


def test_messages_files_and_decisions_are_there(job: Job) -> None:
    (node,) = job.record().nodes
    messages = {(row["rank"], row["peer"]): row for row in rows(node, "matrix")}
    files = {row["rank"]: row for row in rows(node, "files")}
    for told in job.told:
        to_next = messages[told["rank"], told["peer"]]
        assert (to_next["messages"], to_next["sent"]) == (told["calls"], told["sent"])
        assert messages[told["rank"], -2]["sent"] == 5
        file = files[told["rank"]]
        assert node.text(file["file"]) == "/scratch/out\\xff.dat"
        assert (file["opens"], file["written"], file["store_read"]) == (1, 4096, -1)
        assert file["time"] == told["file_ns"]
    assert len(messages) == 2 * RANKS
    assert {(row["time"], row["calls"], row["cost"]) for row in rows(node, "decisions")} == {
        (1000, 5, 77),
        (2000, 5, 154),
    }
    assert node.texts_of("settings", "name") == ["HEADRACE_QUIET"]
    assert node.texts_of("variables", "value") == ["4"]


def test_a_killed_rank_is_told(job: Job) -> None:
    record = job.record()
    (node,) = record.nodes
    states = dict(node["ranks"].rows("rank", "state"))
    assert states == {rank: 2 if rank == KILLED else 1 for rank in range(RANKS)}
    runs = dict(node["ranks"].rows("rank", "run"))
    assert runs[0] == 10**9
    assert runs[KILLED] == job.told[KILLED]["send_ns"] + job.told[KILLED]["allreduce_ns"]
    assert node.texts_of("ranks", "cores") == [str(rank) for rank in range(RANKS)]
    facts = record.facts
    assert (facts["complete"], facts["ranks"], facts["nodes"]) == ("0", str(RANKS), "1")
    assert (facts["mpi"], facts["seconds"]) == ("MPICH 5.0.2", "1.000000")
    assert record.is_whole
    assert record.missing == ()


def test_a_running_rank_is_not_disturbed(job: Job) -> None:
    images = {path.name: path.read_bytes() for path in job.images.iterdir()}
    first, second = Path(job.gather().stdout.strip()), Path(job.gather().stdout.strip())
    assert first != second
    assert first.read_bytes() == second.read_bytes()
    assert {path.name: path.read_bytes() for path in job.images.iterdir()} == images


def test_images_are_removed_if_asked(job: Job) -> None:
    assert job.gather("--remove").returncode == 0
    assert not job.images.exists()
    done = job.gather()
    assert done.returncode == 1
    assert "No such file" in done.stderr


def test_what_is_no_image_is_named_and_stays(job: Job) -> None:
    wrong = job.images / "rank-2"
    wrong.write_bytes(wrong.read_bytes()[:1000])
    done = job.gather("--remove")
    assert done.returncode == 0
    assert f"headrace: left out: {wrong}: " in done.stderr
    record = read(Path(done.stdout.strip()))
    assert list(record.nodes[0]["ranks"]["rank"]) == [0, 1, 3]
    assert str(wrong) in record.facts["left_out"]
    assert list(job.images.iterdir()) == [wrong]


def test_a_directory_that_others_may_change_is_refused(job: Job) -> None:
    job.images.chmod(0o777)
    done = job.gather()
    assert done.returncode == 1
    assert "is not this user's alone" in done.stderr
    if os.geteuid() == 0:
        job.images.chmod(0o700)
        os.chown(job.images, 12345, 12345)
        assert job.gather().returncode == 1


@pytest.mark.parametrize("words", [(), ("one",), ("a", "b", "c"), ("a", "b", "--wrong")])
def test_wrong_use_is_told(words: tuple[str, ...]) -> None:
    done = subprocess.run([GATHER, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: headrace_gather DIRECTORY OUTPUT_DIRECTORY")
