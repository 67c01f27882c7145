"""The kinds of MPI libraries that Headrace carries, and how one is told from the others."""

import re
from pathlib import Path

from headrace.elf.facts import defines, read_facts

# Kinds as users name them, and the standard ABI, which several kinds may have besides their own.
KINDS = ("mpich", "openmpi", "intel")
STANDARD_ABI = "abi"

# How each kind of MPI is told from the others, by a symbol only it exports; first match wins.
MARKERS = (
    ("ompi_mpi_comm_world", "openmpi"),
    ("I_MPI_Check_image_status", "intel"),
)
MPICH_SONAME = re.compile(r"libmpi(ch)?(_\w+)?\.so\.12(\.|$)")
ABI_SONAME = re.compile(r"libmpi_abi\.so\.\d+")
LIBRARY_PATTERN = re.compile(r"lib(p?mpi|mpich|mpi_\w+)\.so(\.|$)")

TITLES = {"mpich": "MPICH", "openmpi": "Open MPI", "intel": "Intel MPI"}


def kind_of(library: Path) -> str | None:
    """Which MPI a libmpi is, or None for one that Headrace does not carry."""
    for symbol, kind in MARKERS:
        if defines(library, symbol):
            return kind
    facts = read_facts(library)
    if facts and any(name.startswith("libopen-pal.so") for name in facts.needed):
        return "openmpi"
    soname = (facts and facts.soname) or library.name
    return "mpich" if MPICH_SONAME.match(soname) or ABI_SONAME.match(soname) else None


def is_mpi_library(path: Path) -> bool:
    return defines(path, "PMPI_Init")


def uses_standard_abi(soname: str) -> bool:
    return ABI_SONAME.match(soname) is not None
