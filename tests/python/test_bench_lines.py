"""`headrace bench collectives` and `headrace tune collectives` by a launcher line of the user's."""

import json
import tomllib
from pathlib import Path

import pytest
from bench_support import bench_command
from cli_support import Command

from headrace.bench.collectives.findings import read_jobs, to_text
from headrace.bench.collectives.starting import library_of
from headrace.mpi.installed import find_all

QUICK = ("--operations", "barrier,allgather", "--most", "8", "--batches", "6")


@pytest.fixture
def bench(tmp_path: Path) -> Command:
    return bench_command(tmp_path)


def mpich_launcher(bench: Command) -> Path:
    return next(one.launcher for one in find_all(bench.environ) if one.kind == "mpich")


@pytest.fixture
def srun(bench: Command, tmp_path: Path) -> Path:
    """As Slurm's, but all ranks come to this node."""
    path = tmp_path / "bin" / "srun"
    path.parent.mkdir()
    path.write_text(
        "#!/bin/bash\n"
        "while [[ $1 == -* ]]; do case $1 in -N|-n) shift 2 ;; *) shift ;; esac; done\n"
        f'exec {mpich_launcher(bench)} -n 2 "$@"\n'
    )
    path.chmod(0o755)
    return path


def test_measures_by_a_line(bench: Command, tmp_path: Path) -> None:
    line = (mpich_launcher(bench), "-n", 3)
    done = bench("bench", "collectives", "--always", *QUICK, "--json", "c.json", "--", *line)
    assert done.returncode == 0, done.stderr
    (job,) = read_jobs(tmp_path / "c.json")
    assert (job.kind, job.ranks, job.nodes, job.node_ranks) == ("mpich", 3, 1, 3)
    assert job.mpi.startswith("MPICH 5") and f"started by {line[0]} -n 3" in job.line
    assert [(one.operation, one.bytes, one.wrong) for one in job.cells] == [
        ("barrier", 0, 0),
        ("allgather", 8, 0),
    ]
    assert all(one.by_layer for one in job.cells), [one.taken for one in job.cells]


def test_tunes_by_a_line_of_slurm(bench: Command, srun: Path, tmp_path: Path) -> None:
    """Which tells neither its MPI nor where the ranks are: the program does."""
    done = bench("tune", "collectives", *QUICK, "t.toml", "--", srun, "-n", 2)
    assert done.returncode == 0, done.stderr
    origin = tomllib.loads((tmp_path / "t.toml").read_text())["origin"]
    assert "MPICH 5" in origin["jobs"] and "2 ranks on one node" in origin["jobs"]
    assert "mpich on one node" in done.stderr


def test_ranks_that_come_to_one_node_are_told_at_once(
    bench: Command, srun: Path, tmp_path: Path
) -> None:
    for flags in (("-N", 2, "-n", 2), ("--nodes=2-4", "-n", 2), ("--nodelist=a[1-2]", "-n", 2)):
        done = bench("tune", "collectives", "t.toml", "--", srun, *flags)
        assert done.returncode == 1 and "on too few nodes (on 1, but 2 at least" in done.stderr
        assert not (tmp_path / "t.toml").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("bench", "collectives", "-n", 2, "--", "LAUNCHER"),
            "the launcher has a count of its own",
        ),
        (("tune", "collectives", "-n", 2, "t.toml", "--", "LAUNCHER"), "has a count of its own"),
        (("bench", "collectives", "--mpi", "all", "--", "LAUNCHER"), "a launcher is of one MPI"),
        (("tune", "collectives", "--library", "t.toml", "--", "LAUNCHER"), "--library measures"),
        (("tune", "collectives", "--library", "--operations", "bcast", "t.toml"), "--library"),
        (("bench", "collectives", "--", "no-such-launcher"), "no-such-launcher"),
        (("bench", "collectives", "--", "/bin/true"), "not a launcher"),
        (("bench", "collectives", "--from", "c.json", "--", "LAUNCHER"), "--from measures nothing"),
        (("bench", "collectives", "--", "LAUNCHER", "-n", 2, "--no-such-option"), "no-such-option"),
        (("bench", "collectives", "--operations", "bcats", "--", "LAUNCHER", "-n", 2), "bcats"),
    ],
)
def test_bad_lines_are_named(
    bench: Command, tmp_path: Path, words: tuple[object, ...], told: str
) -> None:
    (tmp_path / "c.json").write_text(to_text([]))
    launcher = mpich_launcher(bench)
    done = bench(*(launcher if word == "LAUNCHER" else word for word in words))
    assert done.returncode != 0 and told in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and not (tmp_path / "t.toml").exists()


def test_lines_that_the_launcher_labels_are_named(bench: Command, tmp_path: Path) -> None:
    line = (mpich_launcher(bench), "-l", "-n", 2)
    done = bench("bench", "collectives", *QUICK, "--json", "c.json", "--", *line)
    assert done.returncode == 1 and "keep the launcher from labelling lines" in done.stderr
    assert not (tmp_path / "c.json").exists()


def test_times_of_an_unknown_mpi_are_refused(bench: Command, tmp_path: Path) -> None:
    entry = {"mpi": "M", "kind": "x", "ranks": 2, "nodes": 1, "settings": "", "date": "d"}
    times = {"format": "headrace bench collectives 1", "jobs": [{**entry, "cells": []}]}
    (tmp_path / "c.json").write_text(json.dumps(times))
    done = bench("tune", "collectives", "--from", "c.json", "t.toml")
    assert done.returncode != 0 and "'c.json' cannot be read" in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("says", "kind"),
    [
        ("MPICH Version:      5.0.2", "mpich"),
        ("MPI VERSION    : CRAY MPICH version 8.1.29.30 (ANL base 3.4a2)", "mpich"),
        ("Intel(R) MPI Library 2021.18 for Linux* OS", "intel"),
        ("Open MPI v5.0.11, package: Open MPI root@host Distribution", "openmpi"),
        ("MVAPICH2 Version      :\t2.3.7", "other"),
        ("", "other"),
    ],
)
def test_a_library_is_known_by_what_it_says(says: str, kind: str) -> None:
    assert library_of(says) == kind


def test_times_of_before_nodes_had_their_ranks_are_read(tmp_path: Path) -> None:
    entry = {"mpi": "M", "kind": "mpich", "ranks": 8, "nodes": 3, "settings": "", "date": "d"}
    file = tmp_path / "c.json"
    file.write_text(
        json.dumps({"format": "headrace bench collectives 1", "jobs": [{**entry, "cells": []}]})
    )
    (job,) = read_jobs(file)
    assert job.node_ranks == 3 and job.where == "3 nodes of at most 3"
