"""Whether the first instructions of a function may be replaced by a jump, and be executed elsewhere
(x86-64). The whole function is disassembled, by capstone."""

import importlib
from dataclasses import dataclass
from functools import cache

from headrace.elf.code import LARGEST_FUNCTION, Code, Function
from headrace.elf.nops import JUMP, begin

LEAST_SIZE = 16  # bytes
MOST_MOVED = 32
NO_CAPSTONE = "nothing can disassemble it: pip install capstone"
_TERMINATED = ("ud2", "hlt")


@dataclass(frozen=True)
class Prologue:
    """offset: of the first byte that changes; moved: whole instructions. refusal: why it may not be
    done; "": it may."""

    offset: int = 0
    moved: bytes = b""
    refusal: str = ""


@cache
def is_known() -> bool:
    """Whether capstone is installed, with its library."""
    try:
        return bool(importlib.import_module("capstone").cs_version())
    except (ImportError, OSError, AttributeError):
        return False


def prologue_of(code: Code, function: Function) -> Prologue:
    reason = _refusal_of_kind(code, function)
    if reason:
        return Prologue(refusal=reason)
    data = code.code_of(function)
    if len(data) < function.size:
        return Prologue(refusal="its code is not in the file")
    return _decided(code, function, data)


def _refusal_of_kind(code: Code, function: Function) -> str:
    if code.machine != "EM_X86_64":
        return "first instructions are patched on x86-64 only"
    if not is_known():
        return NO_CAPSTONE
    if function.is_indirect:
        return "its address is chosen when the program starts (IFUNC)"
    if function.size < LEAST_SIZE:
        return f"it has {function.size} bytes, and needs {LEAST_SIZE}"
    if function.size > LARGEST_FUNCTION:
        return f"it is larger than {LARGEST_FUNCTION >> 20} MiB"
    if code.has_symbol_within(function.address, function.address + function.size):
        return "another function begins within it"
    return ""


def _decided(code: Code, function: Function, data: bytes) -> Prologue:
    import capstone  # optional, and costly to load

    engine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    engine.detail = True
    at = function.address + begin(data)
    end = function.address + function.size
    moved = 0
    targets: set[int] = set()
    last = at
    for one in engine.disasm(data[at - function.address :], at):
        last = one.address + one.size
        if moved < JUMP:
            if reason := _why_not_moved(one):
                return Prologue(refusal=reason)
            moved += one.size
        if reason := _add_target(one, targets, function.address):
            return Prologue(refusal=reason)
    if last < end and data[last - function.address :].strip(b"\0"):
        return Prologue(refusal="not all of its code can be disassembled")
    for part in _cold_parts(code, function):
        for one in engine.disasm(code.code_of(part), part.address):
            _add_target(one, targets, function.address)
    if moved < JUMP or moved > MOST_MOVED:
        return Prologue(refusal="its first instructions are too short or too long")
    if any(at < target < at + moved for target in targets):
        return Prologue(refusal="it jumps back into its first instructions")
    if at in targets or function.address in targets:
        return Prologue(refusal="a loop in it begins at its first instruction")
    return Prologue(at, data[at - function.address : at - function.address + moved])


def _cold_parts(code: Code, function: Function) -> list[Function]:
    """Its pieces elsewhere, which jump back into it."""
    return [
        part
        for name, parts in code.by_name.items()
        if name.startswith(f"{function.name}.cold")
        for part in parts
    ]


def _why_not_moved(one) -> str:
    """Why an instruction cannot be executed elsewhere."""
    from capstone import x86

    if any(one.group(group) for group in _groups()) or one.mnemonic in _TERMINATED:
        return f"it branches in its first {JUMP} bytes ({one.mnemonic})"
    if one.mnemonic.startswith("endbr"):
        return "it may be entered by another instruction than its first (endbr64)"
    if any(
        own.type == x86.X86_OP_MEM and own.mem.base in (x86.X86_REG_RIP, x86.X86_REG_EIP)
        for own in one.operands
    ):
        return f"its first instructions depend on where they lie ({one.mnemonic})"
    if one.mnemonic in ("syscall", "sysenter"):
        return "it begins with a system call"
    return ""


def _groups() -> tuple[int, ...]:
    from capstone import x86

    return (
        *(x86.X86_GRP_JUMP, x86.X86_GRP_CALL, x86.X86_GRP_RET, x86.X86_GRP_INT),
        *(x86.X86_GRP_IRET, x86.X86_GRP_BRANCH_RELATIVE),
    )


def _add_target(one, targets: set[int], entry: int) -> str:
    """Takes where a jump leads. Returns why the function is refused."""
    from capstone import x86

    is_call = one.group(x86.X86_GRP_CALL)
    branches = (x86.X86_GRP_CALL, x86.X86_GRP_JUMP, x86.X86_GRP_BRANCH_RELATIVE)
    if not any(map(one.group, branches)):
        return ""
    own = one.operands[-1] if one.operands else None
    if own is not None and own.type == x86.X86_OP_IMM:
        # A call of itself may lead to the patch.
        if not (is_call and own.imm == entry):
            targets.add(own.imm)
        return ""
    if is_call or (own is not None and own.type == x86.X86_OP_MEM and _is_slot(own)):
        return ""
    return "it has a jump whose target is not known (a table of a switch, or a tail call)"


def _is_slot(own) -> bool:
    """jmp *NAME@GOT(%rip): a tail call of another function."""
    from capstone import x86

    return own.mem.base == x86.X86_REG_RIP and own.mem.index == 0
