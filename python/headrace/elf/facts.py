"""Facts of an ELF file that decide what the dynamic loader will do with it."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from elftools.elf.dynamic import DynamicSegment
from elftools.elf.elffile import ELFFile
from elftools.elf.hash import GNUHashTable
from elftools.elf.sections import SymbolTableSection

from headrace.elf.symbols import BROKEN, opened


@dataclass(frozen=True)
class ElfFacts:
    """`runpath` and `rpath` are unexpanded search lists; `rpath` is () where `runpath` is set.
    `flags` are the header's, which tell variants of the machine."""

    path: Path
    bits: int
    machine: str
    is_dynamic: bool
    soname: str | None = None
    needed: tuple[str, ...] = ()
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()
    flags: int = 0


def is_elf(path: Path) -> bool:
    try:
        with open(path, "rb") as stream:
            return stream.read(4) == b"\x7fELF"
    except OSError:
        return False


def _dynamic_segment(elf: ELFFile) -> DynamicSegment | None:
    return next((part for part in elf.iter_segments() if isinstance(part, DynamicSegment)), None)


@lru_cache(maxsize=512)
def read_facts(path: Path) -> ElfFacts | None:
    """Facts of `path`, or None when it is not a readable ELF file."""
    try:
        with opened(path) as elf:
            return _facts(path, elf)
    except BROKEN:
        return None


def _facts(path: Path, elf: ELFFile) -> ElfFacts:
    machine = elf.header["e_machine"]
    dynamic = _dynamic_segment(elf)
    if dynamic is None:
        return ElfFacts(path, elf.elfclass, machine, is_dynamic=False)
    lists: dict[str, list[str]] = {"needed": [], "rpath": [], "runpath": [], "soname": []}
    for tag in dynamic.iter_tags():
        kind = (
            tag.entry.d_tag.removeprefix("DT_").lower() if isinstance(tag.entry.d_tag, str) else ""
        )
        if kind in lists:
            lists[kind].append(getattr(tag, kind))
    split = {kind: _split(lists[kind]) for kind in ("rpath", "runpath")}
    has_loader = any(part["p_type"] == "PT_INTERP" for part in elf.iter_segments())
    return ElfFacts(
        path,
        elf.elfclass,
        machine,
        # A static-pie program has a dynamic segment too, but neither loader nor dependencies.
        is_dynamic=has_loader or bool(lists["needed"] or lists["soname"]),
        soname=next(iter(lists["soname"]), None),
        needed=tuple(lists["needed"]),
        rpath=() if split["runpath"] else split["rpath"],
        runpath=split["runpath"],
        flags=elf.header["e_flags"],
    )


def _split(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(entry for value in values for entry in value.split(":") if entry)


@lru_cache(maxsize=2048)
def defines(path: Path, name: str) -> bool:
    """Whether the object exports a definition of `name` to the dynamic loader."""
    try:
        with opened(path) as elf:
            dynamic = _dynamic_segment(elf)
            if dynamic is None:
                return False
            _, offset = dynamic.get_table_offset("DT_GNU_HASH")
            if offset is None:
                return _scan(dynamic.get_symbol_by_name(name) or (), name)
            symbol = GNUHashTable(elf, offset, dynamic).get_symbol(name)
            return symbol is not None and symbol["st_shndx"] != "SHN_UNDEF"
    except BROKEN:
        pass
    return False


@lru_cache(maxsize=64)
def definitions(path: Path) -> frozenset[str]:
    """The names that the object shows to the dynamic loader."""
    try:
        with opened(path) as elf:
            dynamic = _dynamic_segment(elf)
            symbols = dynamic.iter_symbols() if dynamic else ()
            return frozenset(one.name for one in symbols if one["st_shndx"] != "SHN_UNDEF")
    except BROKEN:
        return frozenset()


@lru_cache(maxsize=64)
def contains_static(path: Path, name: str) -> bool:
    """Whether `name` was linked into the file itself (needs an unstripped file)."""
    try:
        with opened(path) as elf:
            tables = [one for one in elf.iter_sections() if isinstance(one, SymbolTableSection)]
            return any(_scan(table.get_symbol_by_name(name) or (), name) for table in tables)
    except BROKEN:
        return False


def _scan(symbols, name: str) -> bool:
    return any(symbol.name == name and symbol["st_shndx"] != "SHN_UNDEF" for symbol in symbols)
