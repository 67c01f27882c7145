"""Files and folders -> remarks. What is broken is told, and the rest is read."""

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headrace.feedback import cray, gcc, intel, llvm, nvhpc
from headrace.feedback.remark import LARGEST, BadFeedback, Remark, distinct

MOST_FILES = 20_000
# Bytes of a text of which the name does not say what it is, and of all of them in folders.
LARGEST_TEXT = 32 << 20
MOST_TEXT = 256 << 20
LONGEST_LINE = 4096  # characters that are looked at, but of LLVM's
GCC_RECORD = ".opt-record.json.gz"
_LLVM = re.compile(r"\.opt(?:\.[\w.-]+)?\.ya?ml$")
# Names that -fopt-info=FILE, and logs of builds, usually have.
_TEXTS = (".optinfo", ".opt-info", ".opt", ".minfo", ".log", ".txt", ".out", ".err", ".report")
_Lines = Callable[[Iterable[str]], Iterator[Remark]]


@dataclass(frozen=True)
class File:
    """written: seconds since 1970. remarks: those about the files that were asked for."""

    path: Path
    written: float
    remarks: tuple[Remark, ...]


@dataclass
class Feedback:
    """problems: a sentence for each file that could not be read, with its name."""

    files: list[File] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def read(paths: Sequence[Path], names: frozenset[str]) -> Feedback:
    """paths: files, or folders that are searched. names: of source files, without folders; remarks
    on others are left out."""
    found = Feedback()
    text = 0
    for path in paths:
        if path.is_dir():
            for own in _candidates(path, found.problems):
                if own.name.endswith(_TEXTS):
                    text += _size(own)
                    if text > MOST_TEXT:
                        continue
                _read(own, names, found, is_named=False)
        else:
            _read(path, names, found, is_named=True)
    if text > MOST_TEXT:
        found.problems.append(
            f"texts of more than {MOST_TEXT >> 20} MiB: some are left out; name those to be read"
        )
    return found


def _size(path: Path) -> int:
    try:
        return min(path.stat().st_size, LARGEST_TEXT)
    except OSError:
        return 0


def _candidates(folder: Path, problems: list[str]) -> Iterator[Path]:
    """In order of their names. Links to folders are not followed."""
    count = 0
    for place, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            if name.endswith((GCC_RECORD, ".optrpt", ".lst", *_TEXTS)) or _LLVM.search(name):
                count += 1
                if count > MOST_FILES:
                    problems.append(
                        f"'{folder}' has more than {MOST_FILES:,} files of remarks: "
                        "further ones are left out"
                    )
                    return
                yield Path(place, name)


def _read(path: Path, names: frozenset[str], found: Feedback, is_named: bool) -> None:
    """is_named: by the user; then a file without remarks is a problem."""
    remarks: list[Remark] = []
    try:
        data, written = _bytes(path)
        parse = _parser(path.name, data)
        if parse is None:
            if is_named:
                raise BadFeedback("it has no remarks of a compiler that is known")
            return
        for one in parse(data):
            if not one.file or os.path.basename(one.file) in names:
                remarks.append(one)
    except (OSError, BadFeedback) as error:
        why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        rest = "; what stands before is used" if remarks else ""
        found.problems.append(f"remarks in '{path}' are not all used: {why}{rest}")
        if not remarks:
            return
    found.files.append(File(path, written, tuple(distinct(remarks))))


def _bytes(path: Path) -> tuple[bytes, float]:
    """Of a regular file only: others may have no end, or wait for someone."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
        facts = os.fstat(stream.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise BadFeedback("it is no regular file")
        if facts.st_size > LARGEST:
            raise BadFeedback(f"it has more than {LARGEST >> 20} MiB")
        return stream.read(LARGEST), facts.st_mtime


def _parser(name: str, data: bytes) -> Callable[[bytes], Iterator[Remark]] | None:
    """By the name, or else by what is in it."""
    if name.endswith(GCC_RECORD) or data[:2] == b"\x1f\x8b":
        return gcc.record
    if data.startswith(b"--- !") or _LLVM.search(name):
        return lambda own: llvm.text(_lines(own))
    if name.endswith(".optrpt"):
        return _of_lines(intel.text)
    if name.endswith(".lst"):
        return _of_lines(cray.text)
    if len(data) > LARGEST_TEXT or b"\0" in data[:4096]:
        return None
    forms = _forms([line[:LONGEST_LINE] for line in _lines(data)])
    return None if not forms else lambda own: _by_all(forms, own)


def _forms(lines: Sequence[str]) -> list[_Lines]:
    """A log may have what several compilers printed."""
    known = (
        (gcc.LINE, gcc.text),
        (cray.MESSAGE, cray.text),
        (intel.LOOP, intel.text),
        (nvhpc.FIRST, nvhpc.text),
    )
    return [parse for first, parse in known if any(map(first.match, lines))]


def _by_all(forms: Sequence[_Lines], data: bytes) -> Iterator[Remark]:
    for parse in forms:
        yield from _of_lines(parse)(data)


def _of_lines(parse: _Lines) -> Callable[[bytes], Iterator[Remark]]:
    return lambda data: parse(line[:LONGEST_LINE] for line in _lines(data))


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "backslashreplace").split("\n")
