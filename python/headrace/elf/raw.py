"""Symbols and relocations of ELF files of 64 bits, read at once: pyelftools takes a tenth of a
millisecond for each, and large programs have hundreds of thousands."""

import os
import struct
from collections.abc import Iterator
from typing import NamedTuple

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import Section, SymbolTableSection

_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
FUNCTION, NO_TYPE, INDIRECT = 2, 0, 10  # STT_FUNC, STT_NOTYPE, STT_GNU_IFUNC
UNDEFINED, FIRST_RESERVED = 0, 0xFF00


class Symbol(NamedTuple):
    """kind: as FUNCTION; section: its number."""

    name: str
    kind: int
    section: int
    address: int
    size: int

    @property
    def is_defined(self) -> bool:
        return UNDEFINED < self.section < FIRST_RESERVED


class Relocation(NamedTuple):
    """symbol: its place in the table of symbols."""

    address: int
    kind: int
    symbol: int
    addend: int


def is_known(elf: ELFFile) -> bool:
    return elf.elfclass == 64 and elf.little_endian


def data_of(elf: ELFFile, section: Section) -> bytes:
    """Nothing of one that says it is larger than its file."""
    size = os.fstat(elf.stream.fileno()).st_size
    return section.data() if section["sh_size"] <= size else b""


def symbol_tables(elf: ELFFile) -> Iterator[SymbolTableSection]:
    yield from (one for one in elf.iter_sections() if isinstance(one, SymbolTableSection))


def symbols(elf: ELFFile, table: Section) -> Iterator[Symbol]:
    """Those of functions, and those without a type."""
    names = data_of(elf, elf.get_section(table["sh_link"]))
    data = data_of(elf, table)
    whole = len(data) // _SYMBOL.size * _SYMBOL.size
    for place, info, _, section, address, size in _SYMBOL.iter_unpack(data[:whole]):
        kind = info & 0xF
        if kind in (FUNCTION, NO_TYPE, INDIRECT):
            yield Symbol(_name(names, place), kind, section, address, size)


def places_of(elf: ELFFile, table: Section, name: str) -> set[int]:
    """The places of the symbols with a name."""
    names = data_of(elf, elf.get_section(table["sh_link"]))
    wanted = name.encode() + b"\0"
    data = data_of(elf, table)
    whole = len(data) // _SYMBOL.size * _SYMBOL.size
    return {
        number
        for number, (place, *_) in enumerate(_SYMBOL.iter_unpack(data[:whole]))
        if names.startswith(wanted, place)
    }


def relocations(elf: ELFFile, section: RelocationSection) -> Iterator[Relocation]:
    """Of a section with addends (SHT_RELA), which all 64-bit machines use."""
    if section["sh_type"] != "SHT_RELA":
        return
    data = data_of(elf, section)
    whole = len(data) // _RELOCATION.size * _RELOCATION.size
    for address, info, addend in _RELOCATION.iter_unpack(data[:whole]):
        yield Relocation(address, info & 0xFFFFFFFF, info >> 32, addend)


def relocation_sections(elf: ELFFile) -> Iterator[RelocationSection]:
    yield from (one for one in elf.iter_sections() if isinstance(one, RelocationSection))


def _name(names: bytes, place: int) -> str:
    end = names.find(b"\0", place)
    return names[place : end if end >= 0 else len(names)].decode("utf-8", "backslashreplace")
