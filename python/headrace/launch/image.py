"""What a rank's recorder keeps in a file of this node, of which few facts are read here: which
process it is of, and the batch system's number of its job (src/record/image.h)."""

import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

MAGIC = b"HRIMAGE1"
_HEADER_SIZE = struct.Struct("<8xI")
# The process, when it started, and the inode of its PID namespace.
_PROCESS = struct.Struct("<24xi4xq112xQ")
# Kind, bytes in use, bytes to the next one.
_EXTENT = struct.Struct("<I12xI4xQ")
_NOTES = 6
# Bytes, kind.
_NOTE = struct.Struct("<IHxx")
_FACT = 9
_LENGTH = struct.Struct("<I")
_MOST_NOTES = 1 << 24  # bytes


def runs(image: Path) -> bool:
    """Whether its process still runs, or may run in another container."""
    try:
        with image.open("rb") as file:
            head = file.read(_PROCESS.size)
        if len(head) < _PROCESS.size or not head.startswith(MAGIC):
            return False
        process, start, space = _PROCESS.unpack(head)
        if os.stat("/proc/self/ns/pid").st_ino != space:
            return True  # in another container, where it cannot be seen
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    # As proc(5) numbers them, from the third on.
    fields = dict(enumerate(text.rpartition(")")[2].split(), 3))
    # One that nobody has waited for has ended, unless only its first thread has.
    is_zombie = fields[3] in "ZX" and int(fields[20]) <= 1
    return int(fields[22]) == start and not is_zombie


def batch_number(job: Path) -> str:
    """The number that the batch system has for a job, as one of its ranks tells; else empty."""
    for image in sorted(job.glob("rank-*")):
        try:
            with image.open("rb") as file:
                for name, value in _facts(file):
                    if name == b"job":
                        return os.fsdecode(value)
        except (OSError, ValueError, struct.error):
            continue
    return ""


def is_numbered(job: Path, number: str) -> bool:
    """Whether the batch system has this number for the job, which may be written with the server
    behind it, as 1234.server."""
    own = batch_number(job)
    return bool(own) and _as_kept(number) in (own, own.partition(".")[0])


def _as_kept(number: str) -> str:
    """As src/record/job_mark.cc makes it fit for a file name."""
    return re.sub(rb"[^A-Za-z0-9.@-]", b"_", os.fsencode(number))[:100].decode()


def _facts(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Names and values."""
    head = file.read(_HEADER_SIZE.size)
    if not head.startswith(MAGIC):
        return
    (place,) = _HEADER_SIZE.unpack(head)
    while True:
        file.seek(place)
        kind, used, size = _EXTENT.unpack(file.read(_EXTENT.size))
        if size == 0:
            return  # there is none yet
        if kind == _NOTES:
            yield from _facts_of(file.read(min(used, _MOST_NOTES)))
        place += size


def _facts_of(notes: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = 0
    while place < len(notes):
        size, kind = _NOTE.unpack_from(notes, place)
        if size < _NOTE.size:
            return
        if kind == _FACT:
            name, value = _fields(notes[place + _NOTE.size : place + size])[:2]
            yield name, value
        place += -(-size // 8) * 8


def _fields(text: bytes) -> list[bytes]:
    fields = []
    while text:
        (length,) = _LENGTH.unpack_from(text)
        fields.append(text[_LENGTH.size : _LENGTH.size + length])
        text = text[_LENGTH.size + length :]
    return fields
