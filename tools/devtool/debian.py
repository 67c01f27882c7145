"""What must come from the system: found by looking for it, installed by apt-get where we may."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from devtool.failure import Failure
from devtool.lock import OF_THE_MACHINE, exclusive
from devtool.steps import Step, fresh_log, run_logged, run_steps

OLDEST_GCC = 12
MULTIARCH = sysconfig.get_config_var("MULTIARCH") or ""


@dataclass(frozen=True)
class Need:
    """Something of the system, the Debian package that has it, and how to see that it is there."""

    what: str
    package: str
    present: Callable[[], bool]


def search_path() -> str:
    """PATH, and behind it the folders of daemons, which ordinary users do not have in it."""
    return f"{os.environ.get('PATH', os.defpath)}:/usr/local/sbin:/usr/sbin:/sbin"


def _program(*names: str) -> Callable[[], bool]:
    return lambda: all(shutil.which(name, path=search_path()) for name in names)


def compiler() -> list[str]:
    """The words of CXX, as CMake takes them: a compiler, maybe behind ccache."""
    try:
        return shlex.split(os.environ.get("CXX", "")) or ["c++"]
    except ValueError as error:
        raise Failure("CXX names no compiler", str(error), "correct it, or unset it") from error


def _preprocessed(*options: str) -> str | None:
    """What the compiler makes of an empty source, None if it fails or is not there."""
    command = [*compiler(), "-x", "c++", "-std=c++20", "-E", *options, "/dev/null"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def _compiles() -> bool:
    """GCC only in the versions that cmake/HeadraceCompiler.cmake takes."""
    macros = _preprocessed("-dM")
    if macros is None:
        return False
    version = re.search(r"^#define __GNUC__ (\d+)", macros, re.MULTILINE)
    return "#define __clang__ " in macros or version is None or int(version[1]) >= OLDEST_GCC


def _header(name: str) -> Callable[[], bool]:
    return lambda: _preprocessed("-include", name) is not None


def _path(path: str) -> Callable[[], bool]:
    return lambda: os.path.exists(path)


def _library(name: str) -> Callable[[], bool]:
    return _path(f"/usr/lib/{MULTIARCH}/{name}")


def _debian_module(name: str) -> Callable[[], bool]:
    """A module of Debian's own Python, whichever Python runs this."""
    return _path(f"/usr/lib/python3/dist-packages/{name}")


def _can_make_venv() -> bool:
    """A venv with pip can be made: by ensurepip, else by the pip or virtualenv that is there."""
    modules = ("ensurepip", "pip", "virtualenv")
    return any(importlib.util.find_spec(module) for module in modules)


COMPILER = Need(f"a C++ compiler (GCC {OLDEST_GCC} or later, or what CXX names)", "g++", _compiles)
VENV = Need("Python's venv", "python3-venv", _can_make_venv)
BUILD = (COMPILER, VENV)

GOOGLETEST = Need("GoogleTest", "libgtest-dev", _header("gtest/gtest.h"))
C_COMPILER = Need("a C compiler", "gcc", _program("cc"))
GIT = Need("git", "git", _program("git"))
UNIT_TESTS = (*BUILD, GOOGLETEST)
COUNTS = (*UNIT_TESTS, Need("valgrind", "valgrind", _program("valgrind")))
PYTHON_TESTS = (*BUILD, C_COMPILER, GIT)
PAGE_TESTS = (*PYTHON_TESTS, Need("Chromium", "chromium", _program("chromium")))
PARALLEL_HDF5 = (
    Need("HDF5 for MPICH", "libhdf5-mpich-dev", _path("/usr/include/hdf5/mpich")),
    Need("HDF5 for Open MPI", "libhdf5-openmpi-dev", _path("/usr/include/hdf5/openmpi")),
)
MPI_TESTS = (
    *PYTHON_TESTS,
    Need("a Fortran compiler", "gfortran", _program("gfortran")),
    Need("Debian's MPICH", "mpich", _program("mpiexec.mpich")),
    Need("Debian's MPICH for compiling", "libmpich-dev", _program("mpicc.mpich")),
    Need("Debian's Open MPI", "openmpi-bin", _program("mpirun.openmpi")),
    Need("Debian's Open MPI for compiling", "libopenmpi-dev", _program("mpicc.openmpi")),
    # Preloads of other people, before and after the layer.
    Need("jemalloc", "libjemalloc2", _library("libjemalloc.so.2")),
    Need("tcmalloc", "libtcmalloc-minimal4", _library("libtcmalloc_minimal.so.4")),
    Need("AddressSanitizer", "libasan8", _library("libasan.so.8")),
    # Programs whose files are known, and who else sees them.
    *PARALLEL_HDF5,
    Need("strace", "strace", _program("strace")),
    Need("perf", "linux-perf", _program("perf")),
)
PERL = Need("Perl", "perl", _program("perl"))
# Libraries that ./dev conformance runs under the layer, and readers that know nothing of MPI.
H5PY_READER = Need("h5py", "python3-h5py", _debian_module("h5py/_debian_h5py_serial"))
NETCDF_READER = Need("Python's netCDF4", "python3-netcdf4", _debian_module("netCDF4"))
HDF5 = (
    *PARALLEL_HDF5,
    H5PY_READER,
)
H5PY = (
    Need("h5py with MPI", "python3-h5py-mpi", _debian_module("h5py/_debian_h5py_mpi")),
    H5PY_READER,
)
PNETCDF = (Need("PnetCDF", "libpnetcdf-dev", _path("/usr/include/pnetcdf.h")), NETCDF_READER)
NETCDF = (
    Need("netCDF with MPI", "libnetcdf-mpi-dev", _path(f"/usr/lib/{MULTIARCH}/netcdf/mpi/include")),
    NETCDF_READER,
)
_ADIOS = f"/usr/lib/{MULTIARCH}/adios"
ADIOS = (
    *PARALLEL_HDF5,
    Need("ADIOS 1 for MPICH", "libadios-mpich-dev", _path(f"{_ADIOS}/mpich/libadios.a")),
    Need("ADIOS 1 for Open MPI", "libadios-openmpi-dev", _path(f"{_ADIOS}/openmpi/libadios.a")),
    Need("ADIOS 1's bpls", "libadios-bin", _program("bpls.openmpi")),
)
NODE_TESTS = (
    *MPI_TESTS,
    Need("network namespaces", "iproute2", _program("ip")),
    Need("namespaces", "util-linux", _program("unshare", "nsenter")),
    Need("Slurm's controller", "slurmctld", _program("slurmctld")),
    Need("Slurm's node daemon", "slurmd", _program("slurmd")),
    Need("Slurm's commands", "slurm-client", _program("srun", "salloc")),
    Need("munge", "munge", _program("munged")),
)
CLUSTER_FILE_SYSTEMS = (
    *NODE_TESTS,
    Need("Ceph's monitor", "ceph-mon", _program("ceph-mon")),
    Need("Ceph's object store", "ceph-osd", _program("ceph-osd")),
    Need("Ceph's metadata server", "ceph-mds", _program("ceph-mds")),
    Need("Ceph's commands", "ceph-common", _program("ceph", "ceph-authtool", "monmaptool")),
    Need("CephFS mounts", "ceph-fuse", _program("ceph-fuse")),
    Need("GlusterFS's server", "glusterfs-server", _program("glusterd")),
    Need("GlusterFS mounts", "glusterfs-client", _program("glusterfs", "gluster")),
    Need("extended attributes", "attr", _program("setfattr")),
)


def ensure(needs: Iterable[Need]) -> None:
    """Installs what is missing when we are root on Debian, else says what to install.

    Errors: Failure with the one line to run as root.
    """
    missing = _missing(needs)
    if not missing:
        return
    packages = _packages(missing)
    line = f"apt-get update && apt-get install -y --no-install-recommends {' '.join(packages)}"
    names = ", ".join(need.what for need in missing)
    if shutil.which("apt-get") is None:
        raise Failure(
            f"missing on this machine: {names}",
            "there is no apt-get to get them with",
            f"install them by your system's packages (Debian's are {' '.join(packages)})",
        )
    if os.geteuid() != 0:
        raise Failure(
            f"missing on this machine: {names}",
            "only root can install Debian packages",
            f"run this as root and start again:\n\n    {line}\n",
        )
    print(
        f"dev: missing on this machine: {names}; installing them by:\n    {line}", file=sys.stderr
    )
    with exclusive("headrace-apt-get.lock", OF_THE_MACHINE):
        # Another checkout may have installed it meanwhile.
        if missing := _missing(missing):
            _install(_packages(missing))
    left = [need.what for need in _missing(missing)]
    if left:
        raise Failure(
            f"still missing: {', '.join(left)}",
            "apt-get installed its packages but they cannot be found, or are too old",
            "check PATH, and let CXX name another compiler if it is that",
        )


def _missing(needs: Iterable[Need]) -> list[Need]:
    return [need for need in dict.fromkeys(needs) if not need.present()]


def _packages(needs: Iterable[Need]) -> list[str]:
    return sorted({need.package for need in needs})


def _install(packages: list[str]) -> None:
    log = fresh_log("apt-get")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    hint = "check the network and the package sources of this machine"

    # Others may be at it: the system's own updates.
    apt_get = ["apt-get", "-o", "DPkg::Lock::Timeout=600"]

    def update() -> None:
        run_logged([*apt_get, "update"], log, hint, quiet)

    def install() -> None:
        command = [*apt_get, "install", "-y", "--no-install-recommends", *packages]
        run_logged(command, log, hint, quiet)

    run_steps(
        [
            Step("reading Debian's package lists", update, log),
            Step(f"installing {len(packages)} Debian packages", install, log),
        ]
    )
