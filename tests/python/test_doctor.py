"""`headrace doctor`: what it finds, and what it leaves out of a report for support."""

import hashlib
import io
import re
import subprocess
import sys
from pathlib import Path

from cli_support import Command, make_mpi
from rich.console import Console

from headrace.doctor import findings
from headrace.machine import mount_of, mount_point
from headrace.mpi.installed import Mpi

HYDRA_VERSION = "HYDRA build details:"


def test_doctor_lists_what_it_finds(headrace, make_launcher, marker):
    make_launcher("mpiexec", HYDRA_VERSION + "\n    Version: 4.5.6\n")
    library = make_mpi(headrace.directory, "libmpi.so.12")
    result = headrace("doctor", HEADRACE_MPI_PATH=str(headrace.directory))
    assert result.returncode == 0, result.stderr
    (row,) = [line for line in result.stdout.splitlines() if str(library) in line]
    assert "MPICH" in row and "4.5.6" in row
    assert str(marker.library) in result.stdout


def test_doctor_reports_what_support_asks_for(headrace, marker):
    own = {"UCX_SECRET_KEY": "hush", "I_MPI_DEBUG": "1\n\x1b", "NAME": "private"}
    result = headrace("doctor", "--report", HEADRACE_MPI_PATH="", **own)
    lines = result.stdout.splitlines()
    assert any(line.startswith("libc      glibc 2.") for line in lines)
    digest = hashlib.sha256(marker.library.read_bytes()).hexdigest()
    assert any(line.endswith(f"SHA-256 {digest}") for line in lines)
    assert any(line.startswith("files     /dev/shm: ") for line in lines)
    assert "variable  UCX_SECRET_KEY=(left out)" in lines
    assert "variable  I_MPI_DEBUG=1\\n\\x1b" in lines
    assert "hush" not in result.stdout and "private" not in result.stdout


def test_a_report_for_support_does_not_name_the_user(headrace, tmp_path):
    home = tmp_path / "home" / "jdoe"
    (home / "run").mkdir(parents=True)
    own = {
        "HOME": str(home),
        "USER": "jdoe",
        "HEADRACE_LOGPATH": "/scratch/jdoe/logs/jdoe-1_jdoe_.x",
        "HEADRACE_MPI_PATH": f"{home}/mpi:{home}-mpi",
        "I_MPI_ROOT": "/scratch/jdoe2",
        "HEADRACE_USER": str(home / "none.toml"),
    }
    run = Command({**headrace.environ, **own}, home / "run")
    result = run("doctor", "--report", HEADRACE_PIECE="jdoe's")
    text = result.stdout + result.stderr
    assert "jdoe" not in text.replace("/scratch/jdoe2", ""), text
    lines = result.stdout.splitlines()
    assert "variable  HEADRACE_LOGPATH=/scratch/USER/logs/USER-1_USER_.x" in lines
    assert any(re.fullmatch(r"variable  HEADRACE_MPI_PATH=~/mpi:/.*/USER-mpi", x) for x in lines)
    assert "variable  I_MPI_ROOT=/scratch/jdoe2" in lines  # somebody else
    assert any(line.startswith("files     ~/run: ") for line in lines)
    # Without --report it is for the user alone.
    assert f"HEADRACE_USER={home}" in run("doctor").stdout


def test_a_report_hides_names_beyond_ascii(headrace, tmp_path):
    home = tmp_path / "josé"
    home.mkdir()
    own = {"HOME": str(home), "USER": "josé", "HEADRACE_USER": str(home / "none.toml")}
    result = headrace("doctor", "--report", **own, HEADRACE_LOGPATH="/logs/josé/ü")
    assert "jos" not in result.stdout, result.stdout
    lines = result.stdout.splitlines()
    assert "variable  HEADRACE_USER=~/none.toml" in lines
    assert "variable  HEADRACE_LOGPATH=/logs/USER/\\xfc" in lines


def test_a_report_is_made_in_a_directory_that_is_gone(headrace, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f"rmdir {gone}; exec {sys.executable} -m headrace doctor --report"
    words = ["sh", "-c", line]
    result = subprocess.run(words, cwd=gone, env=headrace.environ, capture_output=True, text=True)
    assert "Traceback" not in result.stderr, result.stderr
    [told] = profile_lines(result)
    assert "no profile is of '.'" in told


def test_doctor_takes_brackets_for_what_they_are():
    console = Console(file=io.StringIO(), width=200)
    mpi = Mpi("mpich", Path("/apps/[red]x[/y]/libmpi.so"), Path("/[gcc]/mpiexec"))
    console.print(findings._table([mpi], str))
    shown = console.file.getvalue()
    assert "/apps/[red]x[/y]/libmpi.so" in shown and "/[gcc]/mpiexec" in shown


def test_a_report_for_support_tells_which_profile_counts(headrace, tmp_path):
    name = {"HEADRACE_USER": str(tmp_path / "headrace.toml"), "HEADRACE_SITE": "/dev/null"}
    [line] = profile_lines(headrace("doctor", "--report", **name))
    assert "no profile is of " in line
    (tmp_path / "profiles").mkdir()
    kind, point = mount_of(headrace.directory).kind, mount_point(headrace.directory)
    text = f"""
[profile]
format = 2
date = "2026-11-30"
[machine]
node_ranks = 64
nodes = 1
[file_system]
kind = "{kind}"
mount = "{point}"
"""
    (tmp_path / "profiles" / "p.toml").write_text(text)
    [line] = profile_lines(headrace("doctor", "--report", **name))
    assert line.endswith(
        f"/profiles/p.toml' (of {kind} at {point}, 2026-11-30), "
        "for files of one node, of up to 64 ranks"
    )


def profile_lines(result) -> list[str]:
    return [line for line in result.stdout.splitlines() if line.startswith("profile ")]
