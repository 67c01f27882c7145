"""What ./dev package says of a binary that would not run on older systems. Builds nothing:
test_package.py looks at the package itself."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import source_tree

from devtool import symbol_versions
from devtool.failure import Failure

RELEASE = source_tree.ROOT / "build" / "release" / "lib" / "libheadrace.so"
# As `objdump -pT` lists a binary, cut short.
LISTING = """
Dynamic Section:
  NEEDED               libgcc_s.so.1
  NEEDED               libc.so.6
  NEEDED               {library}

Version References:
  required from libgcc_s.so.1:
    0x0b792650 0x00 05 {libgcc}
  required from libc.so.6:
    0x09691a75 0x00 02 GLIBC_2.2.5
    0x069691b4 0x00 06 {glibc}

DYNAMIC SYMBOL TABLE:
0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.2.5) write
0000000000000000      DF *UND*\t0000000000000000 ({glibc}) dlsym
0000000000000000      DF *UND*\t0000000000000000 ({libgcc}) _Unwind_Resume
0000000000000000  w   D  *UND*\t0000000000000000  Base        __gmon_start__
"""


def lacking(
    glibc: str = "GLIBC_2.28", libgcc: str = "GCC_3.0", library: str = "libmpi.so.12"
) -> list:
    needs = symbol_versions.needs(LISTING.format(glibc=glibc, libgcc=libgcc, library=library))
    return symbol_versions.too_new(needs, "2.28", ["libmpi.so.12"])


def test_what_old_systems_have_passes() -> None:
    assert lacking() == []
    assert lacking(glibc="GLIBC_2.3.4", libgcc="GCC_7.0.0", library="libm.so.6") == []


@pytest.mark.parametrize("version", ["GLIBC_2.29", "GLIBC_2.34", "GLIBC_PRIVATE", "GLIBCXX_3.4"])
def test_a_later_symbol_is_named_with_its_version(version: str) -> None:
    assert lacking(glibc=version) == [f"{version} (dlsym)"]


def test_a_later_libgcc_is_named() -> None:
    assert lacking(libgcc="GCC_12.0.0") == ["GCC_12.0.0 (_Unwind_Resume)"]


def test_a_version_without_a_symbol_counts() -> None:
    needs = symbol_versions.Needs((), {"GLIBC_ABI_DT_RELR": ()})
    assert symbol_versions.too_new(needs, "2.28", []) == ["GLIBC_ABI_DT_RELR"]


def test_a_library_that_is_not_everywhere_is_named() -> None:
    assert lacking(library="libstdc++.so.6") == ["libstdc++.so.6"]


def test_the_build_for_this_system_is_no_package(tmp_path: Path) -> None:
    """Real binaries are read: what build/release has needs this system's glibc."""
    assert RELEASE.is_file(), f"{RELEASE} is missing, run ./dev build"
    (tmp_path / "lib").mkdir()
    shutil.copy(RELEASE, tmp_path / "lib")
    with pytest.raises(Failure, match=r"lib/libheadrace\.so needs GLIBC_2\.\d+ \(\w+"):
        symbol_versions.check(tmp_path, "2.4", [])
    assert symbol_versions.check(tmp_path, "2.99", []) == ["lib/libheadrace.so"]


def test_a_package_without_a_binary_is_none(tmp_path: Path) -> None:
    (tmp_path / "README").write_text("text")
    with pytest.raises(Failure, match="no binary"):
        symbol_versions.check(tmp_path, "2.28", [])
