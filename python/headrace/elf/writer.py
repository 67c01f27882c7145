"""Writes a small ELF shared object without a compiler: what it needs, and forwarding functions.

The file has one segment to read and execute (headers, hash table, symbols, code) and one to write
(dynamic section, the addresses that the code jumps by). The tables are those of the ELF
specification; a forwarding function is the shortest one of each machine's calling convention.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

PAGE = 0x10000  # the largest page of these machines
HEADER_SIZE, PROGRAM_HEADER_SIZE, SYMBOL_SIZE, RELOCATION_SIZE, WORD = 64, 56, 24, 24, 8

PT_LOAD, PT_DYNAMIC, PT_GNU_STACK = 1, 2, 0x6474E551
READ, WRITE, EXECUTE = 4, 2, 1
DT_NULL, DT_NEEDED, DT_HASH, DT_STRTAB, DT_SYMTAB = 0, 1, 4, 5, 6
DT_RELA, DT_RELASZ, DT_RELAENT, DT_STRSZ, DT_SYMENT, DT_SONAME = 7, 8, 9, 10, 11, 14
DT_RUNPATH, DT_FLAGS_1, DF_1_NODELETE = 29, 0x6FFFFFFB, 8
STB_GLOBAL, STT_OBJECT, STT_FUNC = 1, 1, 2
UNDEFINED, DEFINED = 0, 1  # of section numbers: there are no sections
SEGMENT_COUNT = 4


def _jump_x86_64(place: int, slot: int) -> bytes:
    # endbr64; jmp *(slot - next)(%rip)
    return b"\xf3\x0f\x1e\xfa\xff\x25" + struct.pack("<i", slot - (place + 10))


def _jump_aarch64(place: int, slot: int) -> bytes:
    # bti c; adrp x16, page of slot; ldr x17, [x16, slot in page]; br x17
    pages = (slot >> 12) - ((place + 4) >> 12)
    adrp = 0x90000010 | (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5
    ldr = 0xF9400211 | (slot & 0xFFF) >> 3 << 10
    return struct.pack("<4I", 0xD503245F, adrp, ldr, 0xD61F0220)


@dataclass(frozen=True)
class Machine:
    """number: of e_machine; address: the relocation that stores a symbol's address; jump: code
    that jumps by the address in a slot, both places given."""

    number: int
    address: int
    jump: Callable[[int, int], bytes]


MACHINES = {
    "EM_X86_64": Machine(62, 6, _jump_x86_64),
    "EM_AARCH64": Machine(183, 1025, _jump_aarch64),
}
JUMP_SIZE = 16


@dataclass(frozen=True)
class SharedObject:
    """needed: in the order of look-up. forwards: names it defines, and the symbols they lead to,
    which are looked up when it is loaded. note: a name it defines, and the text found there."""

    soname: str
    needed: Sequence[str]
    runpath: str
    note: tuple[str, str]
    forwards: Mapping[str, str] = field(default_factory=dict)


class _Strings:
    """A string table, which begins with the empty string."""

    def __init__(self) -> None:
        self.data = b"\0"
        self._known: dict[str, int] = {}

    def add(self, text: str) -> int:
        if text not in self._known:
            self._known[text] = len(self.data)
            self.data += text.encode("utf-8", "surrogateescape") + b"\0"
        return self._known[text]


def _align(position: int, to: int) -> int:
    return -(-position // to) * to


def _hash(name: str) -> int:
    """The System V ABI's hash of a symbol's name."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high
    return value


def _hash_table(names: Sequence[str]) -> bytes:
    """DT_HASH over the symbols 1.. of these names: buckets, and chains by symbol."""
    bucket_count = max(1, len(names))
    buckets, chains = [0] * bucket_count, [0] * (len(names) + 1)
    for index, name in enumerate(names, 1):
        bucket = _hash(name) % bucket_count
        chains[index], buckets[bucket] = buckets[bucket], index
    words = [bucket_count, len(chains), *buckets, *chains]
    return struct.pack(f"<{len(words)}I", *words)


class _Layout:
    """Where each part lies in memory. Headers, tables and code come first; the data that are
    written to follow in the file, and one page further on in memory, where others' rights hold."""

    def __init__(self, content: SharedObject) -> None:
        self.count = len(content.forwards)
        # Symbols: nothing, the note, what is defined, what that leads to.
        self.names = [content.note[0], *content.forwards, *content.forwards.values()]
        self.hash_table = _hash_table(self.names)
        self.strings = _Strings()
        for text in (*self.names, *content.needed, content.soname, content.runpath):
            self.strings.add(text)
        self.note = content.note[1].encode("utf-8", "surrogateescape") + b"\0"

        self.hash_at = HEADER_SIZE + SEGMENT_COUNT * PROGRAM_HEADER_SIZE
        self.symbols_at = _align(self.hash_at + len(self.hash_table), WORD)
        self.strings_at = self.symbols_at + SYMBOL_SIZE * (len(self.names) + 1)
        self.note_at = self.strings_at + len(self.strings.data)
        self.relocations_at = _align(self.note_at + len(self.note), WORD)
        self.code_at = _align(self.relocations_at + RELOCATION_SIZE * self.count, JUMP_SIZE)
        self.code_end = self.code_at + JUMP_SIZE * self.count
        self.dynamic_at = _align(self.code_end, WORD) + PAGE
        self.dynamic_size = 2 * WORD * len(self.tags(content))
        self.slots_at = self.dynamic_at + self.dynamic_size
        self.end = self.slots_at + WORD * self.count

    def tags(self, content: SharedObject) -> list[tuple[int, int]]:
        tags = [(DT_NEEDED, self.strings.add(name)) for name in content.needed]
        tags += [(DT_SONAME, self.strings.add(content.soname))]
        tags += [(DT_RUNPATH, self.strings.add(content.runpath)), (DT_FLAGS_1, DF_1_NODELETE)]
        tags += [(DT_HASH, self.hash_at), (DT_SYMTAB, self.symbols_at), (DT_SYMENT, SYMBOL_SIZE)]
        tags += [(DT_STRTAB, self.strings_at), (DT_STRSZ, len(self.strings.data))]
        if self.count:
            tags += [(DT_RELA, self.relocations_at), (DT_RELASZ, RELOCATION_SIZE * self.count)]
            tags += [(DT_RELAENT, RELOCATION_SIZE)]
        return [*tags, (DT_NULL, 0)]

    def code_of(self, index: int) -> int:
        return self.code_at + JUMP_SIZE * index

    def slot_of(self, index: int) -> int:
        return self.slots_at + WORD * index


def shared_object(content: SharedObject, machine: Machine, flags: int) -> bytes:
    """The file's bytes, for a 64-bit little-endian machine; `flags` are its ELF header's."""
    layout = _Layout(content)
    dynamic = b"".join(struct.pack("<QQ", *tag) for tag in layout.tags(content))
    parts = [
        (0, _header(machine, flags) + _program_headers(layout)),
        (layout.hash_at, layout.hash_table),
        (layout.symbols_at, _symbols(layout)),
        (layout.strings_at, layout.strings.data),
        (layout.note_at, layout.note),
        (layout.relocations_at, _relocations(layout, machine)),
        (layout.code_at, _code(layout, machine)),
        (layout.dynamic_at - PAGE, dynamic),
    ]
    result = bytearray(layout.end - PAGE)
    for place, data in parts:
        result[place : place + len(data)] = data
    return bytes(result)


def _symbols(layout: _Layout) -> bytes:
    defined = [(STT_OBJECT, layout.note_at, len(layout.note))]
    defined += [(STT_FUNC, layout.code_of(index), JUMP_SIZE) for index in range(layout.count)]
    values = defined + [(STT_FUNC, 0, 0)] * layout.count
    result = bytes(SYMBOL_SIZE)
    for name, (kind, place, size) in zip(layout.names, values, strict=True):
        section = DEFINED if place else UNDEFINED
        text = layout.strings.add(name)
        result += struct.pack("<IBBHQQ", text, STB_GLOBAL << 4 | kind, 0, section, place, size)
    return result


def _relocations(layout: _Layout, machine: Machine) -> bytes:
    first = 2 + layout.count
    return b"".join(
        struct.pack("<QQq", layout.slot_of(index), first + index << 32 | machine.address, 0)
        for index in range(layout.count)
    )


def _code(layout: _Layout, machine: Machine) -> bytes:
    return b"".join(
        machine.jump(layout.code_of(index), layout.slot_of(index)).ljust(JUMP_SIZE, b"\0")
        for index in range(layout.count)
    )


def _header(machine: Machine, flags: int) -> bytes:
    identity = b"\x7fELF\2\1\1" + bytes(9)  # 64 bits, little-endian, version 1, System V
    shared = 3
    return identity + struct.pack(
        "<HHIQQQIHHHHHH",
        *(shared, machine.number, 1, 0, HEADER_SIZE, 0, flags),
        *(HEADER_SIZE, PROGRAM_HEADER_SIZE, SEGMENT_COUNT, 0, 0, 0),
    )


def _program_headers(layout: _Layout) -> bytes:
    dynamic = layout.dynamic_at
    segments = [
        (PT_LOAD, READ | EXECUTE, 0, 0, layout.code_end, PAGE),
        (PT_LOAD, READ | WRITE, dynamic - PAGE, dynamic, layout.end - dynamic, PAGE),
        (PT_DYNAMIC, READ | WRITE, dynamic - PAGE, dynamic, layout.dynamic_size, WORD),
        (PT_GNU_STACK, READ | WRITE, 0, 0, 0, 16),
    ]
    assert len(segments) == SEGMENT_COUNT
    return b"".join(
        struct.pack("<IIQQQQQQ", kind, flags, offset, place, place, size, size, alignment)
        for kind, flags, offset, place, size, alignment in segments
    )
