"""Call paths by the names of their functions, so that those of two builds can be matched."""

import re
from pathlib import PurePosixPath

from headrace.analysis.analyse import Site
from headrace.analysis.paths import Frame
from headrace.symbols.resolver import Symbols, program_frames

# A procedure and the functions that led to it, the innermost first.
Key = tuple[str, tuple[str, ...]]

# What compilers append to the names of copies that they make of functions.
_CLONE = re.compile(r"(\.(constprop|isra|part|cold|lto_priv|llvm)(\.\d+)?)+$")
_CLONE_SHOWN = re.compile(r"( \[clone [^\]]*\])+$")
# Where programs begin. What called them is the system's, and differs between systems.
_OUTERMOST = "main"


def key_of(site: Site, symbols: Symbols) -> Key:
    """Lines are left out: they move with every edit. Calls of one procedure by one function from
    one place are therefore one. An address that has no name counts with its build: in another
    build something else may lie there."""
    names = [name for frame in program_frames(site.frames) for name in _names(frame, symbols)]
    if _OUTERMOST in names:
        names = names[: len(names) - names[::-1].index(_OUTERMOST)]
    return site.procedure, tuple(names)


def _names(frame: Frame, symbols: Symbols) -> list[str]:
    """Several where functions were inlined."""
    if frame.function or frame in symbols.lines:
        return [_plain(line.function) for line in symbols.of(frame)]
    module = PurePosixPath(frame.module).name or "?"
    build = f" ({frame.build_id[:8]})" if frame.build_id else ""
    return [f"{module}+{frame.offset:#x}{build}"]


def _plain(name: str) -> str:
    return _CLONE_SHOWN.sub("", _CLONE.sub("", name))
