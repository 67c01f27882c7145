"""From samples to traced functions, by the command: what it proposes, and what it then counts,
against what programs counted themselves."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import absent
from hosts import AS_ROOT, REPOSITORY, Host, host_named
from measuring import measuring
from running import compile_program, work_directory
from test_languages import FORTRAN, MACROS
from test_recorder import report_of

RANKS = 2
STEPS = 150
WAYS = {
    "hooks": ["-finstrument-functions"],
    "nops": ["-fpatchable-function-entry=5"],
    # Functions begin with what they do to their frame then, which may be moved.
    "prologue": ["-O0", "-fno-omit-frame-pointer"],
}
TALLY = re.compile(r"^\s*calls (\S+) (\d+)$", re.MULTILINE)
SHOWN = {"__work_MOD_kernel": "work::kernel", "__work_MOD_text": "work::text"}
C, F90 = ("kernel", "outer", "many"), ("__work_MOD_kernel", "__work_MOD_text")


class Job:
    """Runs of one program by `headrace profile`."""

    def __init__(self, host: Host, library: Path, program: Path, name: str):
        self.directory = work_directory(f"apa-{name}")
        self.records = self.directory / "records"
        self.program = program
        self.line = [*host.launch_line(RANKS), str(program), str(STEPS)]
        self.environment = os.environ | host.environment | AS_ROOT
        self.environment |= {
            "PYTHONPATH": os.pathsep.join(
                [str(REPOSITORY / "python"), *filter(None, [os.environ.get("PYTHONPATH")])]
            ),
            "HEADRACE_LIBRARY": str(library),
            "HEADRACE_LOGPATH": str(self.records),
        }

    def run(self, *options: object) -> tuple[subprocess.CompletedProcess[str], dict]:
        """What it wrote, and the report of its record."""
        before = set(self.records.glob("*.hrc"))
        line = [sys.executable, "-m", "headrace", "profile", *map(str, options), *self.line]
        done = subprocess.run(
            line, cwd=self.directory, env=self.environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        (record,) = set(self.records.glob("*.hrc")) - before
        return done, report_of(record)

    def proposed(self) -> Path:
        (file,) = self.records.glob("*.apa.toml")
        return file


def plain(output: str) -> list[str]:
    """What the program computes, which tracing must not change."""
    return [line for line in output.splitlines() if line.lstrip().startswith(("sum", "wrong"))]


def check_traced(job: Job, names: tuple[str, ...], way: str) -> None:
    sampled, _ = job.run()
    file = job.proposed()
    document = tomllib.loads(file.read_text())
    hottest = document["functions"][0]
    assert (hottest["name"], hottest["trace"]) == (names[0], True)
    assert hottest["way"] == way
    with measuring():
        assert hottest["share"] > 50  # where no rank waits for a core
    more = "".join(f'\n[[functions]]\nname = "{name}"\n' for name in names[1:])
    file.write_text(f'{file.read_text()}{more}\n[[functions]]\nname = "absent"\n')
    options = ["--prologues"] if way == "prologue" else []
    done, report = job.run("--apa", file, *options)
    assert plain(done.stdout) == plain(sampled.stdout) != []
    assert "wrong 0" in done.stdout
    assert "absent is not traced" in done.stderr
    told = {name: int(calls) for name, calls in TALLY.findall(done.stdout)}
    assert set(told) == set(names)
    refused = {one for one in names if f"{one} is not traced" in done.stderr}
    assert names[0] not in refused
    traced = {one["name"]: one for one in report["profile"]["traced"]["functions"]}
    why = {one["name"]: one for one in report["profile"]["traced"]["refused"]}
    assert set(names) & set(why) == refused, why  # on all ranks, or on none
    for name in set(names) - refused:
        one = traced[SHOWN.get(name, name)]
        assert (one["calls"], one["way"], one["unended"]) == (told[name], way, 0), name
        assert 0 <= one["least_seconds"] <= one["greatest_call_seconds"]
        assert sum(one["rank_seconds"]) == pytest.approx(one["own_seconds"])
    assert refused == set() or way == "prologue"
    assert "absent" in why
    assert why["absent"]["way"] == "-" and "no function of this name" in why["absent"]["reason"]


@pytest.mark.parametrize("way", WAYS)
def test_c(host: Host, library: Path, way: str) -> None:
    if way == "prologue":
        pytest.importorskip("capstone")
    flags = ["-O2", "-g", "-Wall", "-Wextra", "-Werror", *WAYS[way]]
    compiler = [*host.compilers["c"], "-lm"]
    program = compile_program(compiler, ["apa.c"], f"apa-{way}-{host.name}", flags)
    job = Job(host, library, program, f"{way}-{host.name}")
    check_traced(job, C, way)


def test_callers_and_mpi(host: Host, library: Path) -> None:
    """The function that calls MPI has that time apart, and its caller is known."""
    flags = ["-O2", "-g", "-fpatchable-function-entry=5"]
    compiler = [*host.compilers["c"], "-lm"]
    program = compile_program(compiler, ["apa.c"], f"apa-nops-{host.name}", flags)
    job = Job(host, library, program, f"callers-{host.name}")
    file = job.directory / "own.apa.toml"
    rows = "".join(f'[[functions]]\nname = "{name}"\n' for name in C)
    file.write_text(f'program = "{program}"\n[trace]\ngroups = ["mpi"]\n{rows}')
    done, report = job.run("--apa", file)
    assert "group 'mpi' is not traced (the recorder counts these, always)" in done.stderr
    traced = {one["name"]: one for one in report["profile"]["traced"]["functions"]}
    assert traced["outer"]["mpi_seconds"] > 0 and traced["kernel"]["mpi_seconds"] == 0
    assert traced["kernel"]["called_by"] == "outer" and traced["outer"]["called_by"] == "main"
    paths = [tuple(one["path"]) for one in traced["kernel"]["callers"]]
    assert paths[:2] == [("outer",), ("outer", "main")]
    parts = ("own_seconds", "mpi_seconds")
    whole = sum(traced["outer"][part] for part in parts) + traced["kernel"]["seconds"]
    assert traced["outer"]["seconds"] == pytest.approx(whole, rel=0.01)
    groups = {one["name"]: one for one in report["profile"]["traced"]["groups"]}
    assert groups["mpi"]["calls"] >= RANKS * STEPS


def fortran(
    name: str, binding: str, target: str, flags: list[str], *libraries: str
) -> tuple[Host, Path]:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    flags = ["-O2", "-g", "-fno-inline", "-cpp", f"-D{MACROS[binding]}", *flags]
    compiler = [*host.compilers[binding], *libraries]
    return host, compile_program(compiler, ["apa.F90"], f"apa-{target}-{binding}-{name}", flags)


@pytest.mark.parametrize("way", ["hooks", "nops"])
@pytest.mark.parametrize(("name", "binding"), [(host.name, binding) for host, binding in FORTRAN])
def test_fortran(name: str, binding: str, way: str, library: Path) -> None:
    host, program = fortran(name, binding, way, WAYS[way])
    check_traced(Job(host, library, program, f"{way}-{binding}-{name}"), F90, way)


@pytest.mark.parametrize(("name", "binding"), [(host.name, binding) for host, binding in FORTRAN])
def test_functions_of_fortran_libraries(name: str, binding: str, library: Path) -> None:
    """By the slots of the program: one of a group, and one by its name."""
    flags = ["-O2", "-fPIC", "-shared"]
    work = compile_program(["gfortran"], ["apa_shared.F90"], "libapa-shared.so", flags)
    flags = ["-DSHARED", f"-L{work.parent}", f"-Wl,-rpath,{work.parent}"]
    host, program = fortran(name, binding, "import", flags, f"-l:{work.name}")
    job = Job(host, library, program, f"import-{binding}-{name}")
    plain_run = subprocess.run(
        job.line, env=job.environment, capture_output=True, text=True, check=True
    )
    file = job.directory / "own.apa.toml"
    own = '[[functions]]\nname = "shared_work_"\nway = "import"\n'
    file.write_text(f'program = "{program}"\n[trace]\ngroups = ["math"]\n{own}')
    done, report = job.run("--apa", file)
    assert plain(done.stdout) == plain(plain_run.stdout) != []
    assert "wrong 0" in done.stdout
    told = {own: int(calls) for own, calls in TALLY.findall(done.stdout)}
    traced = {one["name"]: one for one in report["profile"]["traced"]["functions"]}
    for function, group in (("exp", "math"), ("shared_work_", None)):
        one = traced[function]
        assert (one["calls"], one["group"]) == (told[function], group) and one["calls"] > 0
        assert (one["unended"], one["called_by"]) == (0, "MAIN__")
