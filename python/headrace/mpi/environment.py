"""The variables with which ranks load one MPI library, and with which an MPI starts at all."""

from collections.abc import Mapping
from pathlib import Path

from headrace.elf.loader import default_directories
from headrace.mpi.installed import Mpi


def library_environment(library: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """What makes ranks load this libmpi: LD_LIBRARY_PATH, unless the system's search finds it."""
    folder = library.parent
    if folder in default_directories() or folder.resolve() in default_directories():
        return {}
    existing = [entry for entry in environ.get("LD_LIBRARY_PATH", "").split(":") if entry]
    rest = [entry for entry in existing if entry != str(folder)]
    return {"LD_LIBRARY_PATH": ":".join([str(folder), *rest])}


def runtime_environment(mpi: Mpi, environ: Mapping[str, str]) -> dict[str, str]:
    """Variables without which this MPI does not start from where it is installed."""
    if mpi.kind != "intel":
        return {}
    # Intel MPI relies on its setvars.sh or a module; the wheels have neither.
    needed = {"I_MPI_ROOT": str(mpi.prefix)}
    for folder in ("opt/mpi/libfabric/lib", "libfabric/lib", "lib"):
        fabric = mpi.prefix / folder
        if (fabric / "libfabric.so.1").is_file():
            providers = fabric / "prov"
            needed["FI_PROVIDER_PATH"] = str(providers if providers.is_dir() else fabric)
            needed.update(library_environment(fabric / "libfabric.so.1", environ))
            break
    return {
        name: value for name, value in needed.items() if not environ.get(name) or name[0] == "L"
    }
