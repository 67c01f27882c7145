"""A wheel that is installed, and jobs of what is in it: for test_wheel.py and test_package.py."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import source_tree

MPIS = source_tree.ROOT / ".dev" / "mpi"
# The programs of each ABI, and whose launcher starts them.
ABIS = {"mpich": "mpich", "mpiabi": "mpich", "openmpi": "openmpi"}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def run(*command: str | Path, env: dict[str, str] | None = None, **options: object) -> str:
    """What a command prints that must end well, without the checkout's own Python modules. The
    loader ends well, too, without what it was to preload."""
    environment = {**os.environ, **AS_ROOT, **(env or {})}
    environment.pop("PYTHONPATH", None)
    words = [str(word) for word in command]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env=environment, **options
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "cannot be preloaded" not in done.stderr, done.stderr[-4000:]
    return done.stdout


@contextlib.contextmanager
def installed(wheel: Path) -> Iterator[Path]:
    """A fresh environment that all users can read: pytest's own folders are for one user."""
    with tempfile.TemporaryDirectory(prefix="headrace-installed-", dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        environment = Path(name) / "environment"
        run(sys.executable, "-m", "venv", "--without-pip", environment)
        pip = [sys.executable, "-m", "pip", "--python", environment / "bin" / "python"]
        run(*pip, "install", "--quiet", "--disable-pip-version-check", wheel)
        yield environment


def require_jobs(programs: Path, library: Path, folder: Path) -> None:
    """A program of each MPI's ABI runs by itself and with the library preloaded, which then leaves
    a record."""
    for abi, mpi in ABIS.items():
        prefix = MPIS / mpi
        for preload in ("", f"LD_PRELOAD={library}"):
            records = folder / f"records-{abi}"
            variables = [
                f"LD_LIBRARY_PATH={prefix / 'lib'}",
                "HEADRACE_RECORD=1",
                f"HEADRACE_LOGPATH={records}",
                "HEADRACE_QUIET=0",
            ]
            launcher = [prefix / "bin" / "mpiexec", "-n", "2", "env", *variables, *preload.split()]
            program = [programs / f"ior-{abi}", "-a", "MPIIO", "-b", "1000000", "-t", "10000", "-c"]
            run(*launcher, *program, "-o", folder / "ior.dat", cwd=folder)
            assert bool(list(records.glob("*.hrc"))) == bool(preload), abi


def require_site(environment: Path, folder: Path) -> None:
    """What is installed serves the jobs of a site, and can be turned off. The site lies beside it,
    and what the jobs write in `folder`."""
    headrace = environment / "bin" / "headrace"
    found = [mpi for mpi in ("mpich", "openmpi", "intel") if (MPIS / mpi).is_dir()]
    variables = {"HEADRACE_MPI_PATH": ":".join(str(MPIS / mpi) for mpi in found)}
    site = environment.parent / "site"
    run(headrace, "site", "init", site, cwd=folder)
    said = run(headrace, "site", "check", site, cwd=folder, env=variables)
    assert said.count(": a job: Headrace wrote") == len(found), said
    assert said.count("HEADRACE_DISABLE=1: the MPI library wrote") == len(found), said
