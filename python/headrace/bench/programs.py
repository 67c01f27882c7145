"""The benchmark programs: where they are, and which one belongs to which MPI."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from headrace.errors import HeadraceError
from headrace.mpi.kinds import KINDS, STANDARD_ABI
from headrace.places import PACKAGE_DIRECTORY, checkout_directory

NAMES = ("checkpoint", "ior", "irregular", "lattice", "overlap", "strided", "tile")

DEFAULT_RANKS = {name: 2 for name in NAMES} | {"overlap": 1, "strided": 4}

# MPI -> suffix of the programs built for its ABI.
SUFFIXES = {"mpich": "mpich", "intel": "mpich", "openmpi": "openmpi", STANDARD_ABI: "mpiabi"}

ALL = "all"
CHOICES = (*KINDS, STANDARD_ABI, ALL)


def kinds_of(wanted: str) -> tuple[str, ...]:
    """The MPIs that a value of --mpi stands for."""
    return KINDS if wanted == ALL else (wanted,)


def folders(environ: Mapping[str, str]) -> list[Path]:
    """Places of the programs, best first: HEADRACE_BENCH_PATH, installed, the checkout's build."""
    override = environ.get("HEADRACE_BENCH_PATH")
    if override:
        return [Path(override).absolute()]
    places = [PACKAGE_DIRECTORY / "bin"]
    root = checkout_directory()
    if root is not None:
        places.append(root / "build" / "release" / "bench" / "bin")
    return places


def find_program(name: str, kind: str, environ: Mapping[str, str] = os.environ) -> Path:
    """The benchmark `name` for the MPI `kind` ("mpich", "openmpi", "intel" or "abi")."""
    return find_file(f"{name}-{SUFFIXES[kind]}", environ)


def find_file(file_name: str, environ: Mapping[str, str] = os.environ) -> Path:
    """The benchmark program of that file name; one without an MPI has its own name alone."""
    for folder in folders(environ):
        program = folder / file_name
        if os.access(program, os.X_OK):
            return program
    raise HeadraceError(
        f"the benchmark program {file_name} was not found",
        "it is neither installed with this package nor built in this checkout",
        "run './dev build', reinstall headrace, or set HEADRACE_BENCH_PATH to its directory",
    )


def become_program(file_name: str, flags: Sequence[str]) -> None:
    """Replaces this process by a program without an MPI."""
    program = str(find_file(file_name))
    os.execv(program, [program, *flags])
