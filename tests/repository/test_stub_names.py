"""What a program has of a C library's variable that has several names: all of them, or what the
library sets is not seen in the program. Builds no package: test_package.py starts its programs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from devtool import old_glibc, stub_names

NAMES = ["__environ", "_environ", "environ"]
# As Zig makes it: a variable for each name, each of them strong.
STUB = "".join(f"char** {name};\n" for name in NAMES)
PROGRAM = "extern char** environ;\nint start(void) { return environ == 0; }\n"
OPTIONS = ["-nostdlib", "-fno-builtin", "-Wl,-soname,libc.so.6"]


@pytest.fixture
def libc() -> Path:
    return old_glibc.found_by_compiler("libc.so.6")


@pytest.fixture
def stub(tmp_path: Path) -> Path:
    return compiled(tmp_path / "libc.so.6", STUB, *OPTIONS, "-shared", "-fPIC")


def compiled(target: Path, text: str, *options: str | Path) -> Path:
    source = target.with_name(f"{target.name}.c")
    source.write_text(text)
    subprocess.run(["gcc", source, *options, "-o", target], check=True)
    return target


def linked(stub: Path) -> Path:
    """A program with a copy of `environ`."""
    options = ["-nostdlib", "-no-pie", "-fno-pie", "-Wl,-e,start", stub]
    return compiled(stub.with_name("program"), PROGRAM, *options)


def test_a_copy_with_one_name_is_found(stub: Path, libc: Path) -> None:
    assert stub_names.lacking_names(linked(stub), libc) == ["__environ", "_environ"]


def test_a_program_has_all_names_after_they_were_joined(stub: Path, libc: Path) -> None:
    assert stub_names.join_names(stub, libc) == [NAMES]
    assert len({symbol.address for symbol in stub_names.symbols(stub)}) == 1
    program = linked(stub)
    assert sorted(symbol.name for symbol in stub_names.symbols(program)) == NAMES
    assert stub_names.lacking_names(program, libc) == []


def test_a_program_without_copies_lacks_nothing(stub: Path, libc: Path) -> None:
    assert stub_names.lacking_names(stub, libc) == []
