"""Programs of ours that write through HDF5, h5py, PnetCDF, netCDF and ADIOS 1 of Debian; what they
wrote is read by a serial reader, which knows what must be there."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from building import compile_with
from case import Case, Judge, Run, says, whole
from hosts import Host, multiarch

PROGRAMS = Path(__file__).resolve().parent / "programs"
# Debian's, since its netCDF and h5py belong to it.
PYTHON = "/usr/bin/python3"
RANKS = (1, 2, 4)
# ADIOS 1's ways to write by MPI-IO and their parameters.
ADIOS_METHODS = {"MPI": [], "MPI_AGGREGATE": ["num_aggregators=2;num_ost=2"]}


def hdf5_cases(host: Host, _: Path) -> Iterator[Case]:
    kind = host.name.removeprefix("debian-")
    place = f"/usr/lib/{multiarch()}/hdf5/{kind}"
    flags = [f"-I/usr/include/hdf5/{kind}", f"-L{place}", "-lhdf5"]
    yield from _written(host, "hdf5_write", flags, ["data"], "hdf5_check.py")


def h5py_cases(_: Host, __: Path) -> Iterator[Case]:
    for ranks in RANKS:
        program = [PYTHON, PROGRAMS / "h5py_write.py", "data"]
        yield Case(f"h5py-np{ranks}", ranks, program, _read_by("hdf5_check.py"))


def pnetcdf_cases(host: Host, _: Path) -> Iterator[Case]:
    for form in ("1", "2", "5"):
        yield from _written(host, "pnetcdf_write", ["-lpnetcdf"], ["data", form], "netcdf_check.py")


def netcdf_cases(host: Host, _: Path) -> Iterator[Case]:
    flags = [f"-I/usr/lib/{multiarch()}/netcdf/mpi/include", "-lnetcdf_mpi"]
    yield from _written(host, "netcdf_write", flags, ["data"], "netcdf_check.py")


def adios_cases(host: Host, _: Path) -> Iterator[Case]:
    kind = host.name.removeprefix("debian-")
    place = f"/usr/lib/{multiarch()}"
    # Debian has static archives only, which want all that ADIOS can write with; no netCDF of its
    # is for MPICH, and none is used here.
    flags = [f"-L{place}/adios/{kind}", "-ladios", f"-L{place}/hdf5/{kind}", "-l:libnetcdf.so.19"]
    flags += ["-lhdf5", "-lz", "-lsz", "-l:libbz2.so.1.0", "-l:liblz4.so.1", "-l:libblosc.so.1"]
    flags += ["-lm", "-lpthread"]
    for method, parameters in ADIOS_METHODS.items():
        arguments = ["data", method, *parameters]
        yield from _written(host, "adios_write", flags, arguments, "adios_check.py")


def _written(
    host: Host, name: str, flags: Sequence[str], arguments: Sequence[str], reader: str
) -> Iterator[Case]:
    path, missing = compile_with(host, "c", [PROGRAMS / f"{name}.c"], name, flags)
    title = "-".join([name, *arguments[1:2]])
    for ranks in RANKS:
        program = [path, *arguments]
        yield Case(f"{title}-np{ranks}", ranks, program, _read_by(reader), missing=missing)


def _read_by(reader: str) -> Judge:
    good = says("No Errors")

    def passed(run: Run) -> bool:
        if not good(run):
            return False
        command = [PYTHON, PROGRAMS / reader, run.directory / "data", str(run.case.ranks)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        (run.directory / "reader.log").write_text(done.stdout + done.stderr)
        return done.returncode == 0

    return whole(passed)
