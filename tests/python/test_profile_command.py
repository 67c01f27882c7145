"""`headrace profile` that proposes what to trace, and traces it: a launcher made for the purpose
leaves a record, and tells what it was given."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from cli_support import Command
from click.testing import CliRunner
from record_support import MILLISECOND
from test_apa import build_id
from test_traced_functions import traced_job
from trace_support import compiled, entry_of

from headrace.cli import cli

MS = MILLISECOND
LAUNCHER = """#!{python}
import json, os, shutil, sys
if sys.argv[1:] == ["--version"]:
    print("slurm 23.11.4")
    sys.exit()
own = {{name: value for name, value in os.environ.items() if name.startswith("HEADRACE_")}}
plan = own.get("HEADRACE_TRACE_PLAN")
seen = {{"argv": sys.argv, "environ": own, "plan": open(plan).read() if plan else None}}
json.dump(seen, open({seen!r}, "w"))
os.makedirs(own["HEADRACE_LOGPATH"], exist_ok=True)
shutil.copy({record!r}, os.path.join(own["HEADRACE_LOGPATH"], f"app.{{os.getpid()}}.hrc"))
sys.exit({code})
"""


class Job:
    """What the launcher will leave, and has seen."""

    def __init__(self, folder: Path, headrace: Command, code: int = 0):
        self._headrace = headrace
        self.seen_at = folder / "seen.json"
        self.records = folder / "records"
        self.program = compiled(folder, "-g", "-fpatchable-function-entry=5")
        job = traced_job(1)
        node = job.nodes[0]
        module = node.add("modules", file=str(self.program), build_id=build_id(self.program))
        place = node.add("paths", module=module, offset=entry_of(self.program, "many") + 2)
        node.add("sampling", rank=0, thread=0, name="app", source=1, period=10 * MS)
        node.add("samples", rank=0, thread=0, path=place, samples=5, time=50 * MS)
        node.rows["ranks"][0]["program"] = node.text("app")
        self.made = made = job.write(folder)
        launcher = folder / "bin" / "srun"
        launcher.parent.mkdir()
        text = {"python": sys.executable, "seen": str(self.seen_at), "record": str(made)}
        launcher.write_text(LAUNCHER.format(code=code, **text))
        launcher.chmod(0o755)
        self.launcher = launcher

    def run(self, *options: object):
        line = ("profile", *options, self.launcher, "-n1", self.program)
        return self._headrace(*line, HEADRACE_LOGPATH=str(self.records))

    def seen(self) -> dict:
        return json.loads(self.seen_at.read_text())


@pytest.fixture
def job(tmp_path: Path, headrace: Command) -> Job:
    return Job(tmp_path, headrace)


def test_a_run_proposes_what_to_trace(tmp_path: Path, headrace: Command) -> None:
    job = Job(tmp_path, headrace, code=7)
    done = job.run()
    assert done.returncode == 7, done.stderr  # the program's own
    proposed = job.records / "app.apa.toml"
    *_, where, line = done.stderr.splitlines()
    assert str(proposed) in where and "1 of 1 functions" in where
    assert f"--apa {proposed} {job.launcher} -n1 {job.program}" in line
    document = tomllib.loads(proposed.read_text())
    assert [one["name"] for one in document["functions"]] == ["many"]
    assert "HEADRACE_TRACE" not in job.seen()["environ"]
    assert "Traced functions" in done.stderr  # of the record


def test_a_record_that_cannot_be_shown(tmp_path: Path, headrace: Command) -> None:
    job = Job(tmp_path, headrace, code=7)
    job.made.write_text("damaged")
    done = job.run()
    assert done.returncode == 7  # the program's own
    (line,) = done.stderr.splitlines()
    assert "is no record" in line


@pytest.mark.parametrize("has_samples", (True, False))
def test_where_the_profile_cannot_be_told_the_exit_code_is(
    tmp_path: Path, headrace: Command, has_samples: bool
) -> None:
    job = Job(tmp_path, headrace, code=7)
    if not has_samples:
        traced_job(1).write(tmp_path)
    words = [sys.executable, "-m", "headrace", "profile", str(job.launcher), str(job.program)]
    environ = headrace.environ | {"HEADRACE_LOGPATH": str(job.records)}
    reader, unread = os.pipe()
    os.close(reader)
    with open("/dev/full", "w") as full:
        for stderr in (unread, full):
            done = subprocess.run(words, env=environ, stdout=-1, stderr=stderr, check=False)
            assert (done.returncode, done.stdout) == (7, b"")
    os.close(unread)
    closed = ["sh", "-c", 'exec "$@" 2>&-', "sh", *words]
    done = subprocess.run(closed, env=environ, stdout=-1, check=False)
    assert (done.returncode, done.stdout) == (7, b""), "stdout is the program's"
    assert len(list(job.records.glob("*.hrc"))) == 3


@pytest.mark.parametrize("where", ("job_of", "offer"))
def test_a_fault_of_ours_is_not_the_programs(
    job: Job, headrace: Command, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("of ours")

    for name, value in (headrace.environ | {"HEADRACE_LOGPATH": str(job.records)}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(f"headrace.commands.profile.{where}", fail)
    result = CliRunner().invoke(cli, ["profile", str(job.launcher), str(job.program)])
    assert result.exit_code == 0, result.stderr  # the program's
    assert "ZeroDivisionError, a fault of Headrace" in result.stderr.splitlines()[-1]


def test_the_next_run_traces_it(job: Job) -> None:
    job.run()
    proposed = job.records / "app.apa.toml"
    text = proposed.read_text().replace("groups = []", 'groups = ["math", "nonsense"]')
    text += '[[functions]]\nname = "absent"\n[[functions]]\nname = "tiny"\n'
    proposed.write_text(text)
    done = job.run("--apa", proposed, "--trace", "blas,math")
    assert done.returncode == 0, done.stderr
    seen = job.seen()
    assert seen["environ"]["HEADRACE_TRACE"] == "math,blas"
    lines = seen["plan"].splitlines()[1:]
    assert [line.split()[0] for line in lines] == ["nops", "nops", "refused"]
    assert [line.split()[-1] for line in lines[:2]] == ["many", "tiny"]
    assert lines[2].split()[2] == "absent"
    assert "group 'nonsense' is not traced (there is no such group)" in done.stderr
    assert "absent is not traced (there is no function of this name" in done.stderr
    told = done.stderr.split("Functions that are not traced")[1]
    assert "gone" in told  # of the record, which another test has made
    assert not Path(seen["environ"]["HEADRACE_TRACE_PLAN"]).parent.exists()
    assert proposed.read_text() == text
    assert [one.name for one in job.records.glob("*.toml")] == ["app.apa.toml"]
    job.run()  # another proposal does not take the place of what was edited
    assert proposed.read_text() == text and (job.records / "app.2.apa.toml").exists()


def test_counters_of_the_file(job: Job, tmp_path: Path) -> None:
    file = tmp_path / "x.apa.toml"
    file.write_text('[trace]\ncounters = "software"\n')
    done = job.run("--apa", file)
    assert job.seen()["environ"]["HEADRACE_COUNTERS"] == "software"
    assert "nothing is traced" in done.stderr
    job.run("--apa", file, "--counters", "cache")
    assert job.seen()["environ"]["HEADRACE_COUNTERS"] == "cache"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--trace", "math,nonsense"], "'nonsense' cannot be traced (there is no such group)"),
        (["--trace", "mpi"], "the recorder counts these"),
        (["--prologues"], "it is for the functions of an apa file"),
        (["--apa", "absent.toml"], "'absent.toml' cannot be read"),
        (["--apa", "counters.toml"], "trace.counters is 'many'"),
    ],
)
def test_what_cannot_be_is_told_before_the_run(
    job: Job, tmp_path: Path, options: list[str], why: str
) -> None:
    (tmp_path / "counters.toml").write_text('[trace]\ncounters = "many"\n')
    done = job.run(*options)
    assert done.returncode == 2 and why in done.stderr
    assert done.stderr.count("\n") == 1
    assert not job.seen_at.exists()


def test_a_dry_run_keeps_the_plan(job: Job, tmp_path: Path) -> None:
    file = tmp_path / "x.apa.toml"
    file.write_text(f'program = "{job.program}"\n[[functions]]\nname = "many"\n')
    done = job.run("--apa", file, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert not job.seen_at.exists()
    (plan,) = job.records.glob("*/plan")
    assert f"HEADRACE_TRACE_PLAN={plan}" in done.stdout
    assert plan.read_text().splitlines()[1].endswith(" many")


def test_nothing_is_written_when_quiet(job: Job) -> None:
    done = job.run("--quiet", "--trace", "io")
    assert done.returncode == 0 and done.stderr == ""
    assert job.seen()["environ"]["HEADRACE_TRACE"] == "io"
    assert not list(job.records.glob("*.toml"))


def test_a_place_that_cannot_be_written_costs_no_result(job: Job) -> None:
    """The record is there already when its proposal cannot be written beside it."""
    job.records.mkdir()
    (job.records / "app.apa.toml").mkdir()  # somebody's: it is left alone
    done = job.run()
    assert done.returncode == 0
    assert (job.records / "app.2.apa.toml").exists()
