"""The MPI libraries of a machine: which is which, where its launcher is, how it is told things.

An MPI is found from its library (what a program links), or looked for: HEADRACE_MPI_PATH, the
wheels installed beside this package, MPI_HOME and I_MPI_ROOT, PATH.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from headrace.elf.facts import read_facts
from headrace.elf.loader import default_directories
from headrace.launchers.detection import detect, version_text
from headrace.launchers.families import FAMILIES, Family
from headrace.mpi.kinds import TITLES, is_mpi_library, kind_of

LAUNCHER_NAMES = {
    "mpich": ("mpiexec.hydra", "mpiexec.mpich", "mpiexec", "mpirun.mpich", "mpirun"),
    "openmpi": ("mpirun.openmpi", "mpirun", "mpiexec.openmpi", "mpiexec", "orterun"),
    "intel": ("mpiexec.hydra", "mpiexec"),
}
LAUNCHER_FAMILY = {"mpich": "hydra", "openmpi": "openmpi", "intel": "hydra"}

# Below a prefix: the wheels and most builds, 64-bit distributions, Debian, Intel's old layouts.
LIBRARY_DIRECTORIES = (
    "lib",
    "lib64",
    "lib/release",
    "latest/lib",
    "latest/lib/release",
    "intel64/lib/release",
    "lib/openmpi/lib",
    "lib64/openmpi/lib",
    "lib64/mpich/lib",
)
LIBRARY_NAMES = ("libmpi.so.12", "libmpi.so.40", "libmpich.so.12", "libmpi.so.20", "libmpi.so")
DEEPEST_PREFIX = 5


@dataclass(frozen=True)
class Mpi:
    """One installed MPI.

    kind: "mpich", "openmpi" or "intel"; library: its libmpi; abi_library: its library of the
    standard ABI, if it has one; launcher: None where none was found; source: where it was found.
    """

    kind: str
    library: Path
    launcher: Path | None
    source: str = ""
    abi_library: Path | None = None

    @property
    def title(self) -> str:
        return TITLES[self.kind]

    @property
    def abi(self) -> str:
        """ABI of `library`: "mpich" or "openmpi"."""
        return "openmpi" if self.kind == "openmpi" else "mpich"

    @property
    def prefix(self) -> Path:
        """Where it is installed: the directory above the launcher's, or above the library's."""
        return (self.launcher or self.library).parent.parent

    @property
    def family(self) -> Family:
        return FAMILIES[LAUNCHER_FAMILY[self.kind]]

    @cached_property
    def version(self) -> str:
        """Version as its launcher tells it, "" if it does not."""
        if self.launcher is None:
            return ""
        return version_in(version_text(self.launcher, os.environ))

    def library_named(self, soname: str) -> Path | None:
        """This MPI's library of that soname."""
        for library in (self.library, self.abi_library):
            facts = read_facts(library) if library else None
            if facts and soname in (facts.soname, library.name):
                return library
        return None


def version_in(text: str) -> str:
    """The version in what a launcher prints about itself, "" without."""
    match = re.search(r"\d+\.\d+(\.\d+)*", text)
    return match[0] if match else ""


def from_library(library: Path, environ: Mapping[str, str], source: str = "") -> Mpi | None:
    """The MPI a library belongs to, with the launcher beside it or else one in the environment."""
    kind = kind_of(library)
    if kind is None:
        return None
    beside = library.with_name("libmpi_abi.so.1")
    launcher = _launcher_beside(library, kind, environ) or _launcher_around(kind, environ)
    return Mpi(kind, library, launcher, source, beside if os.path.isfile(beside) else None)


def _launcher_beside(library: Path, kind: str, environ: Mapping[str, str]) -> Path | None:
    # Real places first: Open MPI takes the directory it is started from for its prefix.
    for path in dict.fromkeys((library.resolve(), library)):
        for prefix in path.parents[:DEEPEST_PREFIX]:
            launcher = _launcher_in(prefix / "bin", kind, environ)
            if launcher is not None:
                return launcher
    return None


def _launcher_around(kind: str, environ: Mapping[str, str]) -> Path | None:
    roots = [environ[name] for name in ("MPI_HOME", "I_MPI_ROOT") if environ.get(name)]
    folders = [Path(root) / "bin" for root in roots]
    folders += [Path(entry) for entry in environ.get("PATH", "").split(os.pathsep) if entry]
    found = (_launcher_in(folder, kind, environ) for folder in folders)
    return next((launcher for launcher in found if launcher is not None), None)


def _launcher_in(folder: Path, kind: str, environ: Mapping[str, str]) -> Path | None:
    for name in LAUNCHER_NAMES[kind]:
        candidate = folder / name
        if not os.access(candidate, os.X_OK) or not os.path.isfile(candidate):
            continue
        family = detect(candidate, environ)
        if family is not None and family.name == LAUNCHER_FAMILY[kind]:
            return candidate
    return None


def in_prefix(
    prefix: Path, environ: Mapping[str, str], source: str = "", kinds: tuple[str, ...] = ()
) -> Mpi | None:
    """The MPI installed below `prefix` with both its library and its launcher there."""
    triplet_folders = [
        folder.relative_to("/usr") for folder in default_directories() if folder.parts[1] == "usr"
    ]
    folders = [Path(name) for name in LIBRARY_DIRECTORIES]
    folders += [
        folder / extra for folder in triplet_folders for extra in ("", "openmpi/lib", "mpich/lib")
    ]
    for folder in folders:
        for name in LIBRARY_NAMES:
            library = prefix / folder / name
            # A libmpi.so may be the linker's script instead of a library.
            if os.path.isfile(library) and is_mpi_library(library):
                mpi = from_library(library, environ, source)
                if mpi is not None and mpi.launcher and (not kinds or mpi.kind in kinds):
                    return mpi
    return None


def embedded(environ: Mapping[str, str]) -> Mpi | None:
    """The MPICH wheel that is installed beside this package (PyPI `mpich`)."""
    return in_prefix(Path(sys.prefix), environ, "beside headrace", kinds=("mpich",))


def find_all(environ: Mapping[str, str] | None = None) -> list[Mpi]:
    """All MPIs with a launcher, best first, each library once.

    HEADRACE_MPI_PATH lists prefixes (':' between them), as a checkout's .dev/mpi/mpich.
    """
    environ = os.environ if environ is None else environ
    found: dict[Path, Mpi] = {}
    for prefix, source, kinds in _prefixes(environ):
        mpi = in_prefix(prefix, environ, source, kinds)
        if mpi is not None:
            found.setdefault(mpi.library.resolve(), mpi)
    return list(found.values())


def _prefixes(environ: Mapping[str, str]) -> Iterator[tuple[Path, str, tuple[str, ...]]]:
    for entry in environ.get("HEADRACE_MPI_PATH", "").split(os.pathsep):
        if entry:
            yield Path(entry), "HEADRACE_MPI_PATH", ()
    for name in ("MPI_HOME", "I_MPI_ROOT"):
        if environ.get(name):
            yield Path(environ[name]), name, ()
    for entry in environ.get("PATH", "").split(os.pathsep):
        for kind, names in LAUNCHER_NAMES.items():
            if entry and any(os.path.isfile(f"{entry}/{name}") for name in names):
                yield Path(entry).parent, "PATH", (kind,)
    yield Path(sys.prefix), "beside headrace", ()
