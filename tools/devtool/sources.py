"""Other people's source archives, pinned, fetched into .dev/sources and unpacked there."""

from __future__ import annotations

import functools
import hashlib
import shutil
import subprocess
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from devtool.failure import Failure
from devtool.paths import DEV, VENV, shown
from devtool.steps import Step, fresh_log, run_logged

SOURCES = DEV / "sources"
# Debian's codename of the machine's sources is what apt's own lists say.
INDEX_FORMAT = "$(CREATED_BY) $(REPO_URI) $(RELEASE) $(COMPONENT)"


@dataclass(frozen=True)
class Source:
    """An archive of PyPI ("pypi") or of Debian's source packages ("debian")."""

    name: str
    version: str
    origin: str
    archive: str
    sha256: str

    @property
    def folder(self) -> Path:
        return SOURCES / f"{self.name}-{self.version}"


MPI4PY = Source(
    "mpi4py",
    "4.1.2",
    "pypi",
    "mpi4py-4.1.2.tar.gz",
    "56860286dc45f20e8821e93cb06669e30462348bf866f685553fa4b712d58d02",
)
MPICH = Source(
    "mpich",
    "4.0.2-3",
    "debian",
    "mpich_4.0.2.orig.tar.xz",
    "b27039f964afeb6b8a3e009c56b441cbe368c26d6d6476ad3bb7190996875860",
)
HDF5 = Source(
    "hdf5",
    "1.10.8+repack1-1",
    "debian",
    "hdf5_1.10.8+repack1.orig.tar.gz",
    "7b38e58ff83b13fd8959a90b13bf896bc318ba096c940ab0847abf3ad41a0b31",
)


def pending(sources: Iterable[Source]) -> list[Step]:
    """A step for each source that is not unpacked yet."""
    return [
        Step(
            f"fetching the source of {source.name} {source.version}",
            functools.partial(_fetch, source),
        )
        for source in dict.fromkeys(sources)
        if not source.folder.is_dir()
    ]


def _fetch(source: Source) -> None:
    log = fresh_log(f"source-{source.name}")
    SOURCES.mkdir(parents=True, exist_ok=True)
    if source.origin == "pypi":
        _from_pypi(source, log)
    else:
        _from_debian(source, log)
    archive = SOURCES / source.archive
    found = hashlib.sha256(archive.read_bytes()).hexdigest() if archive.exists() else "nothing"
    if found != source.sha256:
        archive.unlink(missing_ok=True)
        raise Failure(
            f"{source.archive} is not the file it was",
            f"its SHA-256 is {found}",
            "check the package sources, or put the right file into .dev/sources",
            log,
        )
    _unpack(archive, source.folder)


def _from_pypi(source: Source, log: Path) -> None:
    pip = [VENV / "bin" / "python", "-m", "pip", "download", "--quiet", "--no-input", "--no-deps"]
    wanted = [f"{source.name}=={source.version}", "--no-binary", source.name, "--dest", SOURCES]
    run_logged([*pip, *wanted], log, "check that pip can reach its package index")


def _from_debian(source: Source, log: Path) -> None:
    """By apt-get with lists of its own, so that the machine's sources stay as they are."""
    state = SOURCES / "apt"
    (state / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    sources = state / "sources.list"
    sources.write_text("".join(f"deb-src {line}\n" for line in _repositories()))
    settings = {
        "Dir::Etc::sourcelist": sources,
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": state / "lists",
        "Dir::Cache": state,
        "APT::Sandbox::User": "root",
    }
    options = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
    hint = "check the network and the package sources of this machine"
    run_logged(["apt-get", *options, "update"], log, hint)
    wanted = [f"{source.name}={source.version}", "--download-only", "--tar-only"]
    # apt-get writes into the folder it is started in.
    begin = ["env", "-C", SOURCES, "apt-get", *options, "source"]
    run_logged([*begin, *wanted], log, hint)


def _repositories() -> list[str]:
    """Repository, release and component of each list of binary packages that apt has."""
    if shutil.which("apt-get") is None:
        raise Failure(
            "cannot fetch Debian's source packages",
            "there is no apt-get",
            "choose other suites by --suite",
        )
    command = ["apt-get", "indextargets", "--format", INDEX_FORMAT]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    words = [line.split() for line in listed.splitlines()]
    return sorted({" ".join(w[1:]) for w in words if len(w) == 4 and w[0] == "Packages"})


def _unpack(archive: Path, folder: Path) -> None:
    """The archive's one folder, moved into place when it is whole."""
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    with tarfile.open(archive) as tar:
        tar.extractall(partial, filter="tar")
    inside = list(partial.iterdir())
    if len(inside) != 1:
        raise Failure(
            f"{shown(archive)} has {len(inside)} folders",
            "one was expected",
            "see what has changed in the archive",
        )
    inside[0].rename(folder)
    partial.rmdir()
