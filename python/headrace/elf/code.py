"""The functions of an ELF file as one needs them to trace calls: where each begins, its bytes, what
compilers left for this, which functions other objects give it. Raises nothing on broken files: they
have no functions then."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from headrace.elf import raw
from headrace.elf.symbols import BROKEN, STUB, build_id, opened

HOOK = "__cyg_profile_func_enter"
# Sections in which compilers list where they left room.
ROOM_LISTS = ("__patchable_function_entries", "__mcount_loc")
LARGEST_LIST = 8 << 20
LARGEST_FUNCTION = 1 << 20
ADDRESS = 8  # bytes
ALLOCATED = 2  # SHF_ALLOC
STUBS = (8, STUB)  # bytes; the short ones are those of .plt.got
_RELATIVE = {"EM_X86_64": 8, "EM_AARCH64": 1027}  # R_X86_64_RELATIVE, R_AARCH64_RELATIVE
_SLOTS = {"EM_X86_64": (6, 7), "EM_AARCH64": (1025, 1026)}  # GLOB_DAT, JUMP_SLOT


@dataclass(frozen=True)
class Function:
    """address: as the file counts. is_exported: other objects can call it by its name.
    is_indirect: its address is chosen when the program starts (STT_GNU_IFUNC)."""

    name: str
    address: int
    size: int
    is_exported: bool = False
    is_indirect: bool = False


@dataclass(frozen=True)
class Segment:
    """Code as it lies in the file."""

    address: int
    data: bytes

    def at(self, address: int, size: int) -> bytes:
        begin = address - self.address
        return self.data[begin : begin + size] if 0 <= begin < len(self.data) else b""


class Code:
    """What one file has. `machine`: as EM_X86_64, "" if it is no readable ELF file."""

    def __init__(self, path: Path):
        self.path = path
        self.build_id = build_id(path)
        self.machine = ""
        self.functions: tuple[Function, ...] = ()
        self.imports: frozenset[str] = frozenset()
        self.rooms: tuple[int, ...] = ()
        self._segments: list[Segment] = []
        self._hook_stubs: frozenset[int] = frozenset()
        self._hook_slots: frozenset[int] = frozenset()
        with suppress(*BROKEN), opened(path) as elf:
            self._read(elf)

    def _read(self, elf: ELFFile) -> None:
        self.machine = str(elf["e_machine"])
        size = self.path.stat().st_size
        self._segments = [
            Segment(part["p_vaddr"], part.data())
            for part in elf.iter_segments()
            if part["p_type"] == "PT_LOAD" and part["p_flags"] & 1 and part["p_filesz"] <= size
        ]
        if not raw.is_known(elf):
            return
        self.functions, self.imports = _symbols(elf)
        if HOOK in self.imports:
            self._hook_slots = frozenset(_slots(elf, HOOK))
            self._hook_stubs = frozenset(_stubs(elf, self._hook_slots))
        self.rooms = tuple(sorted(set(_rooms(elf))))

    @cached_property
    def by_name(self) -> dict[str, list[Function]]:
        found: dict[str, list[Function]] = defaultdict(list)
        for one in self.functions:
            found[one.name].append(one)
        return found

    @cached_property
    def _starts(self) -> list[int]:
        return sorted({one.address for one in self.functions})

    @cached_property
    def _by_address(self) -> dict[int, Function]:
        """Of several names the one that others know, else the first."""
        ordered = sorted(self.functions, key=lambda one: (one.is_exported, one.name), reverse=True)
        found: dict[int, Function] = {}
        for one in ordered:
            before = found.get(one.address)
            if before is None or one.is_exported == before.is_exported:
                found[one.address] = one
        return found

    def at(self, address: int) -> Function | None:
        """The function that has this address."""
        place = bisect_right(self._starts, address) - 1
        one = self._by_address[self._starts[place]] if place >= 0 else None
        return one if one is not None and address < one.address + one.size else None

    def has_symbol_within(self, begin: int, end: int) -> bool:
        """Whether another function begins behind `begin` and before `end`."""
        return any(begin < one < end for one in self._starts)

    def bytes_of(self, address: int, size: int) -> bytes:
        for segment in self._segments:
            if data := segment.at(address, size):
                return data
        return b""

    def code_of(self, function: Function) -> bytes:
        return self.bytes_of(function.address, min(function.size, LARGEST_FUNCTION))

    def calls_hooks(self, function: Function) -> bool:
        """Whether it was built with -finstrument-functions: it calls the hook by its stub, or by
        its slot (-fno-plt)."""
        if HOOK not in self.imports:
            return False
        if self.machine != "EM_X86_64":
            return True
        code = self.code_of(function)
        calls = (
            ((b"\xe8", 1), self._hook_stubs),
            ((b"\xe9", 1), self._hook_stubs),
            ((b"\xff\x15", 2), self._hook_slots),
        )
        return any(
            _target(code, at + length, function.address) in targets
            for (opcode, length), targets in calls
            if targets
            for at in _places(code, opcode)
        )


def _places(code: bytes, opcode: bytes) -> Iterator[int]:
    at = code.find(opcode)
    while at >= 0:
        yield at
        at = code.find(opcode, at + 1)


def _target(code: bytes, at: int, address: int) -> int:
    """Where a distance of 32 bits leads that ends an instruction."""
    return address + at + 4 + int.from_bytes(code[at : at + 4], "little", signed=True)


def _symbols(elf: ELFFile) -> tuple[tuple[Function, ...], frozenset[str]]:
    """Functions, each name and address once; names of functions that others give."""
    found: dict[tuple[str, int], Function] = {}
    imports = set()
    for table in raw.symbol_tables(elf):
        is_dynamic = table.name == ".dynsym"
        for one in raw.symbols(elf, table):
            if not one.is_defined:
                if is_dynamic and one.section == raw.UNDEFINED:
                    imports.add(one.name)
                continue
            if one.kind == raw.NO_TYPE or not one.name:
                continue
            key = one.name, one.address
            before = found.get(key)
            is_exported = is_dynamic or (before is not None and before.is_exported)
            found[key] = Function(*key, one.size, is_exported, one.kind == raw.INDIRECT)
    return tuple(found.values()), frozenset(imports)


def _slots(elf: ELFFile, name: str) -> Iterator[int]:
    """Addresses of the slots that hold the address of an imported function."""
    kinds = _SLOTS.get(str(elf["e_machine"]), ())
    for section in raw.relocation_sections(elf):
        table = elf.get_section(section["sh_link"])
        if not isinstance(table, SymbolTableSection):
            continue
        numbers = raw.places_of(elf, table, name)
        for one in raw.relocations(elf, section):
            if one.kind in kinds and one.symbol in numbers:
                yield one.address


def _stubs(elf: ELFFile, slots: frozenset[int]) -> Iterator[int]:
    """Addresses of code that jumps through these slots, in sections of stubs (x86-64)."""
    for section in elf.iter_sections():
        if not section.name.startswith(".plt"):
            continue
        data, address = raw.data_of(elf, section), section["sh_addr"]
        size = section["sh_entsize"] if section["sh_entsize"] in STUBS else STUB
        for at in _places(data, b"\xff\x25"):
            if _target(data, at + 2, address) in slots:
                yield address + at // size * size


def _rooms(elf: ELFFile) -> Iterator[int]:
    """Where room was left. Files that may be loaded anywhere have the addresses in their
    relocations."""
    lists = [
        section
        for section in elf.iter_sections()
        if section.name in ROOM_LISTS and section["sh_size"] <= LARGEST_LIST
    ]
    if not lists:
        return
    relative = _RELATIVE.get(str(elf["e_machine"]))
    moved = {
        one.address: one.addend
        for section in raw.relocation_sections(elf)
        if section["sh_flags"] & ALLOCATED
        for one in raw.relocations(elf, section)
        if one.kind == relative
    }
    for section in lists:
        data = raw.data_of(elf, section)
        for at in range(0, len(data) - ADDRESS + 1, ADDRESS):
            value = int.from_bytes(data[at : at + ADDRESS], "little")
            if address := moved.get(section["sh_addr"] + at, value):
                yield address
