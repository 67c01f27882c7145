"""GCC's file of records, read in parts: one of a small C++ program may have hundreds of MiB."""

import codecs
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from headrace.feedback.remark import BadFeedback

LARGEST = 1 << 30  # unpacked bytes of a file
LONGEST = 64 << 20  # characters of one record
_STEP = 1 << 20
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


class Packed:
    """unpacked: how many bytes were unpacked so far, however often."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.unpacked = 0

    def has_any(self, names: Sequence[bytes]) -> bool:
        """Is one of these anywhere in it? Much faster than to read the records."""
        longest = max(map(len, names), default=0)
        before = b""
        for part in self._parts():
            own = before + part
            if any(name in own for name in names):
                return True
            before = own[-longest:]
        return False

    def records(self) -> Iterator[Any]:
        """What stands behind who made the file and the list of passes. Raises BadFeedback."""
        text = _Text(codecs.iterdecode(self._parts(), "utf-8", "replace"))
        text.take("[")
        for _ in range(2):
            text.value()
            text.take(",")
        text.take("[")
        if text.is_next("]"):
            return
        while True:
            yield text.value()
            if text.is_next("]"):
                return
            text.take(",")

    def _parts(self) -> Iterator[bytes]:
        unpacker = zlib.decompressobj(wbits=31)
        rest, size = self._data, 0
        try:
            while not unpacker.eof:
                part = unpacker.decompress(rest, _STEP)
                rest = unpacker.unconsumed_tail
                size += len(part)
                self.unpacked += len(part)
                if size > LARGEST:
                    raise BadFeedback(f"it has more than {LARGEST >> 20} MiB")
                if not part and not rest and not unpacker.eof:
                    raise BadFeedback("it is cut off")
                yield part
        except zlib.error as error:
            raise BadFeedback("it is not packed by gzip, or broken") from error


class _Text:
    """JSON of which a part is in memory."""

    def __init__(self, parts: Iterator[str]) -> None:
        self._parts = parts
        self._text = ""
        self._at = 0

    def is_next(self, mark: str) -> bool:
        """Is it this character, spaces apart?"""
        self._skip()
        return self._text.startswith(mark, self._at)

    def take(self, mark: str) -> None:
        if not self.is_next(mark):
            raise BadFeedback("it has no list of records")
        self._at += len(mark)

    def value(self) -> Any:
        self._skip()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except (ValueError, RecursionError, MemoryError) as error:
                # It may end in the next part.
                if isinstance(error, ValueError) and self._more():
                    continue
                raise BadFeedback("it is no JSON") from error
            self._at = end
            return value

    def _skip(self) -> None:
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text) or not self._more():
                return

    def _more(self) -> bool:
        """Adds as much as there is, so that the time to read a long record over and over stays
        below twice the time to read it once."""
        rest = self._text[self._at :]
        if len(rest) > LONGEST:
            return False
        parts, count = [rest], 0
        for part in self._parts:
            parts.append(part)
            count += len(part)
            if count > len(rest):
                break
        self._text, self._at = "".join(parts), 0
        return count > 0
