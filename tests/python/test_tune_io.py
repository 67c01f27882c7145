"""`headrace tune DIR`: from a directory to a profile that the library takes; what goes wrong."""

import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from bench_support import bench_command, started
from cli_support import Command
from mounting import mounted
from tune_support import figures, measured

from headrace import machine
from headrace.mpi.installed import find_all
from headrace.settings.resolver import resolve_run
from headrace.tune import fit, gains, profile, standing
from headrace.tune.figures import read_figures
from headrace.tune.patterns import DIRECTIONS

SHORT = ("--minutes", "0.05")
# A store behind a network: each request takes long, and those of several ranks go side by side.
SLOW = "write_call=40000,write_byte=8,read_call=300000,read_byte=1"


@pytest.fixture
def bench(tmp_path: Path) -> Command:
    command = bench_command(tmp_path)
    (tmp_path / "config").mkdir(mode=0o755)
    command.environ["HEADRACE_USER"] = str(tmp_path / "config" / "headrace.toml")
    command.environ["HEADRACE_SITE"] = "/dev/null"
    command.environ["HEADRACE_QUIET"] = "0"
    (tmp_path / "data").mkdir()
    return command


def chosen(output: str) -> dict[str, str]:
    """By pattern: its line in the command's table."""
    found = {}
    for line in output.splitlines():
        words = line.split()
        if len(words) >= 8 and words[0] in ("write", "read") and words[2:4] == ["pieces", "of"]:
            found[f"{words[0]} {words[4].replace(',', '')}"] = line
    return found


def is_sure(line: str) -> bool:
    """Whether the gain's interval, "[1.20, 1.40]", lies above 1."""
    found = re.search(r"\[([0-9.]+), [0-9.]+\]", line)
    return found is not None and float(found[1]) >= 1 and "not taken" not in line


def sizes_in(choices: dict[str, str]) -> list[tuple[str, int]]:
    """Sizes of patterns among the pieces that a profile counts for."""
    return [
        (way, size)
        for way in DIRECTIONS
        for part in choices[way].split(", ")
        if part != "none"
        for size in gains.SIZES
        if int(part.split(" to ")[0]) <= size <= int(part.split(" to ")[1])
    ]


def test_a_directory_gets_a_profile_that_jobs_find(bench: Command, tmp_path: Path) -> None:
    done = bench("tune", "data", *SHORT, HEADRACE_MIMIC_STORE=SLOW)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "your jobs find it by the file system" in done.stderr
    assert re.search(r"applies to files of one node, of up to \d+ ranks", done.stderr)
    assert list((tmp_path / "data").iterdir()) == []
    [place] = (tmp_path / "config" / "profiles").glob("*.toml")
    read = tomllib.loads(place.read_text())
    assert read["file_system"]["mount"] and read["machine"]["node_ranks"] >= 2
    # Each request takes at least as long as the store was told.
    for table, name, least in (
        ("write", "call_byte", 4),
        ("write", "window_byte", 4),
        ("read", "call", 200_000),
        ("read", "window_call", 200_000),
    ):
        number, _, source = read[table][name].partition(" ")
        # Where other work disturbs it too much, a cost stays.
        assert source == "built in" or float(number) > least, (table, name)
    raw = read_figures(profile.figures_file(place))
    assert {one.what for one in raw.figures} >= {"append", "read", "create", "collective_write"}
    assert len(chosen(done.stdout)) == 12, done.stdout
    # It counts where a gain was measured, and only there. The library finds it for that directory
    # by itself, and names it.
    kept = {f"{way} {size}" for way, size in sizes_in(read["choices"])}
    assert kept <= {name for name, line in chosen(done.stdout).items() if is_sure(line)}
    for name in chosen(done.stdout):
        way, size = name.split()
        hints = bench("hints", "data/f", "--ranks", 2, "--ranks-per-node", 2, "--piece", size)
        assert hints.returncode == 0 and "profile" not in hints.stderr, hints.stderr
        [line] = [one for one in hints.stdout.splitlines() if one.startswith(f"{way}s of")]
        assert (f"costs are those of profile '{place}'" in line) == (name in kept), line
    without = bench("hints", "data/f", "--piece", 10_000, HEADRACE_PROFILE="none")
    assert "profile" not in without.stdout + without.stderr


def test_a_profile_is_checked(bench: Command, tmp_path: Path) -> None:
    flags = ("--output", "p.toml", "data")
    done = bench("tune", *SHORT, *flags, HEADRACE_MIMIC_STORE=SLOW)
    assert done.returncode == 0, done.stderr
    assert f"jobs use it where HEADRACE_PROFILE={tmp_path}/p.toml is set" in done.stderr
    text = (tmp_path / "p.toml").read_text()
    # What is measured now cannot choose as both of these do. The store is so slow that the better
    # choice surely is.
    checked = []
    for largest in ("1", "1e12"):
        costs = re.sub(r'(large_piece_to_\w+) = "\S+', rf'\1 = "{largest}', text)
        staged = re.sub(r'\n(call|window_call) = "\S+', r'\n\1 = "1', costs)
        (tmp_path / "p.toml").write_text(staged)
        checked.append(bench("tune", "--check", *SHORT, *flags, HEADRACE_MIMIC_STORE=SLOW))
        if checked[-1].returncode == 1:
            break
    misfits = [done for done in checked if done.returncode == 1]
    assert misfits, "".join(done.stderr for done in checked)
    assert all("does not fit" in done.stderr for done in misfits), misfits[0].stderr
    assert all("measure anew" in done.stderr for done in misfits), misfits[0].stderr
    assert list((tmp_path / "data").iterdir()) == []
    (tmp_path / "p.toml").write_text(text.replace("kind = ", 'kind = "lustre" # '))
    done = bench("tune", "--check", *SHORT, *flags, HEADRACE_MIMIC_STORE=SLOW)
    assert done.returncode == 1 and "its file system is lustre, here it is " in done.stderr


def written(path: Path, **of: str) -> Path:
    """A profile of known costs that jobs may find."""
    made = measured(figures(), **of)
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    path.write_text(profile.to_toml(made, fit.rows(made), "p.json", gains.EVERYWHERE))
    path.chmod(0o644)
    return path


def test_what_is_checked_is_what_jobs_use(bench: Command, tmp_path: Path) -> None:
    """Of the user, of the site, by HEADRACE_PROFILE: as the library says."""
    point = machine.mount_point(tmp_path)
    [kind] = re.findall(r"' on (\w+):", bench("hints", "data/f").stdout)
    here = {"file_system": kind, "processor": ""}
    of_site = written(tmp_path / "site" / "profiles" / "s.toml", **here, mount=point)
    own = tmp_path / "config" / "profiles"
    # Neither is used: of another mount point, of another processor.
    written(own / "a.toml", **here, mount="/other")
    written(own / "b.toml", **{**here, "processor": "another"}, mount=point)
    anywhere = written(own / "c.toml", **here, mount="")
    asked = written(tmp_path / "asked.toml", **here, mount=point)
    site = {"HEADRACE_SITE": str(tmp_path / "site" / "headrace.toml")}
    job = ("--ranks", 2, "--ranks-per-node", 2, "--piece", 2000)
    now = measured(figures(), **here, mount=point)
    for variables, used in (
        (site, of_site),
        ({}, anywhere),
        ({**site, "HEADRACE_PROFILE": str(asked)}, asked),
    ):
        told = bench("hints", "data/f", *job, **variables).stdout
        assert f"costs are those of profile '{used}'" in told
        run = resolve_run({**bench.environ, **variables})
        found = standing.candidates(tmp_path / "data", run)
        assert standing.fitting(found, now).path == used


def test_a_check_needs_no_name(bench: Command, tmp_path: Path) -> None:
    [kind] = re.findall(r"' on (\w+):", bench("hints", "data/f").stdout)
    path = written(tmp_path / "config" / "profiles" / "p.toml", file_system=kind, mount="")
    done = bench("tune", "--check", "data", *SHORT)
    assert done.returncode == 1, done.stderr
    assert f"'{path}' does not fit: its processor is A CPU, here it is" in done.stderr


def test_what_cannot_be_checked_is_told_before_it_is_measured(bench: Command) -> None:
    for variables, told in (
        ({}, "no profile is of 'data' (none of mount point '"),
        ({"HEADRACE_PROFILE": "none"}, "HEADRACE_PROFILE is 'none'"),
        (
            {"HEADRACE_PROFILE": "gone.toml"},
            "'gone.toml' cannot be read (No such file or directory)",
        ),
    ):
        done = bench("tune", "--check", "data", **variables)
        assert done.returncode == 2 and told in done.stderr, done.stderr
        assert "measuring" not in done.stderr


def test_a_site_gets_a_profile_that_everybody_can_read(bench: Command, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir(mode=0o755)
    (site / "headrace.toml").touch(0o644)
    place = site / "profiles" / "data.toml"
    line = [sys.executable, "-m", "headrace", "tune", "data", *SHORT, "--output", place]
    made = subprocess.run(
        line, env=bench.environ, cwd=tmp_path, umask=0o077, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    assert f"where HEADRACE_SITE={site}/headrace.toml is set" in made.stderr
    assert "HEADRACE_PROFILE" not in made.stderr
    modes = [
        path.stat().st_mode & 0o777 for path in (place.parent, place, place.with_suffix(".json"))
    ]
    assert modes == [0o755, 0o644, 0o644]


@pytest.mark.parametrize("mask", [0o077, 0o002])
def test_a_written_profile_is_for_everybody_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        profile.write(tmp_path / "site" / "profiles" / "p.toml", "text")
    finally:
        os.umask(before)
    paths = sorted((tmp_path / "site").rglob("*"))
    modes = [path.stat().st_mode & 0o777 for path in (tmp_path / "site", *paths)]
    assert modes == [0o755, 0o755, 0o644]


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("config/profiles/p.toml", "your jobs find it by the file system"),
        ("site/profiles/p.toml", "all users' jobs find it by the file system"),
        ("site/profiles/p.txt", "jobs use it where HEADRACE_PROFILE="),
        ("other/profiles/p.toml", "jobs find it where HEADRACE_SITE="),
        ("data/p.toml", "jobs use it where HEADRACE_PROFILE="),
    ],
)
def test_who_uses_a_profile_depends_on_where_it_lies(tmp_path: Path, where: str, told: str) -> None:
    for name in ("config", "site", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "headrace.toml").touch()
    names = {"HEADRACE_USER": "config", "HEADRACE_SITE": "site"}
    run = resolve_run({name: str(tmp_path / of / "headrace.toml") for name, of in names.items()})
    written(tmp_path / where)
    assert told in standing.use_of(tmp_path / where, run)


def test_a_launchers_line_of_the_users(bench: Command, tmp_path: Path) -> None:
    """From each launcher of this checkout's MPIs."""
    [mpi] = [one for one in find_all(bench.environ) if one.kind == "openmpi"][:1]
    line = (mpi.launcher, "--allow-run-as-root", "--map-by", ":OVERSUBSCRIBE", "-n", 3)
    done = bench("tune", "io", "data", *SHORT, "--output", "p.toml", "--raw", "--", *line)
    assert done.returncode == 0, done.stdout + done.stderr
    machine = tomllib.loads((tmp_path / "p.toml").read_text())["machine"]
    assert machine["node_ranks"] == 3 and "Open MPI" in machine["mpi"]
    assert "append together" in done.stdout and "the job had one node" in done.stdout


def mpich(bench: Command) -> Path:
    """Its launcher."""
    return next(one.launcher for one in find_all(bench.environ) if one.kind == "mpich")


LIMITED = """#!/bin/sh
# The second rank may write less than it will want to.
if [ "$PMI_RANK" = 1 ]; then ulimit -f 12288; fi
exec "$@"
"""


def test_a_rank_that_fails_alone_ends_the_job(bench: Command, tmp_path: Path) -> None:
    """As by a quota. The others wait for it in a collective call, which its end must not be."""
    (tmp_path / "limited").write_text(LIMITED)
    (tmp_path / "limited").chmod(0o755)
    line = (mpich(bench), "-n", 2, tmp_path / "limited")
    child = started(bench, "tune", "data", *SHORT, "--", *line, by=signal.SIGTERM, stderr=-1)
    try:
        _, said = child.communicate(timeout=120)
    finally:
        child.terminate()
    assert child.returncode == 1 and b"File too large" in said, said
    assert list((tmp_path / "data").iterdir()) == []


def test_a_job_of_one_rank_is_not_measured(bench: Command, tmp_path: Path) -> None:
    done = bench("tune", "data", *SHORT, "--", mpich(bench), "-n", 1)
    assert done.returncode == 1 and "the first node has one rank" in done.stderr, done.stderr
    assert not list((tmp_path / "config").rglob("*.toml"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("no/such",), "is no directory"),
        (("data", "--minutes", "0"), "--minutes"),
        (("data", "--mpi", "all"), "a profile is of one job"),
        (("data", "-n", "2", "--", "mpiexec"), "the launcher has a count of its own"),
        (("data", "--", "no-such-launcher"), "no-such-launcher"),
        (("data", "--output", "data"), "is a directory"),
        (("data", "--output", "p.json"), "is no name for a profile"),
        (("data", "--mpi", "other"), "--mpi"),
        (("--check", "data", "--output", "none.toml", *SHORT), "cannot be read"),
    ],
)
def test_bad_input_is_refused(
    bench: Command, tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    done = bench("tune", *words)
    assert done.returncode != 0 and told in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert list((tmp_path / "data").iterdir()) == []
    assert not list((tmp_path / "config").rglob("*.toml"))


def test_without_a_users_directory_a_file_is_needed(bench: Command) -> None:
    done = bench("tune", "data", *SHORT, HEADRACE_USER="/dev/null")
    assert done.returncode == 2 and "give a file with --output" in done.stderr


def test_a_layer_that_is_off_is_not_measured(bench: Command, tmp_path: Path) -> None:
    done = bench("tune", "data", *SHORT, HEADRACE_DISABLE="1")
    assert done.returncode == 2 and "HEADRACE_DISABLE turns Headrace off" in done.stderr
    done = bench("tune", "data", *SHORT, HEADRACE_DISABLE_FOR="tune-*")
    assert done.returncode == 1 and "did not serve the job's files" in done.stderr, done.stderr
    assert not list((tmp_path / "config").rglob("*.toml"))


@pytest.mark.parametrize("is_memory", [True, False])
def test_reads_come_from_the_file_system(bench: Command, tmp_path: Path, is_memory: bool) -> None:
    """The kernel counts what processes have read from disks; files of tmpfs lie in memory only."""
    with mounted("-t", "tmpfs", "-o", "size=400m", "tmpfs", at=tmp_path / "mount"):
        folder = "mount" if is_memory else "data"
        done = bench("tune", folder, *SHORT, "--output", "p.toml")
    assert done.returncode == 0, done.stdout + done.stderr
    figures_of = read_figures(tmp_path / "p.json")
    assert figures_of.reads_memory == is_memory
    assert ("so reads were of memory" in done.stdout) == is_memory
    # How far it was, thing by thing.
    steps = [(int(i), int(of)) for i, of in re.findall(r"s\] (\d+) of (\d+): ", done.stderr)]
    assert steps and steps == [(i + 1, len(steps)) for i in range(len(steps))], done.stderr
    assert list((tmp_path / folder).iterdir()) == []
    read = tomllib.loads((tmp_path / "p.toml").read_text())
    if is_memory:
        assert all(text.endswith("built in") for text in read["read"].values())


def test_a_small_file_system_is_told_and_left_empty(bench: Command, tmp_path: Path) -> None:
    with mounted("-t", "tmpfs", "-o", "size=1m", "tmpfs", at=tmp_path / "mount"):
        done = bench("tune", "mount", *SHORT)
        left = list((tmp_path / "mount").iterdir())
    assert done.returncode == 1 and "not enough space" in done.stderr, done.stderr
    assert not left and not list((tmp_path / "config").rglob("*.toml"))


def test_a_directory_that_cannot_be_written_is_told(bench: Command, tmp_path: Path) -> None:
    with mounted("-t", "tmpfs", "-o", "ro,size=1m", "tmpfs", at=tmp_path / "mount"):
        done = bench("tune", "mount", *SHORT)
        other = bench("tune", "data", "--output", "mount/p.toml", *SHORT)
    assert done.returncode == 2 and "no files can be made in " in done.stderr
    assert other.returncode == 1 and "cannot be written (Read-only file system)" in other.stderr
    assert list((tmp_path / "data").iterdir()) == []


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_leaves_nothing(bench: Command, tmp_path: Path, by: signal.Signals) -> None:
    child = started(bench, "tune", "data", "--minutes", 5, by=by)
    end = time.monotonic() + 120
    while not list((tmp_path / "data").glob("*/file*")) and time.monotonic() < end:
        time.sleep(0.05)
    assert child.poll() is None
    child.send_signal(by)
    assert child.wait(60) != 0
    assert list((tmp_path / "data").iterdir()) == []
    assert not list((tmp_path / "config").rglob("*.toml"))


def test_the_library_reads_what_the_command_writes(bench: Command, tmp_path: Path) -> None:
    """All of it, for any figures, on this machine and file system."""
    found = bench("hints", "data/f")
    kind = found.stdout.split("' on ")[1].split(":")[0]
    of = measured(figures(crossing=65_536), file_system=kind, mount="", processor="")
    path = tmp_path / "config" / "p.toml"
    path.write_text(profile.to_toml(of, fit.rows(of), "p.json", gains.EVERYWHERE))
    os.chmod(path, 0o644)
    job = ("--ranks", 2, "--ranks-per-node", 2, "--piece", 2000)
    done = bench("hints", "data/f", *job, HEADRACE_PROFILE=str(path))
    assert "profile" not in done.stderr, done.stderr
    assert f"costs are those of profile '{path}'" in done.stdout
    # Nothing is concluded from two ranks on three.
    job = ("--ranks", 3, "--ranks-per-node", 3, "--piece", 2000)
    done = bench("hints", "data/f", *job, HEADRACE_PROFILE=str(path))
    assert "costs are those" not in done.stdout and "does not count (it is of" in done.stdout
