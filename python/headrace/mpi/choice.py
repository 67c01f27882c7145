"""Chooses the MPI for `headrace run -n N PROGRAM`: the one it links, or the one the user says."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from headrace.elf.facts import contains_static
from headrace.errors import HeadraceError
from headrace.mpi.environment import library_environment
from headrace.mpi.installed import Mpi, find_all, from_library, in_prefix
from headrace.mpi.kinds import KINDS, STANDARD_ABI, is_mpi_library, uses_standard_abi
from headrace.mpi.program import Program, linked_mpi


@dataclass(frozen=True)
class Choice:
    """An MPI, and the variables with which the program's ranks load its library."""

    mpi: Mpi
    variables: dict[str, str] = field(default_factory=dict)


def choose(program: Program, wanted: str | None, environ: Mapping[str, str]) -> Choice:
    """The MPI to launch with. `wanted` is a name of KINDS, "abi", a path, or None."""
    if wanted is None:
        return _linked(program, environ)
    found = _named(wanted, program, environ)
    if found.launcher is None:
        raise _no_launcher(found)
    return _redirected(program, found, wanted, environ)


def choose_installed(program: Program, kind: str, environ: Mapping[str, str]) -> Choice:
    """The first MPI of a kind that Headrace finds and that has the library that the program links,
    also where the loader knows another one."""
    found = [one for one in find_all(environ) if one.kind == kind]
    if not found:
        return choose(program, kind, environ)
    return _redirected(program, _fitting(found, program), kind, environ)


def _fitting(found: list[Mpi], program: Program) -> Mpi:
    """Several of a kind may differ in the name of their library, as Debian's MPICH does."""
    soname = program.soname or ""
    return next((one for one in found if one.library_named(soname)), found[0])


def _linked(program: Program, environ: Mapping[str, str]) -> Choice:
    if program.library is not None:
        found = from_library(program.library, environ, "linked by the program")
        if found is None:
            raise unsupported_mpi(program)
        if found.launcher is None:
            raise _no_launcher(found)
        return Choice(found)
    if not program.uses_mpi:
        raise no_mpi(program)
    for candidate in find_all(environ):
        if program.soname is None or candidate.library_named(program.soname):
            return _redirected(program, candidate, candidate.kind, environ)
    missing = program.soname or "any libmpi"
    raise HeadraceError(
        f"'{program.path}' needs {missing}",
        "neither the loader nor Headrace finds it on this machine",
        "load the module of its MPI, or name the MPI's directory with --mpi",
    )


def _named(wanted: str, program: Program, environ: Mapping[str, str]) -> Mpi:
    if wanted in KINDS or wanted == STANDARD_ABI:
        if program.library is not None:
            linked = from_library(program.library, environ, "linked by the program")
            standard = wanted == STANDARD_ABI and uses_standard_abi(program.soname or "")
            if linked is not None and (linked.kind == wanted or standard):
                return linked
        candidates = [
            candidate
            for candidate in find_all(environ)
            if candidate.kind == wanted or (wanted == STANDARD_ABI and candidate.abi_library)
        ]
        if candidates:
            return _fitting(candidates, program)
        raise HeadraceError(
            f"no MPI '{wanted}' was found",
            "it is not in HEADRACE_MPI_PATH, MPI_HOME, I_MPI_ROOT, PATH or beside headrace",
            "load its module or give its directory with --mpi PATH",
        )
    return at_path(Path(wanted).absolute(), environ)


def at_path(path: Path, environ: Mapping[str, str]) -> Mpi:
    """The MPI of a directory, a library or a launcher."""
    if not path.exists():
        raise HeadraceError(
            f"no MPI is at '{path}'",
            "there is no such file or directory",
            f"give an MPI's directory, or one of: {', '.join((*KINDS, STANDARD_ABI))}",
        )
    found = None
    if path.is_dir():
        found = in_prefix(path, environ, "--mpi")
    elif is_mpi_library(path):
        found = from_library(path, environ, "--mpi")
    elif os.access(path, os.X_OK):
        found = in_prefix(path.parent.parent, environ, "--mpi")
    if found is None:
        raise HeadraceError(
            f"no MPI is at '{path}'",
            "it has no libmpi of a known kind with a launcher beside it",
            "give the directory above its bin and lib",
        )
    return found


def _redirected(program: Program, found: Mpi, wanted: str, environ: Mapping[str, str]) -> Choice:
    """`found` for a program that may link another MPI of the same ABI."""
    if program.python or program.soname is None:
        library = found.abi_library if wanted == STANDARD_ABI else found.library
        assert library is not None
        variables = library_environment(library, environ)
        if program.python:
            variables["MPI4PY_LIBMPI"] = str(library)
        return Choice(found, variables)
    library = found.library_named(program.soname)
    if library is None:
        raise HeadraceError(
            f"'{program.path}' cannot run with {found.title} at {found.prefix}",
            f"it links {program.soname}, which that MPI does not have",
            "leave out --mpi, or name an MPI of the ABI it was built for",
        )
    if program.library is not None and library.resolve() == program.library.resolve():
        return Choice(found)
    variables = library_environment(library, environ)
    linked = linked_mpi(program.image, {**environ, **variables})
    if linked and linked[1] and linked[1].resolve() != library.resolve():
        raise HeadraceError(
            f"'{program.path}' cannot run with {found.title} at {found.prefix}",
            f"its run path leads to {linked[1]} first",
            "leave out --mpi, or link the program without DT_RPATH",
        )
    return Choice(found, variables)


def _no_launcher(found: Mpi) -> HeadraceError:
    return HeadraceError(
        f"no launcher of {found.title} was found",
        f"neither beside {found.library} nor in PATH",
        "give the whole line: headrace run LAUNCHER ... PROGRAM",
    )


def no_mpi(program: Program) -> HeadraceError:
    if contains_static(program.image, "PMPI_Init"):
        return HeadraceError(
            f"'{program.path}' has its MPI linked statically",
            "a preloaded library cannot get between them",
            "link it against the MPI's shared library",
        )
    return HeadraceError(
        f"'{program.path}' uses no MPI",
        "neither it nor a library it links defines PMPI_Init",
        "run it without headrace, or name the MPI it loads later with --mpi",
    )


def unsupported_mpi(program: Program) -> HeadraceError:
    return HeadraceError(
        f"'{program.path}' links an MPI that Headrace does not carry",
        f"{program.library} is not of MPICH's, Open MPI's or the standard ABI",
        "run it without headrace",
    )
