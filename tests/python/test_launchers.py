"""Which family a launcher is of, and how its line is read."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from headrace.launchers.detection import (
    detect,
    family_by_version,
    looks_like_launcher,
    version_text,
)
from headrace.launchers.families import ALPS, FAMILIES, HYDRA, OPENMPI, SLURM
from headrace.launchers.line import read_contexts

SRUN = shutil.which("srun")

VERSIONS = [
    ("HYDRA build details:\n    Version:   4.0.2\n", HYDRA),
    ("Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20260626\n", HYDRA),
    ("mpirun (Open MPI) 5.0.11\n", OPENMPI),
    ("mpiexec.openmpi (OpenRTE) 4.1.4\n", OPENMPI),
    ("mpirun (IBM Spectrum MPI) 10.4\n IBM Spectrum MPI\n", OPENMPI),
    ("slurm 22.05.8\n", SLURM),
    ("something else 1.0\n", None),
    ("", None),
]


def test_a_launcher_is_asked_once(tmp_path: Path) -> None:
    launcher = tmp_path / "mpiexec"
    launcher.write_text(f"#!/bin/sh\necho asked >> {tmp_path}/told\necho $1 $ANSWER\n")
    launcher.chmod(0o755)
    for _ in range(2):
        assert version_text(launcher, {"ANSWER": "1"}) == "--version 1\n"
    assert (tmp_path / "told").read_text().split() == ["asked"]
    assert version_text(launcher, {"ANSWER": "2"}) == "--version 2\n"


@pytest.mark.parametrize(("text", "family"), VERSIONS)
def test_family_by_version(text, family):
    assert family_by_version(text) is family


@pytest.mark.parametrize(
    ("name", "family"),
    [("srun", SLURM), ("prterun", OPENMPI), ("aprun", ALPS), ("mpiexec.hydra", HYDRA)],
)
def test_unmistakable_names_are_not_run(make_launcher, name, family):
    launcher = make_launcher(name, "mpirun (Open MPI) 5.0.11", code=1)
    assert detect(launcher.path, {}) is family
    assert not launcher.record.exists()


def test_shared_names_are_asked(make_launcher):
    launcher = make_launcher("mpiexec", "HYDRA build details:")
    assert detect(launcher.path, {"PATH": "/usr/bin"}) is HYDRA


def test_what_a_shared_name_links_to_decides(make_launcher, tmp_path):
    make_launcher("orterun", "HYDRA build details:")
    link = tmp_path / "bin" / "mpirun"
    link.symlink_to("orterun")
    assert detect(link, {}) is OPENMPI


def test_other_programs_are_never_run(make_launcher):
    program = make_launcher("simulate", "mpirun (Open MPI) 5.0.11")
    assert detect(program.path, {}) is None
    assert not looks_like_launcher("simulate")


READINGS = [
    (HYDRA, "mpiexec -n 2 -ppn 1 ./app -n 3", "./app"),
    (HYDRA, "mpiexec -genv A B -env=C=D -bind-to core ./app", "./app"),
    (OPENMPI, "mpirun --mca btl tcp,self --map-by ppr:1:node --oversubscribe ./app", "./app"),
    (OPENMPI, "mpirun -n 2 -- ./app", "./app"),
    (SLURM, "srun -N1 -n 4 --mpi=pmi2 --cpu-bind=cores -u ./app", "./app"),
    (SLURM, "srun -p debug --time 5 -l ./app -p x", "./app"),
    *(
        (SLURM, f"srun {word} ./app -p x", "./app")
        for word in (
            *("--nice", "--x11", "--bcast", "--compress", "--send-libs", "--external-launcher"),
            *("--nice=5", "--exclusive", "--exclusive=user", "--stepmgr", "--immediate", "--pty"),
            *("-I", "-I60", "-K", "-K0", "-k", "--overlap", "--resv-ports", "--resv-ports=2"),
            *("-vv", "-lu", "-lN2", "-lN 2", "-vIl", "--treewidth 3", "--tasks-per-node 2"),
        )
    ),
    (SLURM, "srun --novelty=7 --ntasks-per=4 ./app", "./app"),
    (SLURM, "srun -lzN 2 ./app", None),
    (SLURM, "srun -lN", None),
    (ALPS, "aprun -vv ./app", None),
    (OPENMPI, "mpirun --forward-signals SIGUSR1,SIGUSR2 ./app", "./app"),
    (OPENMPI, "mpirun --stream-buffering 1 --set-cwd-to-session-dir ./app", "./app"),
    (ALPS, "aprun -n 24 -N 12 -j1 -cc depth ./app", "./app"),
    (OPENMPI, "mpirun --novelty 7 ./app", None),
    (HYDRA, "mpiexec -n", None),
    (HYDRA, "mpirun -check_mpi -ordered-output -tmpdir /x ./app", "./app"),
    (HYDRA, "mpirun -trace=libx.so -noconf -grr 2 ./app", "./app"),
    (OPENMPI, "prterun --pmix-prefix /x ./app", "./app"),
]


@pytest.mark.parametrize(("family", "text", "program"), READINGS)
def test_reading_a_line_up_to_its_program(family, text, program):
    line = text.split()
    (context,) = read_contexts(family, line)
    assert (context.program and line[context.program]) == program


def test_contexts_are_separated_by_colons():
    line = ["mpirun", "-n", "1", "./a", "x", ":", "-n", "2", "./b"]
    first, second = read_contexts(OPENMPI, line)
    assert (line[first.program], line[second.program]) == ("./a", "./b")
    assert line[first.start : first.end] == ["-n", "1", "./a", "x"]


def test_letters_of_options_may_share_a_word():
    line = ["srun", "-lvN2", "-uIn", "4", "./app"]
    (context,) = read_contexts(SLURM, line)
    found = [(option.name, option.values) for option in context.options]
    assert found == [("-l", ()), ("-v", ()), ("-N", ("2",)), ("-u", ()), ("-I", ("n",))]
    assert line[context.program] == "4", "srun takes it for the program, too: -In is -I n"
    line = ["srun", "-un", "4", "./app"]
    (context,) = read_contexts(SLURM, line)
    assert [(option.start, option.end) for option in context.options] == [(1, 1), (1, 3)]
    assert line[context.program] == "./app"


def test_srun_takes_the_beginning_of_a_name_for_all_of_it():
    (context,) = read_contexts(SLURM, ["srun", "--exp=NONE", "--ntasks-per=4", "./app"])
    names = [option.name for option in context.options]
    assert names == ["--export", "--ntasks-per"], "several begin with the second"


def test_where_reading_stopped_is_told():
    def unknown(line):
        (context,) = read_contexts(SLURM, line.split())
        return context.unknown

    assert unknown("srun -n 2 --novelty 7 ./app") == 3
    assert unknown("srun -n 2 -lz ./app") == 3
    assert unknown("srun -n 2 ./app --novelty") is None
    assert unknown("srun -n") is None, "the launcher says what lacks"


def test_no_option_is_in_two_lists():
    for family in FAMILIES.values():
        assert not family.flags & family.valued
        assert not (family.flags | family.valued) & family.paired
        if family.clusters:
            letters = {name[1] for name in family.valued if len(name) == 2}
            assert letters <= set(family.attached)


@pytest.mark.skipif(SRUN is None, reason="needs srun, of slurm-client")
def test_options_of_srun_are_those_of_its_own_help(tmp_path):
    configuration = tmp_path / "slurm.conf"
    configuration.write_text("ClusterName=c\nSlurmctldHost=localhost\n")
    done = subprocess.run(
        [SRUN, "--help"], env={"SLURM_CONF": configuration}, capture_output=True, text=True
    )
    told = re.findall(r"^ {2}(?:-(\w), |    )--([\w-]+)(\[?=)?", done.stdout, re.MULTILINE)
    assert len(told) > 90, done.stderr
    checked = 0
    for letter, name, value in told:
        if name in ("bcast", "container"):  # whose values the help of 22.05 has wrong
            continue
        names = {f"--{name}", *([f"-{letter}"] if letter else [])}
        if not names & (SLURM.flags | SLURM.valued):
            continue  # of a newer Slurm
        assert names <= (SLURM.valued if value == "=" else SLURM.flags), name
        checked += 1
    assert checked > 90
