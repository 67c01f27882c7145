"""An ELF file's build-id and functions, and the lines of its debugging information."""

import os
import stat
import struct
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from elftools.common.exceptions import DWARFError, ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import NoteSection, Section, SymbolTableSection

STUB = 16  # bytes
STUB_MARK = "@plt"  # behind the name of the function that a stub jumps to

# What pyelftools raises on files that are not what they seem.
BROKEN = (ELFError, DWARFError, OSError, ValueError, KeyError, IndexError, TypeError)
BROKEN += (AttributeError, AssertionError, ArithmeticError, MemoryError, RecursionError)
BROKEN += (struct.error, zlib.error)


@contextmanager
def opened(path: Path) -> Iterator[ELFFile]:
    """Opens a regular file only: others may have no end, or wait for someone."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise ELFError("no regular file")
        yield ELFFile(stream)


def build_id(path: Path) -> str | None:
    """In hexadecimal, empty if the file has none; None if it is no readable ELF file."""
    try:
        with opened(path) as elf:
            for section in elf.iter_sections():
                if isinstance(section, NoteSection):
                    for note in section.iter_notes():
                        if note["n_type"] == "NT_GNU_BUILD_ID":
                            return str(note["n_desc"])
            return ""
    except BROKEN:
        return None


def detail(path: Path) -> int:
    """How much a file tells of its code: 2: its lines, 1: all its functions, 0: no more than those
    for others."""
    try:
        with opened(path) as elf:
            if any(elf.get_section_by_name(name) for name in (".debug_info", ".zdebug_info")):
                return 2
            return 1 if elf.get_section_by_name(".symtab") else 0
    except BROKEN:
        return 0


class Functions:
    """The functions of a file's symbol tables, by address."""

    def __init__(self, path: Path):
        self._starts: list[int] = []
        self._found: list[tuple[int, int, str]] = []
        try:
            with opened(path) as elf:
                self._found = in_order({*_functions(elf), *_stubs(elf)})
        except BROKEN:
            self._found = []
        self._starts = [start for start, _, _ in self._found]

    def at(self, address: int) -> str:
        """The name of the function with this address, as it is in the table; empty if none has."""
        place = bisect_right(self._starts, address) - 1
        if place < 0:
            return ""
        start, size, name = self._found[place]
        return name if address < start + size else ""


def in_order(found: Iterable[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """By place and size. Of a function's names the best is the last: MPI_TEST, not pmpi_test__."""
    by_name = sorted(
        found, key=lambda one: (_underscores(one[2]), len(one[2]), one[2]), reverse=True
    )
    return sorted(by_name, key=lambda one: one[:2])


def _underscores(name: str) -> int:
    """Before it."""
    return len(name) - len(name.lstrip("_"))


def _functions(elf: ELFFile) -> Iterator[tuple[int, int, str]]:
    """One without a size, as assembly has them, may reach to the end of its section."""
    for section in elf.iter_sections():
        if isinstance(section, SymbolTableSection):
            for symbol in section.iter_symbols():
                place = symbol["st_shndx"]
                if symbol["st_info"]["type"] != "STT_FUNC" or not isinstance(place, int):
                    continue
                start, size = symbol["st_value"], symbol["st_size"]
                yield start, size or _end(elf.get_section(place)) - start, symbol.name


def _end(section: Section) -> int:
    return section["sh_addr"] + section["sh_size"]


def _stubs(elf: ELFFile) -> Iterator[tuple[int, int, str]]:
    """What calls into other libraries jump through: FUNCTION@plt, in the order of relocations
    (System V ABI, AMD64 supplement, Procedure Linkage Table)."""
    relocations = elf.get_section_by_name(".rela.plt")
    if elf["e_machine"] != "EM_X86_64" or not isinstance(relocations, RelocationSection):
        return
    symbols = elf.get_section(relocations["sh_link"])
    # With branch protection (-z ibtplt) the stubs are in .plt.sec. Else the first one is the
    # linker's own.
    marked = elf.get_section_by_name(".plt.sec")
    section = marked or elf.get_section_by_name(".plt")
    if section is None or not isinstance(symbols, SymbolTableSection):
        return
    at = section["sh_addr"] + (0 if marked else STUB)
    for relocation in relocations.iter_relocations():
        if at + STUB > _end(section):
            return
        yield at, STUB, f"{symbols.get_symbol(relocation['r_info_sym']).name}{STUB_MARK}"
        at += STUB


LARGEST_READ = 64 << 20  # reading more lines in Python takes minutes


def lines(path: Path, addresses: set[int]) -> dict[int, tuple[str, int]]:
    """File and line of addresses, as far as the file's debugging information tells."""
    try:
        with opened(path) as elf:
            small = path.stat().st_size <= LARGEST_READ
            return _lines(elf, addresses) if small and elf.has_dwarf_info() else {}
    except BROKEN:
        return {}


def _lines(elf: ELFFile, addresses: set[int]) -> dict[int, tuple[str, int]]:
    dwarf = elf.get_dwarf_info()
    found: dict[int, tuple[str, int]] = {}
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        before = None
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if before is not None:
                for address in addresses - found.keys():
                    if before.address <= address < state.address:
                        found[address] = (_file_name(program, before.file), before.line)
            before = None if state.end_sequence else state
    return found


def _file_name(program, number: int) -> str:
    header = program.header
    entry = header["file_entry"][number - (0 if header["version"] >= 5 else 1)]
    return entry.name.decode("utf-8", "backslashreplace")
