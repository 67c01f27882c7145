"""How a function can be traced: the lines of the plan for the library, or why there is none."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from headrace.elf.arguments import Arguments, arguments_of
from headrace.elf.code import Code, Function
from headrace.elf.facts import read_facts
from headrace.elf.loader import Loader
from headrace.elf.nops import JUMP, room_of
from headrace.elf.prologue import prologue_of
from headrace.profile.apa.values import HOOKS, IMPORT, NOPS, PROLOGUE
from headrace.profile.groups import is_never_traced

LONGEST_NAME = 2048
NOT_BUILT = "it was built without"
NOT_ASKED = "it needs its first instructions patched: give --prologues"
# Libraries whose functions work while others are traced, or by rules of their own.
_UNTOUCHED = (
    *("libheadrace", "libmpi", "libpmpi", "ld-linux", "ld64", "ld-2", "libc.so", "libc-"),
    *("libpthread", "libdl.so", "librt.so", "libgcc_s"),
)


@dataclass(frozen=True)
class Choice:
    """line: of the plan. refusal: why it cannot be traced in this way; "": it can."""

    way: str
    line: str = ""
    refusal: str = ""


class Modules:
    """Files of a process, each read once."""

    def __init__(self, paths: Iterable[str]):
        self._codes: dict[str, Code] = {}
        self._paths = list(dict.fromkeys(paths))

    @property
    def paths(self) -> Sequence[str]:
        return self._paths

    def code(self, path: str) -> Code:
        if path not in self._codes:
            self._codes[path] = Code(Path(path))
        return self._codes[path]

    @cached_property
    def _imports(self) -> dict[str, set[str]]:
        """Files by the names that they import."""
        found: dict[str, set[str]] = {}
        for path in self._paths:
            for name in self.code(path).imports:
                found.setdefault(name, set()).add(path)
        return found

    def is_called_from_outside(self, path: str, function: Function) -> bool:
        """Whether another file imports it."""
        return function.is_exported and bool(self._imports.get(function.name, set()) - {path})


def files_of(program: str) -> list[str]:
    """A program and the libraries that the loader gives it here; nothing of no program."""
    facts = read_facts(Path(program)) if Path(program).is_absolute() else None
    if facts is None:
        return []
    needed = Loader(os.environ).closure(facts)
    return [program, *(str(one.path) for one in needed if one.path is not None)]


def choices(
    modules: Modules, path: str, functions: Sequence[Function], prologues: bool
) -> dict[Function, tuple[Choice, ...]]:
    """All ways of each, the best first. prologues: whether the last one is looked into."""
    code = modules.code(path)
    rooms = {one: room_of(code, one) for one in functions}
    asked = {
        one.address: one.name
        for one in functions
        if _refusal(code, one) == "" and (prologues or rooms[one] is not None)
    }
    arguments = arguments_of(code.path, asked) if asked and not _is_untouched(path) else {}
    return {
        one: _ordered(modules, path, one, rooms[one], arguments, prologues) for one in functions
    }


def _ordered(
    modules: Modules,
    path: str,
    function: Function,
    room: tuple[int, int] | None,
    arguments: Mapping[int, Arguments],
    prologues: bool,
) -> tuple[Choice, ...]:
    code = modules.code(path)
    if reason := _refusal(code, function):
        return tuple(Choice(way, refusal=reason) for way in (IMPORT, HOOKS, NOPS, PROLOGUE))
    imported = _import(modules, path, function)
    if _is_untouched(path):
        why = "functions of this library are traced by slots only"
        return (imported, *(Choice(way, refusal=why) for way in (HOOKS, NOPS, PROLOGUE)))
    known = arguments.get(function.address, Arguments())
    return (
        _hooks(code, function),
        _nops(code, function, room, known),
        imported,
        _prologue(code, function, known) if prologues else Choice(PROLOGUE, refusal=NOT_ASKED),
    )


def _refusal(code: Code, function: Function) -> str:
    if is_never_traced(function.name):
        return "it looks at its caller, returns twice, or is counted elsewhere"
    name = function.name
    if not name.isprintable() or " " in name or not name.isascii() or len(name) > LONGEST_NAME:
        return "its name has characters that no plan can have"
    if not code.machine:
        return "its file cannot be read"
    return ""


def _is_untouched(path: str) -> bool:
    return Path(path).name.startswith(_UNTOUCHED)


def _import(modules: Modules, path: str, function: Function) -> Choice:
    if modules.is_called_from_outside(path, function):
        return Choice(IMPORT, f"import {function.name}")
    return Choice(IMPORT, refusal="no other file calls it")


def _hooks(code: Code, function: Function) -> Choice:
    if not code.calls_hooks(function):
        return Choice(HOOKS, refusal=f"{NOT_BUILT} -finstrument-functions")
    return Choice(HOOKS, f"hooks {_module(code)} {function.address:x} {function.name}")


def _nops(code: Code, function: Function, room: tuple[int, int] | None, known: Arguments) -> Choice:
    if room is None:
        return Choice(NOPS, refusal=f"{NOT_BUILT} -fpatchable-function-entry")
    if code.machine != "EM_X86_64":
        return Choice(NOPS, refusal="nops are patched on x86-64 only")
    at, length = room
    if length < JUMP:
        why = f"its compiler left {length} bytes behind its entry; build with"
        return Choice(NOPS, refusal=f"{why} -fpatchable-function-entry={JUMP}")
    if known.refusal:
        return Choice(NOPS, refusal=known.refusal)
    line = f"nops {_module(code)} {at:x} {length} {known.stack} {function.name}"
    return Choice(NOPS, line)


def _prologue(code: Code, function: Function, known: Arguments) -> Choice:
    made = prologue_of(code, function)
    if reason := made.refusal or known.refusal:
        return Choice(PROLOGUE, refusal=reason)
    fields = f"{_module(code)} {made.offset:x} {known.stack} {made.moved.hex()}"
    return Choice(PROLOGUE, f"prologue {fields} {function.name}")


def _module(code: Code) -> str:
    if code.build_id:
        return code.build_id.lower()
    return "path:" + escaped(str(code.path.absolute()))


def escaped(text: str) -> str:
    """As one word of the plan."""
    return "".join(
        f"%{byte:02x}" if byte <= 0x20 or byte == 0x25 or byte >= 0x7F else chr(byte)
        for byte in text.encode("utf-8", "surrogateescape")
    )
