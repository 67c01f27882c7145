"""Files and folders -> remarks. What is broken is told, and the rest is read."""

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from headrace.feedback import cray, gcc, intel, llvm, nvhpc
from headrace.feedback.records import Packed
from headrace.feedback.remark import LARGEST, BadFeedback, Remark, distinct

MOST_FILES = 20_000
# Bytes of a text of which the name does not say what it is, and of all of them in folders.
LARGEST_TEXT = 32 << 20
MOST_TEXT = 256 << 20
# Bytes of all records of GCC in folders, unpacked.
MOST_UNPACKED = 16 << 30
LONGEST_LINE = 4096  # characters that are looked at, but of LLVM's
GCC_RECORD = ".opt-record.json.gz"
_LLVM_BEGIN = b"\n--- !"
_LLVM = re.compile(r"\.opt(?:\.[\w.-]+)?\.ya?ml$")
# Names that -fopt-info=FILE, and logs of builds, usually have.
_TEXTS = (".optinfo", ".opt-info", ".opt", ".minfo", ".log", ".txt", ".out", ".err", ".report")
# Names that stand in every form of remarks as they are.
_PLAIN = re.compile(r"[A-Za-z0-9_.+-]+")
_Lines = Callable[[Iterable[str]], Iterator[Remark]]


@dataclass(frozen=True)
class File:
    """written: seconds since 1970. remarks: those about the files that were asked for."""

    path: Path
    written: float
    remarks: tuple[Remark, ...]


@dataclass
class Feedback:
    """problems: a sentence for each file that could not be read, with its name. unpacked: bytes of
    records of GCC."""

    files: list[File] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    unpacked: int = 0


def read(paths: Sequence[Path], names: frozenset[str]) -> Feedback:
    """paths: files, or folders that are searched. names: of source files, without folders; remarks
    on others are left out."""
    found = Feedback()
    text = left_out = 0
    for path in paths:
        if path.is_dir():
            for own in _candidates(path, found.problems):
                if own.name.endswith(_TEXTS):
                    text += _size(own)
                    if text > MOST_TEXT:
                        continue
                elif own.name.endswith(GCC_RECORD) and found.unpacked > MOST_UNPACKED:
                    left_out += 1
                    continue
                _read(own, names, found, is_named=False)
        else:
            _read(path, names, found, is_named=True)
    if text > MOST_TEXT:
        found.problems.append(
            f"texts of more than {MOST_TEXT >> 20} MiB: some are left out; name those to be read"
        )
    if left_out:
        found.problems.append(
            f"{left_out:,} files of GCC's records are left out, since those before have "
            f"{MOST_UNPACKED >> 30} GiB: name those to be read, or folders in which they are"
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
        parse = _parser(path.name, data, names, found)
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


def _parser(
    name: str, data: bytes, names: frozenset[str], found: Feedback
) -> Callable[[bytes], Iterator[Remark]] | None:
    """By the name, or else by what is in it."""
    if name.endswith(GCC_RECORD) or data[:2] == b"\x1f\x8b":
        return lambda own: _gcc(own, names, found)
    if data.startswith(b"--- !") or _LLVM.search(name):
        return lambda own: llvm.text(_lines(_about(own, names)))
    if name.endswith(".optrpt"):
        return _of_lines(intel.text)
    if name.endswith(".lst"):
        return _of_lines(cray.text)
    if len(data) > LARGEST_TEXT or b"\0" in data[:4096]:
        return None
    forms = _forms([line[:LONGEST_LINE] for line in _lines(data)])
    return None if not forms else lambda own: _by_all(forms, own)


def _gcc(data: bytes, names: frozenset[str], found: Feedback) -> Iterator[Remark]:
    """Of a file without any of the names the begin is parsed only, since that takes most time."""
    packed = Packed(data)
    try:
        plain = _all_plain(names)
        is_about = plain is None or packed.has_any(plain)
        yield from gcc.of_records(islice(packed.records(), None if is_about else 1))
    finally:
        found.unpacked += packed.unpacked


def _about(data: bytes, names: frozenset[str]) -> bytes:
    """Those of LLVM's remarks that have one of the names, and the last one, which may be cut
    off."""
    plain = _all_plain(names)
    if plain is None:
        return data
    head, *remarks = (b"\n" + data).split(_LLVM_BEGIN)
    kept = [one for one in remarks[:-1] if any(name in one for name in plain)]
    return _LLVM_BEGIN.join((head, *kept, *remarks[-1:]))


def _all_plain(names: frozenset[str]) -> list[bytes] | None:
    """None if one may be written in another way in remarks."""
    found = all(map(_PLAIN.fullmatch, names))
    return [name.encode() for name in names] if found else None


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
