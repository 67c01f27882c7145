"""Every launcher of this machine, and an srun that follows srun(1)'s rules for --export: the
library is loaded in every rank, in nothing of the launcher's own, and nowhere twice."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from cli_support import Command, Marker, clean_environment, compile_c, mpi_path
from hanging import PATIENCE, is_running

from headrace.launch.start import ROOT_ALLOWANCE, launch_line
from headrace.launch.values import RankEnvironment
from headrace.launchers.detection import detect
from headrace.mpi.environment import runtime_environment
from headrace.mpi.installed import Mpi, find_all

MPIS = find_all({**clean_environment(), "HEADRACE_MPI_PATH": mpi_path()})
SOURCE = """
#include <stdio.h>
int MPI_Init(int *, char ***);
int MPI_Finalize(void);
int main(int count, char **arguments) {
  MPI_Init(&count, &arguments);
  printf("out %s\\n", count > 1 ? arguments[1] : "");
  return MPI_Finalize();
}
"""


@pytest.fixture(params=MPIS, ids=lambda mpi: f"{mpi.kind}-{mpi.version}")
def mpi(request) -> Mpi:
    return request.param


@pytest.fixture
def app(mpi: Mpi, tmp_path: Path) -> Path:
    """A program linked with this MPI and no run path, as if its module had been loaded."""
    folder = mpi.library.parent
    flags = (str(mpi.library), "-Wl,--allow-shlib-undefined", f"-Wl,-rpath,{folder}")
    return compile_c(SOURCE, tmp_path / "app", *flags)


def started(headrace: Command, mpi: Mpi) -> dict[str, str]:
    """What a user of this MPI has in the environment."""
    variables = runtime_environment(mpi, headrace.environ)
    allowance = ROOT_ALLOWANCE if os.geteuid() == 0 and mpi.kind == "openmpi" else {}
    return {**variables, **allowance}


# Hydra forwards its input to a proxy some time after the start, and SIGPIPE ends it if the proxy
# has gone by then: a program of these tests lives long enough for that.
BRIEFLY = ("sleep", "0.3")


@pytest.fixture
def brief(tmp_path: Path) -> tuple[object, ...]:
    """A line whose program goes by another name than that of BRIEFLY."""
    program = tmp_path / "brief"
    program.symlink_to(shutil.which("sleep"))
    return (program, "0.3")


def own_part(command: list[str]) -> bool:
    """Whether a process is the launcher's: one of its daemons, or the launcher itself."""
    name = Path(command[0]).name
    return any(part in name for part in ("mpirun", "mpiexec", "proxy", "prte", "orte", "hydra"))


def assert_ranks(marker: Marker, counts: dict[str, int], *, setting: str | None = None) -> None:
    marks = [mark for mark in marker.marks() if mark.name in counts]
    assert Counter(mark.name for mark in marks) == counts
    assert not [mark for mark in marker.marks() if own_part(mark.command)]
    for mark in marks:
        assert mark.environ["LD_PRELOAD"].split(":").count(str(marker.library)) == 1
        assert mark.environ.get("HEADRACE_QUIET") == setting


def test_a_launcher_was_found():
    assert MPIS, "no MPI was found: set HEADRACE_MPI_PATH or run './dev setup'"


def test_wrapped_line(headrace, mpi, app, marker):
    line = ("run", mpi.launcher, "-n", "2", app, "hello")
    result = headrace(*line, **started(headrace, mpi), HEADRACE_QUIET="1")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["out hello"] * 2
    assert_ranks(marker, {"app": 2}, setting="1")


def other_launchers() -> list[tuple[Mpi, Path]]:
    names = ("mpirun", "mpiexec", "prterun", "orterun", "mpiexec.gforker")
    places = [(mpi, mpi.launcher.with_name(name)) for mpi in MPIS for name in names]
    return [
        (mpi, path)
        for mpi, path in places
        if path != mpi.launcher and path.exists() and detect(path, os.environ) is mpi.family
    ]


@pytest.mark.parametrize(
    ("mpi", "launcher"),
    other_launchers(),
    ids=lambda value: value.name if isinstance(value, Path) else value.version,
)
def test_other_names_of_the_launcher(headrace, marker, mpi, launcher):
    line = ("run", launcher, "-n", "2", *BRIEFLY)
    # Intel's mpirun looks for mpiexec.hydra in PATH.
    path = f"{launcher.parent}:{headrace.environ['PATH']}"
    result = headrace(*line, **started(headrace, mpi), PATH=path)
    assert result.returncode == 0, result.stderr
    assert_ranks(marker, {"sleep": 2})


def test_several_programs(headrace, mpi, app, marker):
    other = app.with_name("other")
    other.symlink_to(app)
    line = ("run", mpi.launcher, "-n", "1", app, "a", ":", "-n", "1", other, "b")
    result = headrace(*line, **started(headrace, mpi))
    assert result.returncode == 0, result.stderr
    assert sorted(result.stdout.split()) == ["a", "b", "out", "out"]
    assert_ranks(marker, {"app": 1, "other": 1})


def test_program_behind_a_wrapper(headrace, mpi, app, marker):
    line = ("run", mpi.launcher, "-n", "2", "sh", "-c", f"exec {app} hidden")
    result = headrace(*line, **started(headrace, mpi))
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["out hidden"] * 2
    assert_ranks(marker, {"app": 2})


def test_number_of_ranks_only(headrace, mpi, app, marker):
    result = headrace("run", "-n", "2", app, "hello", HEADRACE_QUIET="1")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["out hello"] * 2
    assert_ranks(marker, {"app": 2}, setting="1")


def test_more_ranks_than_cores(headrace, mpi, marker):
    ranks = os.cpu_count() + 1
    result = headrace("run", "-n", ranks, "--mpi", mpi.library, *BRIEFLY)
    assert result.returncode == 0, result.stderr
    assert_ranks(marker, {"sleep": ranks})


def test_application_file(headrace, mpi, marker, brief):
    names = {"openmpi": "--app", "mpich": "-configfile", "intel": "-configfile"}
    listing = headrace.directory / "listing"
    program, seconds = brief
    listing.write_text(f"-n 1 {program} {seconds}\n-n 1 sleep {seconds}\n")
    result = headrace("run", mpi.launcher, names[mpi.kind], listing, **started(headrace, mpi))
    assert result.returncode == 0, result.stderr
    found = Counter(mark.name for mark in marker.marks())
    assert (found["brief"], found["sleep"]) == (1, 1)


@pytest.mark.parametrize("where", ["environment", "line"])
def test_libraries_of_the_users_own_are_loaded_too(headrace, mpi, marker, where):
    theirs = compile_c("int theirs;", headrace.directory / "theirs.so", "-shared", "-fPIC")
    options = {"openmpi": ("-x", f"LD_PRELOAD={theirs}")}
    given = options.get(mpi.kind, ("-genv", "LD_PRELOAD", str(theirs))) if where == "line" else ()
    variables = {"LD_PRELOAD": str(theirs)} if where == "environment" else {}
    line = ("run", mpi.launcher, *given, "-n", "1", *BRIEFLY)
    result = headrace(*line, **started(headrace, mpi), **variables)
    assert result.returncode == 0, result.stderr
    (mark,) = [mark for mark in marker.marks() if mark.name == "sleep"]
    assert mark.environ["LD_PRELOAD"] == f"{theirs}:{marker.library}"


def test_contexts_without_an_environment(headrace, mpi, marker, brief):
    if mpi.kind == "openmpi":
        pytest.skip("Open MPI has no option that drops the environment of one program")
    line = ("run", mpi.launcher, "-n", "1", *brief, ":", "-n", "1", "-envnone", *BRIEFLY)
    result = headrace(*line, **started(headrace, mpi))
    assert result.returncode == 0, result.stderr
    assert_ranks(marker, {"brief": 1, "sleep": 1})


# What a launcher starts its daemons with on other nodes: nothing of our environment gets there.
REMOTE_SHELL = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do case $1 in -o | -p | -l) shift 2 ;; *) shift ;; esac; done
echo "$1" >>"$0.hosts"
shift
exec env -i HOME="$HOME" PATH=/usr/bin:/bin sh -c "$*"
"""


def remote_options(mpi: Mpi, shell: Path) -> list[str]:
    """Options that put one rank on each of two hosts reached by `shell`."""
    if mpi.kind == "openmpi":
        hosts = ["--host", "nodea:1,nodeb:1"]
        if mpi.version.startswith("4."):
            agent = ["--mca", "plm", "rsh", "--mca", "plm_rsh_agent", str(shell)]
            # Its daemon may put what it shares with its ranks over its own stack, and crash.
            return [*agent, "--mca", "rtc_hwloc_vmhole", "none", *hosts]
        return ["--prtemca", "plm", "ssh", "--prtemca", "plm_ssh_agent", str(shell), *hosts]
    launcher = ["-launcher", "ssh", "-launcher-exec", str(shell), "-localhost", "127.0.0.1"]
    return [*launcher, "-hosts", "nodea,nodeb", "-ppn", "1"]


def test_ranks_on_other_nodes(headrace, mpi, marker, brief, tmp_path):
    shell = tmp_path / "shell"
    shell.write_text(REMOTE_SHELL)
    shell.chmod(0o755)
    programs = ("-n", "1", *brief, ":", "-n", "1", *BRIEFLY)
    line = ("run", mpi.launcher, *remote_options(mpi, shell), *programs)
    result = headrace(*line, **started(headrace, mpi), HEADRACE_QUIET="1")
    assert result.returncode == 0, result.stderr
    hosts = shell.with_name("shell.hosts").read_text().split()
    assert sorted(hosts) == ["nodea", "nodeb"]
    assert_ranks(marker, {"brief": 1, "sleep": 1}, setting="1")


def test_exit_code_is_the_launchers(headrace, mpi):
    line = ("run", mpi.launcher, "-n", "1", "sh", "-c", "exit 7")
    assert headrace(*line, **started(headrace, mpi)).returncode == 7


def test_signals_reach_the_launcher(headrace, mpi):
    """The command becomes its launcher, which ends its ranks; no process stays behind."""
    line = [sys.executable, "-m", "headrace", "run", str(mpi.launcher), "-n", "1"]
    text = "echo $$; exec sleep infinity"
    environ = {**headrace.environ, **started(headrace, mpi)}
    process = subprocess.Popen([*line, "sh", "-c", text], env=environ, stdout=subprocess.PIPE)
    rank = int(process.stdout.readline())
    process.send_signal(signal.SIGTERM)
    process.wait()  # Hydra 4.0 exits with 0 then, without Headrace too.
    process.stdout.close()
    deadline = time.monotonic() + PATIENCE
    while is_running(rank):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_plain_launch_for_comparisons(mpi, app, tmp_path, marker):
    launch = launch_line(mpi, 2, [str(app)], clean_environment(), as_root=os.geteuid() == 0)
    subprocess.run(launch.argv, env=launch.environ, check=True)
    assert marker.marks() == []
    ranks = RankEnvironment(str(marker.library))
    root = os.geteuid() == 0
    launch = launch_line(mpi, 2, [str(app)], clean_environment(), ranks=ranks, as_root=root)
    subprocess.run(launch.argv, env=launch.environ, check=True)
    assert_ranks(marker, {"app": 2})


PYTHON_PROGRAM = "from mpi4py import MPI; print(MPI.COMM_WORLD.size, MPI.Get_library_version())"
TITLES = {"mpich": "MPICH", "openmpi": "Open MPI", "intel": "Intel(R) MPI"}


def test_python_program(headrace, mpi, marker):
    interpreter = mpi.prefix / "bin" / "python"
    probe = [interpreter, "-c", "import mpi4py"]
    if mpi.prefix == Path("/usr") or not interpreter.exists():
        pytest.skip("this MPI was not installed as a wheel")
    if subprocess.run(probe, check=False, capture_output=True).returncode:
        pytest.skip("no mpi4py beside this MPI")
    result = headrace("run", "-n", "2", interpreter, "-c", PYTHON_PROGRAM)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count(f"2 {TITLES[mpi.kind]}") == 2
    assert_ranks(marker, {"python": 2})


# srun(1): without --export all of the environment goes; a list without ALL leaves only SLURM_*
# and what it names; "NAME" takes the value of srun's own environment. ':' separates components.
FAKE_SRUN = """#!{python}
import os, subprocess, sys
components, line = [], sys.argv[1:]
while ":" in line:
    cut = line.index(":")
    components.append(line[:cut])
    line = line[cut + 1:]
for line in [*components, line]:
    ranks, export = 1, os.environ.get("SLURM_EXPORT_ENV", "ALL")
    while line[0].startswith("-"):
        option = line.pop(0)
        if option.startswith("--export="):
            export = option.partition("=")[2]
        elif option == "--export":
            export = line.pop(0)
        elif option.startswith("-n"):
            ranks = int(option[2:] or line.pop(0))
    entries = export.split(",")
    keep = "ALL" in entries
    environ = {{n: v for n, v in os.environ.items() if keep or n.startswith("SLURM_")}}
    for entry in entries:
        name, equals, value = entry.partition("=")
        if equals:
            environ[name] = value
        elif name in os.environ:
            environ[name] = os.environ[name]
    for rank in range(ranks):
        subprocess.run(line, env=environ, check=True)
"""

SRUN_LINES = [
    (("-n2", "true"), {"true": 2}),
    (("-n", "2", "--export", "ALL,A=1", "true"), {"true": 2}),
    (("--export=NONE", "-n2", "true"), {"true": 2}),
    (("--export=A=1", "-n1", "true", ":", "-n2", "sleep", "0"), {"true": 1, "sleep": 2}),
    (("-n2", "env", "true"), {"true": 2}),
]


@pytest.mark.parametrize(("line", "counts"), SRUN_LINES)
@pytest.mark.parametrize("inherited", [{}, {"SLURM_EXPORT_ENV": "NONE"}])
def test_srun(headrace, marker, tmp_path, line, counts, inherited):
    srun = tmp_path / "srun"
    srun.write_text(FAKE_SRUN.format(python=sys.executable))
    srun.chmod(0o755)
    result = headrace("run", srun, *line, HEADRACE_QUIET="1", **inherited)
    assert result.returncode == 0, result.stderr
    assert_ranks(marker, counts, setting="1")
    assert not [mark for mark in marker.marks() if "srun" in " ".join(mark.command)]
