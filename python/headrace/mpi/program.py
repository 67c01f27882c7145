"""What a program is: its image, and which MPI it links.

Nothing of the program is run. For Python programs the interpreter is asked which libmpi mpi4py
would load.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headrace.elf.facts import is_elf, read_facts
from headrace.elf.loader import Loader
from headrace.errors import NOT_EXECUTABLE, NOT_FOUND, HeadraceError
from headrace.mpi.kinds import LIBRARY_PATTERN, is_mpi_library
from headrace.mpi.python_probe import ask_python

PYTHON_NAME = re.compile(r"(python|pypy)[0-9.]*$")
DEEPEST_SHEBANG = 4

# Programs that run another one; the MPI is looked for in their arguments.
WRAPPERS = frozenset(
    {"env", "numactl", "taskset", "chrt", "nice", "ionice", "time", "timeout", "stdbuf", "setarch"}
    | {"bash", "sh", "dash", "ksh", "zsh", "xterm", "nohup", "setsid", "catchsegv"}
    | {"strace", "ltrace", "perf", "gdb", "valgrind", "hpcrun", "scalasca", "nsys", "vtune"}
)


@dataclass(frozen=True)
class Program:
    """One program as far as its MPI matters.

    image: what the kernel loads (for scripts, the interpreter); python: its MPI comes by mpi4py;
    soname and library: of the libmpi it links; library is None where the loader finds none.
    """

    path: Path
    image: Path
    python: bool = False
    soname: str | None = None
    library: Path | None = None

    @property
    def uses_mpi(self) -> bool:
        return self.soname is not None or self.python


def locate(name: str, environ: Mapping[str, str]) -> Path:
    """The file that executing `name` would run, with the shell's exit codes where it cannot."""
    search = environ.get("PATH", os.defpath)
    path = Path(name) if "/" in name else None
    if path is None:
        found = shutil.which(name, path=search)
        if found:
            return Path(found).absolute()
        if not Path(name).exists():
            raise HeadraceError(
                f"'{name}' was not found",
                "no directory of PATH has it",
                "check the name",
                NOT_FOUND,
            )
        raise HeadraceError(
            f"'{name}' was not found in PATH",
            "the current directory is not searched",
            f"run './{name}'",
            NOT_FOUND,
        )
    if not path.exists():
        raise HeadraceError(
            f"'{name}' was not found", "there is no such file", "check the path", NOT_FOUND
        )
    if path.is_dir() or not os.access(path, os.X_OK):
        why = "it is a directory" if path.is_dir() else "it has no execute permission"
        remedy = "give a program" if path.is_dir() else _how_to_execute(path)
        raise HeadraceError(f"'{name}' cannot be executed", why, remedy, NOT_EXECUTABLE)
    return path.absolute()


def _how_to_execute(path: Path) -> str:
    if path.suffix == ".py":
        return f"run 'python3 {path}' or make it executable with 'chmod +x {path}'"
    return f"make it executable with 'chmod +x {path}'"


def interpreter_of(path: Path, environ: Mapping[str, str]) -> Path | None:
    """The program a `#!` line names, through env(1) too; None without such a line."""
    try:
        with open(path, "rb") as stream:
            line = stream.readline(512)
    except OSError:
        return None
    if not line.startswith(b"#!"):
        return None
    words = line[2:].decode("utf-8", "replace").split()
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return locate(words[0], environ) if words else None


def image_of(path: Path, environ: Mapping[str, str]) -> Path:
    """The ELF file the kernel loads for `path`, or `path` where it is no such thing."""
    for _ in range(DEEPEST_SHEBANG):
        if is_elf(path):
            break
        interpreter = interpreter_of(path, environ)
        if interpreter is None:
            break
        path = interpreter
    return path


def linked_mpi(
    image: Path, environ: Mapping[str, str], loaded_by: Path | None = None
) -> tuple[str, Path | None] | None:
    """soname and file of the libmpi that `image` needs, directly or through its libraries."""
    facts = read_facts(image)
    if facts is None:
        return None
    missing = None
    for dependency in Loader(environ).closure(facts, loaded_by and read_facts(loaded_by)):
        if dependency.path is not None and is_mpi_library(dependency.path):
            return dependency.soname, dependency.path
        if dependency.path is None and LIBRARY_PATTERN.match(dependency.soname):
            missing = missing or (dependency.soname, None)
    return missing


def _examine_python(path: Path, image: Path, environ: Mapping[str, str]) -> Program:
    answer = ask_python(image, environ)
    if answer["mpi4py"] is None:
        return Program(path, image)
    if answer["extension"]:
        linked = linked_mpi(Path(answer["extension"]), environ, loaded_by=image)
        soname, library = linked or (None, None)
        return Program(path, image, soname=soname, library=library)
    library = Path(answer["library"]) if answer["library"] else None
    facts = read_facts(library) if library else None
    return Program(path, image, python=True, soname=facts and facts.soname, library=library)


def examine(command: Sequence[str], environ: Mapping[str, str]) -> Program:
    """The program that `command` starts, or, behind wrappers such as numactl, the one with MPI."""
    first = None
    for candidate in candidates(command, environ):
        program = _examine(candidate, environ)
        if program.uses_mpi:
            return program
        first = first or program
    assert first is not None
    return first


def candidates(command: Sequence[str], environ: Mapping[str, str]) -> Iterator[Path]:
    """The file that `command` executes, and those that it executes itself where it is a wrapper."""
    path = locate(command[0], environ)
    yield path
    if path.name in WRAPPERS:
        yield from _commands_within(command[1:], environ)


def _examine(path: Path, environ: Mapping[str, str]) -> Program:
    image = image_of(path, environ)
    linked = linked_mpi(image, environ)
    if linked is not None:
        return Program(path, image, soname=linked[0], library=linked[1])
    if PYTHON_NAME.match(image.name):
        return _examine_python(path, image, environ)
    return Program(path, image)


def _commands_within(arguments: Sequence[str], environ: Mapping[str, str]) -> Iterator[Path]:
    for argument in arguments:
        # A shell's command text: its words between blanks, quotes and operators.
        for word in filter(None, re.split(r"[\s;&|()'\"]+", argument)):
            try:
                yield locate(word, environ)
            except HeadraceError:
                continue
