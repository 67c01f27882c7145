"""The MPIs to try: any that is installed, by name, by directory, or all."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from headrace.bench.programs import ALL
from headrace.bench.runner import Host, find_host
from headrace.errors import HeadraceError
from headrace.mpi.choice import at_path
from headrace.mpi.environment import library_environment
from headrace.mpi.installed import Mpi, find_all
from headrace.mpi.kinds import KINDS, STANDARD_ABI

# The library that the program for an MPI's ABI asks for.
SONAMES = {"mpich": "libmpi.so.12", "openmpi": "libmpi.so.40"}


def find_hosts(wanted: Sequence[str], folder: Path, environ: Mapping[str, str]) -> list[Host]:
    """The MPIs of these names ("mpich", "openmpi", "intel", "abi", "all") or directories.

    `folder`: where links may be made for libraries whose name is not that of their ABI.
    """
    hosts = []
    for name in wanted:
        if name == ALL:
            mpis = find_all(environ)
            if not mpis:
                raise HeadraceError(
                    "no MPI was found",
                    "none is in HEADRACE_MPI_PATH, MPI_HOME, I_MPI_ROOT, PATH or beside headrace",
                    "load its module or give its directory with --mpi",
                )
            hosts += [_host_of(mpi, folder) for mpi in mpis]
        elif name in KINDS or name == STANDARD_ABI:
            hosts.append(find_host(name, environ))
        else:
            hosts.append(_host_of(at_path(Path(name).absolute(), environ), folder))
    return hosts


def _host_of(mpi: Mpi, folder: Path) -> Host:
    """An MPI with what makes the program of its ABI load its library."""
    soname = SONAMES[mpi.abi]
    library = mpi.library.absolute()
    if library.name != soname:
        # As Debian's libmpich.so.12 and Cray's libmpi_cray.so.12: the same ABI by another name.
        alias = folder / f"library-{len(list(folder.iterdir()))}" / soname
        alias.parent.mkdir()
        os.symlink(library, alias)
        library = alias
    return Host(mpi.kind, mpi, library_environment(library, os.environ))
