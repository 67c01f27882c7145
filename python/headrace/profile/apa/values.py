"""What an apa file says."""

from dataclasses import dataclass

IMPORT, HOOKS, NOPS, PROLOGUE = "import", "hooks", "nops", "prologue"
WAYS = (IMPORT, HOOKS, NOPS, PROLOGUE)
NO_WAY = "none"


@dataclass(frozen=True)
class Entry:
    """A function. name: the linker's. module: the path of its file, "" if any may have it.
    share: percent of the samples. size: bytes of its code. way: one of WAYS; NO_WAY: there is
    none; "": the best that there is. reason: why it is not traced, or how it may be. line: of the
    file, 0 if it is in none."""

    name: str
    module: str = ""
    share: float | None = None
    size: int | None = None
    way: str = ""
    trace: bool = True
    reason: str = ""
    line: int = 0


@dataclass(frozen=True)
class Apa:
    """program: its path. counters: a group, "" for none. hooks: trace all functions that were
    built with -finstrument-functions. prologues: functions may be patched at their first
    instructions."""

    program: str
    groups: tuple[str, ...] = ()
    counters: str = ""
    hooks: bool = False
    prologues: bool = False
    functions: tuple[Entry, ...] = ()
