"""Gives the variables of a stub library the several names that they have in the library itself.

A stub library tells a linker which symbols there are; Zig's have a variable for each name. libc's
list of variables has the names `environ`, `_environ` and `__environ`. A program that has a copy of
one of them, as programs have of the variables of libraries, must have all three: libc sets only the
one that it uses itself. A linker sees to that where weak names have the address of a strong one.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from devtool.failure import Failure

# Of a 64-bit table of symbols: the length of an entry, where it has binding and type, its address.
LENGTH, INFO, VALUE, VALUE_END = 24, 4, 8, 16
WEAK = 2  # of bindings
SYMBOL = re.compile(
    r"^\s*(\d+): ([0-9a-f]+)\s+\S+ (\w+)\s+(\w+)\s+\w+\s+(?:\[.*?\]\s+)?(\w+) ([^\s@]+)", re.M
)
TABLE = re.compile(r"\s\.dynsym\s+DYNSYM\s+[0-9a-f]+ ([0-9a-f]+) ")
COPIED = re.compile(r"\sR_\w+_COPY\s+[0-9a-f]+ ([^\s@]+)")


@dataclass(frozen=True)
class Symbol:
    """What an object defines and shows: number in its table, address, kind, binding, name."""

    number: int
    address: int
    kind: str
    binding: str
    name: str


def join_names(stub: Path, library: Path) -> list[list[str]]:
    """Changes `stub` so that a variable has the same names as in `library`. Returns the names of
    each that has several: the strong one, then the weak ones. Errors: Failure."""
    content = bytearray(stub.read_bytes())
    begin = int(TABLE.findall(_readelf("--sections", stub))[0], 16)
    known = {symbol.name: symbol for symbol in symbols(stub)}
    joined = []
    for strong, weak in names_of_variables(library):
        names = [name for name in (strong, *weak) if name in known]
        if len(names) < 2 or names[0] != strong:
            continue
        address = known[strong].address.to_bytes(8, sys.byteorder)
        for name in names[1:]:
            entry = begin + known[name].number * LENGTH
            content[entry + INFO] = WEAK << 4 | content[entry + INFO] & 15
            content[entry + VALUE : entry + VALUE_END] = address
        joined.append(names)
    stub.write_bytes(content)
    return joined


def lacking_names(program: Path, library: Path) -> list[str]:
    """Those that a program should show of the variables of `library` that it has a copy of: what
    the library sets by these is never seen in the copy. Errors: Failure."""
    copied = set(COPIED.findall(_readelf("--relocs", program)))
    own = {symbol.name for symbol in symbols(program)}
    names = [{strong, *weak} for strong, weak in names_of_variables(library)]
    return sorted(name for same in names if same & copied for name in same - own)


def names_of_variables(library: Path) -> Iterator[tuple[str, list[str]]]:
    """Of each variable of a library that has a strong name and weak ones: these."""
    found: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for symbol in symbols(library):
        if symbol.kind == "OBJECT":
            found[symbol.address][symbol.binding].append(symbol.name)
    for names in found.values():
        if len(names["GLOBAL"]) == 1 and names["WEAK"]:
            yield names["GLOBAL"][0], sorted(names["WEAK"])


def symbols(path: Path) -> Iterator[Symbol]:
    """Those that an object defines and shows. Errors: Failure."""
    for found in SYMBOL.finditer(_readelf("--dyn-syms", path)):
        number, address, kind, binding, section, name = found.groups()
        if section != "UND":
            yield Symbol(int(number), int(address, 16), kind, binding, name)


def _readelf(what: str, path: Path) -> str:
    command = ["readelf", "--wide", what, path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"readelf cannot read {path.name}", done.stderr.strip(), "build it anew")
    return done.stdout
