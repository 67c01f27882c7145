"""Instructions at a function's entry that do nothing: the room that compilers leave for patches
(x86-64)."""

from headrace.elf.code import Code, Function

MARK = b"\xf3\x0f\x1e\xfa"  # endbr64: where indirect calls may lead
JUMP = 5  # bytes
MOST = 32  # bytes of a patch's room
_NOPS = tuple(
    sorted(
        (
            b"\x90",
            b"\x66\x90",
            b"\x0f\x1f\x00",
            b"\x0f\x1f\x40\x00",
            b"\x0f\x1f\x44\x00\x00",
            b"\x66\x0f\x1f\x44\x00\x00",
            b"\x0f\x1f\x80\x00\x00\x00\x00",
            b"\x0f\x1f\x84\x00\x00\x00\x00\x00",
            b"\x66\x0f\x1f\x84\x00\x00\x00\x00\x00",
        ),
        key=len,
        reverse=True,
    )
)


def begin(code: bytes) -> int:
    """How many bytes lie before the first that may be changed."""
    return len(MARK) if code.startswith(MARK) else 0


def length_of(code: bytes, most: int = MOST) -> int:
    """Of the nops at the beginning of `code`, whole ones."""
    at = 0
    while nop := next((one for one in _NOPS if code.startswith(one, at)), b""):
        if at + len(nop) > most:
            break
        at += len(nop)
    return at


def room_of(code: Code, function: Function) -> tuple[int, int] | None:
    """Address and length of the nops at its entry; None if its compiler left no room there. Nops
    that lie before the entry are not run, and not counted."""
    data = code.bytes_of(function.address, len(MARK) + MOST)
    at = begin(data)
    listed = any(
        function.address <= one <= function.address + at or _leads_to(code, one, function.address)
        for one in code.rooms
    )
    return (function.address + at, _room(data[at:])) if listed else None


def _room(code: bytes) -> int:
    """GCC leaves nops of one byte; behind them may lie longer ones, which align a loop. Others
    leave longer ones only."""
    if not code.startswith(b"\x90"):
        return next((size for size in range(JUMP, MOST) if length_of(code, size) == size), 0)
    return min(MOST, len(code) - len(code.lstrip(b"\x90")))


def _leads_to(code: Code, room: int, entry: int) -> bool:
    """Whether only nops lie from a place to the entry behind it."""
    size = entry - room
    return 0 < size <= 4096 and length_of(code.bytes_of(room, size), size) == size
