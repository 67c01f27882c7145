"""A path's frames -> functions and lines, without a network. A file is looked into only if it is
what the program ran, or the debugging information of that: its build-id says so."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from headrace.analysis.paths import Frame
from headrace.elf import symbols as elf
from headrace.symbols import tools
from headrace.symbols.kept import NONE_KEPT, KeptFiles
from headrace.symbols.names import demangled
from headrace.symbols.tools import Line

# The innermost frames that tell nothing of the program.
_LAYERS = ("libheadrace", "libmpi", "libpmpi")
_INTERPRETERS = ("python", "libpython")
# The outermost ones, of the loader and the C library.
_STARTS = ("_start", "__libc_start_")
Module = tuple[str, str]
# Why a module has no names, if the file that ran may lie elsewhere.
GONE = "it is not on this machine"
REBUILT = "it is another build than the one that ran"


@dataclass
class Symbols:
    """What was found: lines by frame, and why modules were not used."""

    lines: dict[Frame, tuple[Line, ...]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    def shown(self, frames: Iterable[Frame]) -> list[Line]:
        """The lines of a path, innermost first, from where the program's own begin."""
        return [line for frame in program_frames(frames) for line in self.of(frame)]

    def of_program(self, frames: Iterable[Frame]) -> list[Line]:
        """As `shown`, without what every path has: how the system starts a program and, where the
        lines of a Python program are known, the interpreter's own functions."""
        kept = without_interpreter(program_frames(frames))
        lines = [line for frame in kept for line in self.of(frame)]
        while len(lines) > 1 and lines[-1].function.startswith(_STARTS):
            lines.pop()
        return lines

    def of(self, frame: Frame) -> tuple[Line, ...]:
        if frame.function:
            return (Line(frame.function, frame.module, frame.line),)
        if frame in self.lines:
            return self.lines[frame]
        module = Path(frame.module).name or "?"
        return (Line(f"{module}+{frame.offset:#x}"),)


def program_frames(frames: Iterable[Frame]) -> list[Frame]:
    """Without those of the MPI library and of Headrace at the inner end."""
    kept = list(frames)
    for place, frame in enumerate(kept):
        if not is_layer(frame):
            return kept[place:]
    return kept


def is_layer(frame: Frame) -> bool:
    return not frame.function and Path(frame.module).name.startswith(_LAYERS)


def is_interpreter(frame: Frame) -> bool:
    return Path(frame.module).name.startswith(_INTERPRETERS)


def without_interpreter(frames: Iterable[Frame]) -> list[Frame]:
    """Without its own functions, where functions of Python are known."""
    kept = list(frames)
    if not any(frame.is_python for frame in kept):
        return kept
    return [frame for frame in kept if frame.is_python or not is_interpreter(frame)]


def resolve(paths: Iterable[Iterable[Frame]], kept: KeptFiles = NONE_KEPT) -> Symbols:
    """The lines of the program's frames in `paths`."""
    return resolve_frames((frame for own in paths for frame in program_frames(own)), kept)


def resolve_frames(frames: Iterable[Frame], kept: KeptFiles = NONE_KEPT) -> Symbols:
    """The lines of all these frames, those of libraries, too."""
    symbols = Symbols()
    wanted: dict[Module, set[Frame]] = defaultdict(set)
    for frame in frames:
        if frame.module and not frame.function:
            wanted[frame.module, frame.build_id].add(frame)
    tool = tools.find()
    for (module, build_id), own in wanted.items():
        files, problem = files_of(module, build_id, kept)
        if files:
            symbols.lines.update(_module_lines(files, own, tool))
        else:
            symbols.problems[module] = problem
    return symbols


def files_of(module: str, build_id: str, kept: KeptFiles = NONE_KEPT) -> tuple[list[Path], str]:
    """The files that tell of a module, the one that tells most first; without any, why."""
    problem = module_problem(module, build_id)
    found = [*([Path(module)] if problem is None else []), *kept.of(build_id)]
    if len(found) > 1:
        found.sort(key=elf.detail, reverse=True)
    return found, problem or ""


def module_problem(module: str, build_id: str) -> str | None:
    """Why a module cannot be looked into."""
    path = Path(module)
    if not path.is_absolute():
        return "its path is not known"
    try:
        path.stat()
    except (OSError, ValueError):
        return GONE
    found = elf.build_id(path)
    if found is None:
        return "it is no readable ELF file"
    if found != build_id:
        return REBUILT
    return None


def _names(files: Iterable[Path], addresses: Iterable[int]) -> dict[int, str]:
    """Of the functions at these addresses, each as the first file has it that knows it."""
    found: dict[int, str] = {}
    missing = set(addresses)
    for path in files:
        if not missing:
            break
        functions = elf.Functions(path)
        found |= {address: functions.at(address) for address in missing}
        missing = {address for address in missing if not found[address]}
    return found


def _module_lines(
    files: list[Path], frames: set[Frame], tool: tuple[str, str] | None
) -> dict[Frame, tuple[Line, ...]]:
    """A return address may lie behind the end of a function; the call is one byte before it."""
    addresses = sorted({max(0, frame.offset - 1) for frame in frames})
    told = tools.ask(tool, files[0], addresses) if tool else {}
    lines = {} if tool else elf.lines(files[0], set(addresses))
    names = _names(files, addresses)
    made = {}
    for frame in frames:
        address = max(0, frame.offset - 1)
        name = demangled(names[address])
        found = [
            Line(demangled(line.function), line.file, line.line)
            for line in told.get(address, ())
            if line.function
        ]
        if name.endswith(elf.STUB_MARK) or (name and not any(line.file for line in found)):
            found = []  # tools give stubs the name of what lies before them, and others any alias
        if not found and name:
            found = [Line(name, *lines.get(address, ("", 0)))]
        if found:
            made[frame] = tuple(found)
    return made
