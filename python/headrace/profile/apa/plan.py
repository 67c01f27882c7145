"""What is to be traced -> the plan that the library reads, and what cannot be traced, and why."""

import contextlib
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from headrace.elf.code import Function
from headrace.errors import HeadraceError, unwritable
from headrace.profile.apa.values import IMPORT, PROLOGUE, Apa, Entry
from headrace.profile.apa.ways import NOT_BUILT, Choice, Modules, choices, escaped, files_of
from headrace.texts import shown

LARGEST = 1 << 20  # bytes that the library reads
MOST_OF_A_NAME = 16
MOST_REFUSED = 1000  # that the record has
MOST_SHOWN = 300  # characters of what is refused
PLAN = "plan"
HEAD = "# What to trace, for the library. headrace profile made it for one run.\n"


@dataclass(frozen=True)
class Refusal:
    """A function that is not traced."""

    name: str
    module: str
    reason: str


@dataclass(frozen=True)
class Plan:
    """text: for the library, with what is refused, so that the record has it. functions: how many
    are traced."""

    text: str
    functions: int
    refused: tuple[Refusal, ...]

    @property
    def is_empty(self) -> bool:
        return self.functions == 0


def plan_of(apa: Apa) -> Plan:
    """Raises HeadraceError if it is longer than the library reads."""
    wanted = [one for one in apa.functions if one.trace]
    modules = Modules(_files(apa))
    refused: list[Refusal] = []
    lines: dict[str, None] = {}
    if apa.hooks:
        lines["hooks * 0 *"] = None
    for module, own in _by_module(wanted, apa.program).items():
        for entry, found in _of_module(modules, module, own, apa.prologues):
            if isinstance(found, str):
                refused.append(Refusal(entry.name, module, found))
            else:
                lines.update(dict.fromkeys(found))
    text = HEAD + "".join(f"{line}\n" for line in lines)
    if len(text.encode()) > LARGEST:
        raise HeadraceError(
            f"{len(lines):,} functions are too many to be traced",
            f"their plan has {len(text.encode()):,} bytes, and the library reads {LARGEST:,}",
            "write trace = false for those that matter less",
        )
    told = "".join(map(_told, refused[:MOST_REFUSED]))
    fits = len(text.encode()) + len(told) <= LARGEST
    return Plan(text + told if fits else text, len(lines), tuple(refused))


def _told(one: Refusal) -> str:
    """A line of the plan. An unknown module is %."""
    words = (escaped(word[:MOST_SHOWN]) for word in (one.name, one.reason))
    return f"refused {escaped(one.module) or '%'} {' '.join(words)}\n"


def _files(apa: Apa) -> Iterable[str]:
    """All that may call others: those of the file, and the program with its libraries."""
    named = [one.module for one in apa.functions if one.module]
    return dict.fromkeys((*files_of(apa.program), *named))


def _by_module(wanted: Iterable[Entry], program: str) -> dict[str, list[Entry]]:
    found: dict[str, list[Entry]] = defaultdict(list)
    for one in wanted:
        found[one.module or program].append(one)
    return found


def _of_module(
    modules: Modules, module: str, entries: Iterable[Entry], prologues: bool
) -> Iterable[tuple[Entry, list[str] | str]]:
    """Each with its lines of the plan, or why there are none."""
    code = modules.code(module) if module else None
    functions: dict[Entry, list[Function]] = {}
    for entry in entries:
        if code is None or not code.machine:
            yield entry, _unreadable(entry, module)
            continue
        found = {one.address: one for one in code.by_name.get(entry.name, ())}
        functions[entry] = list(found.values())[:MOST_OF_A_NAME]
    flat = list(dict.fromkeys(one for own in functions.values() for one in own))
    ways = choices(modules, module, flat, prologues) if flat else {}
    for entry, own in functions.items():
        if not own:
            is_elsewhere = entry.way == IMPORT and not entry.module
            nowhere = f"there is no function of this name in {shown(module)}"
            yield entry, _unreadable(entry, "") if is_elsewhere else nowhere
            continue
        chosen = [_chosen(ways[one], entry.way) for one in own]
        lines = [one.line for one in chosen if not one.refusal]
        yield entry, lines or chosen[0].refusal


def _unreadable(entry: Entry, module: str) -> list[str] | str:
    """Of a function whose file is not known, or cannot be read: by its name alone it can still be
    traced where other files call it."""
    is_plain = entry.name.isascii() and entry.name.isprintable() and " " not in entry.name
    if entry.way == IMPORT and is_plain:
        return [f"import {entry.name}"]
    if not module:
        return "the file names neither its module nor the program"
    return f"{shown(module)} is not on this machine, or is no ELF file"


def _chosen(own: Iterable[Choice], way: str) -> Choice:
    """The way that was asked for; else the best. Of refusals, that which says most."""
    tried = [one for one in own if not way or one.way == way]
    usable = next((one for one in tried if not one.refusal), None)
    if usable is not None:
        return usable
    telling = [one for one in tried if not one.refusal.startswith(NOT_BUILT)]
    last = next((one for one in telling if one.way == PROLOGUE), None)
    return next((one for one in telling if one.way not in (IMPORT, PROLOGUE)), last or tried[-1])


def write(folder: Path, name: str, plan: Plan) -> Path:
    """A file in a directory of its own, since the library takes none from where others may write.
    Raises HeadraceError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = Path(tempfile.mkdtemp(prefix=f"{name}.trace-", dir=folder)) / PLAN
    except OSError as error:
        remedy = "set HEADRACE_LOGPATH to another directory"
        raise unwritable(folder / name, error, remedy) from error
    try:
        path.write_text(plan.text, encoding="ascii")
        path.chmod(0o600)
    except OSError as error:
        remove(path)
        raise unwritable(path, error, "set HEADRACE_LOGPATH to another directory") from error
    return path


def remove(path: Path) -> None:
    """What `write` has made."""
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        path.parent.rmdir()
