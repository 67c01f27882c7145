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
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from headrace.elf.symbols import BROKEN, STUB_MARK, build_id, opened, stubs

HOOK = "__cyg_profile_func_enter"
# Sections in which compilers list where they left room.
ROOM_LISTS = ("__patchable_function_entries", "__mcount_loc")
LARGEST_LIST = 8 << 20
LARGEST_FUNCTION = 1 << 20
ADDRESS = 8  # bytes
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
        self._segments = [
            Segment(part["p_vaddr"], part.data())
            for part in elf.iter_segments()
            if part["p_type"] == "PT_LOAD" and part["p_flags"] & 1
        ]
        self.functions, self.imports = _symbols(elf)
        self._hook_stubs = frozenset(
            at for at, _, name in stubs(elf) if name == f"{HOOK}{STUB_MARK}"
        )
        self._hook_slots = frozenset(_slots(elf, HOOK))
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
    for section in elf.iter_sections():
        if not isinstance(section, SymbolTableSection):
            continue
        is_dynamic = section.name == ".dynsym"
        for symbol in section.iter_symbols():
            kind = symbol["st_info"]["type"]
            if symbol["st_shndx"] == "SHN_UNDEF":
                if is_dynamic and kind in ("STT_FUNC", "STT_NOTYPE", "STT_GNU_IFUNC"):
                    imports.add(symbol.name)
                continue
            if kind not in ("STT_FUNC", "STT_GNU_IFUNC", "STT_LOOS") or not symbol.name:
                continue
            key = symbol.name, symbol["st_value"]
            before = found.get(key)
            found[key] = Function(
                *key,
                symbol["st_size"],
                is_dynamic or (before is not None and before.is_exported),
                kind != "STT_FUNC",
            )
    return tuple(found.values()), frozenset(imports)


def _slots(elf: ELFFile, name: str) -> Iterator[int]:
    """Addresses of the slots that hold the address of an imported function."""
    kinds = _SLOTS.get(str(elf["e_machine"]), ())
    for section in elf.iter_sections():
        if not isinstance(section, RelocationSection):
            continue
        symbols = elf.get_section(section["sh_link"])
        if not isinstance(symbols, SymbolTableSection):
            continue
        for one in section.iter_relocations():
            number = one["r_info_sym"]
            if one["r_info_type"] in kinds and symbols.get_symbol(number).name == name:
                yield one["r_offset"]


def _rooms(elf: ELFFile) -> Iterator[int]:
    """Where room was left. Files that may be loaded anywhere have the addresses in their
    relocations."""
    relative = _RELATIVE.get(str(elf["e_machine"]))
    lists = [
        section
        for section in elf.iter_sections()
        if section.name in ROOM_LISTS and section["sh_size"] <= LARGEST_LIST
    ]
    moved: dict[int, int] = {}
    if lists:
        for section in elf.iter_sections():
            if isinstance(section, RelocationSection) and section["sh_flags"] & 2:
                moved |= {
                    one["r_offset"]: one["r_addend"]
                    for one in section.iter_relocations()
                    if one["r_info_type"] == relative and "r_addend" in one.entry
                }
    for section in lists:
        data = section.data()
        for at in range(0, len(data) - ADDRESS + 1, ADDRESS):
            value = int.from_bytes(data[at : at + ADDRESS], "little")
            if address := moved.get(section["sh_addr"] + at, value):
                yield address
