"""Packs what check.py needs into a folder: ./dev device-check --pack FOLDER.

A machine with a device to which it is copied needs neither the network nor a compiler.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import sys
import tarfile
from pathlib import Path

from hosts import MPI_DIRECTORY, headrace_library, host_named
from running import compile_c

HERE = Path(__file__).resolve().parent
MPIS = ("mpich", "mpich-abi", "openmpi", "intel")
PROGRAMS = ("files", "faults", "speed")
# Of an MPI's folder: what runs programs. Compilers, headers, Python and tests stay behind.
LEFT_OUT = (
    "include",
    "share/man",
    "python3*",
    "IMB-*",
    "mpcp*",
    "libmpcp*",
    "libmpi_ilp64*",
    "libmpi*fort*",
    "libmpijava*",
    "libmpicxx*",
    "tune_fast",
    "*.fatbin",
    "*.spv",
    "*.a",
)


def is_left_out(path: Path) -> bool:
    return any(path.match(pattern) or path.match(f"{pattern}/*") for pattern in LEFT_OUT)


class Parts:
    """An archive that holds each content once: wheels have a copy where others have a link."""

    def __init__(self, path: Path) -> None:
        self.archive = tarfile.open(path, "w:xz", preset=2)  # noqa: SIM115, closed by close()
        self.names: dict[bytes, str] = {}

    def add(self, path: Path, name: str) -> None:
        digest = hashlib.sha256(path.read_bytes()).digest()
        info = self.archive.gettarinfo(path.resolve(), name)
        first = self.names.setdefault(digest, name)
        if first == name:
            with path.open("rb") as content:
                self.archive.addfile(info, content)
        else:
            info.type, info.linkname, info.size = tarfile.LNKTYPE, first, 0
            self.archive.addfile(info)

    def close(self) -> None:
        self.archive.close()


def add_mpi(parts: Parts, name: str) -> None:
    """Follows links: what a wheel links to lies elsewhere in it."""
    home = MPI_DIRECTORY / name
    seen: set[Path] = set()

    def add(folder: Path) -> None:
        seen.add(folder.resolve())
        for path in sorted(folder.iterdir()):
            relative = path.relative_to(home)
            if any(is_left_out(part) for part in [relative, *relative.parents]):
                continue
            if path.is_dir() and path.resolve() not in seen:
                add(path)
            elif path.is_file():
                parts.add(path, f"{name}/{relative}")

    add(home)


def pack(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "check.py", folder / "check.py")
    with contextlib.closing(Parts(folder / "parts.tar.xz")) as parts:
        parts.add(headrace_library(), "libheadrace.so")
        for name in MPIS:
            host = host_named(name)
            if host.missing:
                raise SystemExit(f"cannot pack {name} ({host.missing}), run ./dev setup --all")
            for program in PROGRAMS:
                sources = [f"device_{program}.c", "device_memory.c"]
                built = compile_c(host, sources, f"device_{program}")
                parts.add(built, f"bin/device_{program}-{name}")
        for name in ("mpich", "openmpi", "intel"):
            add_mpi(parts, name)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("name the folder to pack into")
    pack(Path(sys.argv[1]))
