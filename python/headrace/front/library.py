"""Front libraries, for hosts that look MPI up in a library's handle (docs/hosts.md).

A front library needs libheadrace.so, then one MPI library: a look-up in its handle finds ours
first and the rest in the MPI library. What libheadrace.so does not export, because some MPIs lack
it, the front library defines itself, if its MPI has it, and leads to us. It has the soname of the
MPI library, so that what is loaded later and needs that gets it, too.
"""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from headrace.elf.facts import defines, definitions, read_facts
from headrace.elf.writer import MACHINES, SharedObject, shared_object
from headrace.errors import HeadraceError, unwritable
from headrace.mpi.kinds import is_mpi_library, kind_of

MARK = "headrace_front"
FORWARD = "headrace_"  # before the name of a procedure that libheadrace.so does not export

# Tools define PMPI_Init too; the library alone defines this one.
LIBRARY_MARK = "PMPI_Type_get_contents"


@dataclass(frozen=True)
class Front:
    """What a front library needs, as paths."""

    headrace: Path
    mpi: Path


def default_output(library: Path) -> Path:
    """libmpi.so.12 -> libmpi-headrace.so.12, in the current directory."""
    stem, dot, rest = library.name.partition(".so")
    return Path(f"{stem}-headrace{dot}{rest}").absolute()


def is_front(path: Path) -> bool:
    return defines(path, MARK)


def read(path: Path) -> Front | None:
    """None for what is no front library."""
    facts = read_facts(path)
    if facts is None or not is_front(path) or len(facts.needed) != 2 or not facts.runpath:
        return None
    return Front(Path(facts.runpath[0]) / facts.needed[0], Path(facts.needed[1]))


def _forwards(library: Path, headrace: Path) -> dict[str, str]:
    """Procedures that the library has and libheadrace.so has under another name only."""
    hidden = [name for name in definitions(headrace) if name.startswith(FORWARD)]
    forwards = {name.removeprefix(FORWARD): name for name in sorted(hidden)}
    return {name: own for name, own in forwards.items() if defines(library, name)}


def contents(library: Path, headrace: Path) -> bytes:
    """The bytes of a front library for `library`; an error where that is no MPI library for us."""
    refuse(library, headrace)
    facts = read_facts(library)
    assert facts is not None
    # By name, not by path: a libheadrace.so that is preloaded from elsewhere then serves.
    content = SharedObject(
        soname=facts.soname or library.name,
        needed=(headrace.name, str(library)),
        runpath=str(headrace.parent),
        note=(MARK, f"headrace front of {library}"),
        forwards=_forwards(library, headrace),
    )
    return shared_object(content, MACHINES[facts.machine], facts.flags)


def refuse(library: Path, headrace: Path) -> None:
    """Raises the error for a file of which no front library can be made."""
    own, facts = read_facts(headrace), read_facts(library)
    if not library.exists():
        raise _no_front(library, "there is no such file", "give the path of a libmpi")
    if facts is None or not facts.is_dynamic:
        raise _no_front(
            library, "it is not a shared library", "give the libmpi.so.N that ranks load"
        )
    if is_front(library):
        raise _no_front(
            library, "it is a front library itself", "give the MPI library that it was made of"
        )
    if not is_mpi_library(library) or not defines(library, LIBRARY_MARK):
        raise _no_front(library, "it is not an MPI library", "give the libmpi.so.N that ranks load")
    if kind_of(library) is None:
        raise _no_front(
            library,
            "it is not of MPICH's, Open MPI's or the standard ABI",
            "use it without headrace",
        )
    if own is None or (own.bits, own.machine) != (facts.bits, facts.machine):
        raise _no_front(
            library,
            f"it is for another machine than {headrace}",
            "use a headrace built for that machine",
        )
    if facts.machine not in MACHINES:
        raise _no_front(
            library,
            f"no code is known for {facts.machine[3:]}",
            "link the program with its MPI, or use mpi4py",
        )
    if "$" in str(library):
        raise _no_front(
            library,
            "the loader expands '$' in a path",
            "give a path without it, a link for example",
        )


def _no_front(library: Path, why: str, remedy: str) -> HeadraceError:
    return HeadraceError(f"no front library can be made of '{library}'", why, remedy)


def make(library: Path, headrace: Path, output: Path | None) -> Path:
    """Writes a front library for `library`; the usual place without `output`. Returns its path."""
    # Links stay as they are, so that an MPI may be updated behind them.
    library = library.absolute()
    made = output.absolute() if output else default_output(library)
    write(library, headrace, made)
    return made


def write(library: Path, headrace: Path, output: Path) -> None:
    """Makes the file whole or not at all: a program may have the old one loaded."""
    data = contents(library, headrace)
    if output.exists() and not is_front(output):
        raise HeadraceError(
            f"'{output}' is not overwritten",
            "it is there and is no front library",
            "give another --output, or remove it",
        )
    try:
        handle, name = tempfile.mkstemp(dir=output.parent, prefix=f".{output.name}.")
    except OSError as error:
        raise unwritable(output, error, "give another --output") from error
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o777 & ~mask)
        temporary.replace(output)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise unwritable(output, error, "give another --output") from error


def problems(path: Path) -> list[str]:
    """What is wrong with a front library, each with what to do; an empty list if it is good."""
    front = read(path)
    if front is None:
        return [f"'{path}' is no front library, make one with headrace preload --front LIBMPI"]
    again = f"make it again: headrace preload --front {front.mpi} --output {path}"
    absent = [place for place in (front.headrace, front.mpi) if not place.is_file()]
    if absent:
        return [f"'{path}' cannot be loaded ({place} is missing), {again}" for place in absent]
    wanted = _forwards(front.mpi, front.headrace)
    available = definitions(path)
    if not is_mpi_library(front.mpi) or wanted.keys() != available - {MARK}:
        return [f"'{path}' does not fit its libraries (one of them was replaced), {again}"]
    return []
