"""Calls of traced functions pass through code that must leave registers of vectors alone."""

from __future__ import annotations

import platform
import re
import subprocess
from pathlib import Path

import pytest
from test_library import LIBRARY

BUILD = LIBRARY.resolve().parents[1] / "CMakeFiles"
OBJECTS = {
    "enter": BUILD / "headrace_trace.dir" / "src" / "trace" / "enter.cc.o",
    "path_trie": BUILD / "headrace_record.dir" / "src" / "record" / "path_trie.cc.o",
}
VECTORS = re.compile(r"%[xyz]mm\d+|%mm\d|\bst\(\d\)")
# What enter.cc may call: itself, what is compiled in the same way, the clock that is read where the
# registers are saved, and what begin_slowly() calls there.
CALLED = re.compile(
    r"ThreadTrace::|PathTrie::find_further|CallPaths::|clock_gettime|_GLOBAL_OFFSET_TABLE_|"
    r"functions$|headrace_trace_returned|trampoline_return|is_switched_off|has_steady_counter|process_number|syscall$|typeinfo|vtable|gxx_personality"
)

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or not OBJECTS["enter"].exists(),
    reason="not x86-64, or another build",
)


def run(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", OBJECTS)
def test_uses_no_registers_of_vectors(name: str) -> None:
    code = run("objdump", "-d", "--no-show-raw-insn", OBJECTS[name])
    assert "ret" in code
    used = [line.strip() for line in code.splitlines() if VECTORS.search(line)]
    assert not used, "\n".join(used[:10])


def test_calls_only_what_it_may() -> None:
    needed = run("nm", "-uC", OBJECTS["enter"])
    names = [line.split(maxsplit=1)[1] for line in needed.splitlines()]
    wrong = [name for name in names if not CALLED.search(name)]
    assert not wrong
