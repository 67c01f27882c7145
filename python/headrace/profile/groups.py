"""Groups of functions that can be traced: which function is in which, and what users ask for."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from headrace.profile.generated.trace_groups import GROUPS, NEVER, NOT_TRACED, PATTERNS, SETS

KNOWN = ", ".join((*GROUPS, *SETS))


def group_of(function: str, library: str) -> str:
    """The first group that has it; "": none. library: the name of the file that defines it."""
    for group, (functions, libraries) in PATTERNS.items():
        if libraries and not library.startswith(libraries):
            continue
        if any(fnmatchcase(function, pattern) for pattern in functions):
            return group
    return ""


def is_never_traced(function: str) -> bool:
    """It looks at its caller's frame, returns twice, or is counted elsewhere."""
    return any(fnmatchcase(function, pattern) for pattern in NEVER)


def problem_of(name: str) -> tuple[str, str] | None:
    """Why a name stands for no group that is traced, and what to do."""
    if name in NOT_TRACED:
        return NOT_TRACED[name], "leave it out"
    if name in GROUPS or name in SETS:
        return None
    return "there is no such group", f"use {KNOWN}"


def has_group(names: Iterable[str], group: str) -> bool:
    """Whether the names, which may be those of sets, have it."""
    return any(group == name or group in SETS.get(name, ()) for name in names)
