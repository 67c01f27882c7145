"""Programs that look MPI up in a library's handle, where a preload is not found (docs/hosts.md).

Only what can be known without running anything is said: of a program that does not link MPI and has
a libmpi's name and `dlsym` in it, and of a Python script that opens one. mpi4py looks functions up
where a preload is found.
"""

import mmap
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from headrace.elf.facts import is_elf, read_facts
from headrace.elf.loader import Loader
from headrace.errors import HeadraceError, message
from headrace.front.library import is_front
from headrace.mpi.program import PYTHON_NAME, candidates, image_of, linked_mpi

NAME = r"[\w./-]*\blib(?:mpi|mpich|mpi_abi|mpi_cray)\.so(?:\.\d+)*"
IN_PROGRAM = re.compile(rf"(?<![\w./-])({NAME})\0".encode())
IN_SCRIPT = re.compile(
    rf"""(?:CDLL|LoadLibrary|\bdlopen)\s*\(\s*[rfbu]?["']({NAME})["']""", re.MULTILINE
)
LARGEST_PROGRAM = 256 << 20
LARGEST_SCRIPT = 1 << 20


def warning(command: Sequence[str], environ: Mapping[str, str]) -> str | None:
    """The line for a command whose MPI calls a preload misses; None where that is not sure."""
    try:
        for path in candidates(command, environ):
            image = image_of(path, environ)
            found = _opened(path, image, command, environ)
            if found is not None:
                return found
    except (HeadraceError, OSError):
        pass  # The launcher may find it, on another node or in another directory.
    return None


def _opened(
    path: Path, image: Path, command: Sequence[str], environ: Mapping[str, str]
) -> str | None:
    if PYTHON_NAME.match(image.name):
        found = ((script, name) for script in _scripts(path, command) for name in _named(script))
    elif linked_mpi(image, environ) is None:
        found = ((image, name) for name in _contained(image))
    else:
        return None
    for where, name in found:
        if not _leads_to_front(name, image, environ):
            return message(
                f"the MPI calls of '{where}' may pass Headrace by",
                f"it opens {name}, and a preload is not found by dlsym in its handle",
                "let it open a front library instead: headrace preload --front, docs/hosts.md",
            )
    return None


def _scripts(path: Path, command: Sequence[str]) -> Iterator[Path]:
    """The Python files of a command: one that names its interpreter, or the interpreter's."""
    for candidate in (path, *map(Path, command)):
        if candidate.suffix == ".py" or candidate is path:
            yield candidate


def _named(script: Path) -> list[str]:
    try:
        with open(script, "rb") as stream:
            text = stream.read(LARGEST_SCRIPT).decode("utf-8", "replace")
    except OSError:
        return []
    return [] if text.startswith("\x7fELF") else IN_SCRIPT.findall(text)


def _contained(image: Path) -> list[str]:
    """The names of MPI libraries in a program that looks symbols up."""
    if not is_elf(image) or not 0 < image.stat().st_size <= LARGEST_PROGRAM:
        return []
    with open(image, "rb") as stream, mmap.mmap(stream.fileno(), 0, prot=mmap.PROT_READ) as data:
        if data.find(b"\0dlsym\0") < 0:
            return []
        return [match[1].decode() for match in IN_PROGRAM.finditer(data)]


def _leads_to_front(name: str, image: Path, environ: Mapping[str, str]) -> bool:
    facts = read_facts(image)
    found = Loader(environ).find(name, [facts]) if facts else None
    return found is not None and is_front(found)
