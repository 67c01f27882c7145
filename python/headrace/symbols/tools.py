"""Asks addr2line or llvm-symbolizer for functions, lines and inlined frames."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SECONDS = 60
UNKNOWN = "??"
# The better one first. Both print for each address: it, then for each frame function and file:line.
# Names stay as they are: what some stand for would take all memory (demangler.py).
TOOLS = {
    "llvm-symbolizer": ("--output-style=GNU", "--addresses", "--inlines", "--no-demangle", "--obj"),
    "addr2line": ("--addresses", "--functions", "--inlines", "--exe"),
}


@dataclass(frozen=True)
class Line:
    """A function, or one that was inlined into the next. `file` empty and `line` 0: unknown."""

    function: str
    file: str = ""
    line: int = 0


def find() -> tuple[str, str] | None:
    """The name and the path of a tool of this machine."""
    for name in TOOLS:
        path = shutil.which(name)
        if path:
            return name, path
    return None


def ask(tool: tuple[str, str], module: Path, addresses: Sequence[int]) -> dict[int, list[Line]]:
    """The frames at each address, the innermost first. Nothing where the tool fails."""
    name, path = tool
    *options, file_option = TOOLS[name]
    file = [f"{file_option}={module}"]
    environ = {key: text for key, text in os.environ.items() if not key.startswith("DEBUGINFOD")}
    try:
        done = subprocess.run(
            [path, *options, *file],
            input="".join(f"{address:#x}\n" for address in addresses),
            capture_output=True,
            text=True,
            errors="backslashreplace",
            check=False,
            timeout=SECONDS,
            env=environ,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return understand(done.stdout) if done.returncode == 0 else {}


def understand(output: str) -> dict[int, list[Line]]:
    found: dict[int, list[Line]] = {}
    frames: list[Line] = []
    function = None
    for text in output.splitlines():
        if function is None and text.startswith("0x"):
            frames = found.setdefault(int(text, 16), [])
        elif not text:
            continue
        elif function is None:
            function = text
        else:
            frames.append(_line(function, text))
            function = None
    return found


def _line(function: str, place: str) -> Line:
    place = place.split(" (discriminator")[0]
    file, _, rest = place.rpartition(":")
    if rest.isdigit() and ":" in file and file.rpartition(":")[2].isdigit():  # and a column
        file, _, rest = file.rpartition(":")
    known = not file.startswith(UNKNOWN) and rest.isdigit() and int(rest) > 0
    name = "" if function.startswith(UNKNOWN) else function
    return Line(name, file, int(rest)) if known else Line(name)
