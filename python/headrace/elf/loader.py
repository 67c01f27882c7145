"""Resolves the shared objects of a program as ld.so(8) would, without running anything.

Followed: DT_RPATH chains, LD_LIBRARY_PATH, DT_RUNPATH, ld.so.cache, the default directories, the
tokens $ORIGIN and $LIB, and the skipping of objects for another machine. Left out: the
glibc-hwcaps subdirectories, where no MPI lives.
"""

import os
import struct
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from headrace.elf.facts import ElfFacts, read_facts

CACHE_FILE = Path("/etc/ld.so.cache")
CACHE_MAGIC = b"glibc-ld.so.cache1.1"
CACHE_HEADER = struct.Struct("=20sIIB3xI12x")
CACHE_ENTRY = struct.Struct("=iIIIQ")


@dataclass(frozen=True)
class Dependency:
    """One shared object a program needs; `path` is None where the loader would not find it."""

    soname: str
    path: Path | None
    needed_by: Path


def default_directories() -> list[Path]:
    triplet = sysconfig.get_config_var("MULTIARCH")
    names = [triplet] if triplet else []
    return [Path(root) / name for name in [*names, "../lib64", ""] for root in ("/lib", "/usr/lib")]


@lru_cache(maxsize=4)
def read_cache(path: Path = CACHE_FILE) -> dict[str, tuple[Path, ...]]:
    """soname -> files of ld.so.cache (format of glibc's sysdeps/generic/dl-cache.h)."""
    try:
        data = path.read_bytes()
    except OSError:
        return {}
    start = data.find(CACHE_MAGIC)
    if start < 0:
        return {}
    found: dict[str, list[Path]] = {}
    try:
        _, count, *_ = CACHE_HEADER.unpack_from(data, start)
        for index in range(count):
            offset = start + CACHE_HEADER.size + index * CACHE_ENTRY.size
            _, key, value, _, _ = CACHE_ENTRY.unpack_from(data, offset)
            found.setdefault(_text(data, start + key), []).append(Path(_text(data, start + value)))
    except (struct.error, ValueError):
        return {}
    return {soname: tuple(paths) for soname, paths in found.items()}


def _text(data: bytes, offset: int) -> str:
    return data[offset : data.index(b"\0", offset)].decode("utf-8", "surrogateescape")


def _expand(entries: Iterable[str], origin: Path) -> Iterator[Path]:
    for entry in entries:
        for token, value in (("ORIGIN", str(origin)), ("LIB", _library_folder())):
            entry = entry.replace("${" + token + "}", value).replace("$" + token, value)
        yield Path(entry or ".")


@lru_cache(maxsize=1)
def _library_folder() -> str:
    """What stands for $LIB: Debian's loader has the machine in it."""
    triplet = sysconfig.get_config_var("MULTIARCH")
    if triplet and (Path("/lib") / triplet).is_dir():
        return f"lib/{triplet}"
    return "lib64" if Path("/lib64").is_dir() else "lib"


class Loader:
    """Searches for one program's objects with one environment."""

    def __init__(self, environ: Mapping[str, str]):
        listed = environ.get("LD_LIBRARY_PATH", "").replace(";", ":")
        self._listed = listed.split(":") if listed else []

    def find(self, soname: str, chain: list[ElfFacts]) -> Path | None:
        """File of `soname` as needed by chain[-1], which chain[0] (the program) loaded."""
        requester = chain[-1]
        for candidate in self._candidates(soname, chain):
            facts = read_facts(candidate) if candidate.is_file() else None
            if facts and (facts.bits, facts.machine) == (requester.bits, requester.machine):
                return candidate
        return None

    def _candidates(self, soname: str, chain: list[ElfFacts]) -> Iterator[Path]:
        requester = chain[-1]
        if "/" in soname:
            yield from _expand([soname], _origin(requester, chain))
            return
        if not requester.runpath:
            for facts in reversed(chain):
                yield from (where / soname for where in _expand(facts.rpath, _origin(facts, chain)))
        program = _origin(chain[0], chain)
        yield from (where / soname for where in _expand(self._listed, program))
        requesters = _origin(requester, chain)
        yield from (where / soname for where in _expand(requester.runpath, requesters))
        yield from read_cache().get(soname, ())
        yield from (where / soname for where in default_directories())

    def closure(self, program: ElfFacts, loaded_by: ElfFacts | None = None) -> list[Dependency]:
        """All objects `program` needs, breadth first, each soname once.

        `loaded_by` is the executable where `program` is an object that it opens at run time.
        """
        found: list[Dependency] = []
        seen: set[str] = set()
        queue = [[loaded_by, program] if loaded_by else [program]]
        while queue:
            chain = queue.pop(0)
            for soname in chain[-1].needed:
                if soname in seen:
                    continue
                seen.add(soname)
                path = self.find(soname, chain)
                found.append(Dependency(soname, path, chain[-1].path))
                facts = read_facts(path) if path else None
                if facts is not None:
                    queue.append([*chain, facts])
        return found


def _origin(facts: ElfFacts, chain: list[ElfFacts]) -> Path:
    """The folder of a file: of the program itself, but of the link by which a library is found."""
    if facts is chain[0]:
        return facts.path.resolve().parent
    return Path(os.path.abspath(facts.path)).parent
