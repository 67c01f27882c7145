"""A column's packed values -> the values. docs/record-format.md has the four ways of packing."""

from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate, repeat

CONSTANT, PLAIN, DIFFERENCES, TEXTS = range(4)
BITS = 64
LONGEST_TEXT = 1 << 20

_SIGNED = [(byte >> 1) ^ -(byte & 1) for byte in range(128)]


class Malformed(Exception):
    """Bytes that are no column; the text says why."""


class Constant(Sequence[int]):
    """A column in which all rows have one value; takes no memory for rows."""

    def __init__(self, value: int, rows: int):
        self._value = value
        self._rows = rows

    def __len__(self) -> int:
        return self._rows

    def __iter__(self) -> Iterator[int]:
        return repeat(self._value, self._rows)

    def __getitem__(self, place: int) -> int:  # rows are taken one by one or all, never as slices
        if not -self._rows <= place < self._rows:
            raise IndexError(place)
        return self._value

    def bounds(self) -> tuple[int, int]:
        return self._value, self._value


Column = Sequence[int] | list[str]


def unpack(packed: int, data: memoryview, rows: int) -> Column:
    """The values of a column. Raises Malformed. Takes no more memory than `data` has bytes, times
    a small number, whatever `rows` says."""
    if packed == CONSTANT:
        if rows == 0:
            return _exactly(array("q"), 0, data)
        return Constant(_exactly(_varints(data), 1, data)[0], rows)
    if packed == PLAIN:
        return _exactly(_varints(data), rows, data)
    if packed == DIFFERENCES:
        return _sums(_exactly(_varints(data), rows, data))
    if packed == TEXTS:
        return _texts(bytes(data), rows)
    raise Malformed(f"a column is packed in the unknown way {packed}")


def stream(packed: int, data: memoryview, rows: int) -> Iterator[int]:
    """The same of numbers, one after the other, so that they take no memory. Malformed is raised
    when a value that cannot be is come to."""
    if packed == CONSTANT and rows:
        return iter(unpack(packed, data, rows))
    if packed in (CONSTANT, PLAIN):
        return _each_varint(data)
    if packed == DIFFERENCES:
        return map(_wrapped, accumulate(_each_varint(data)))
    raise Malformed(f"a column is packed in the unknown way {packed}")


def _exactly(values: array, rows: int, data: memoryview) -> array:
    if len(values) != rows or (rows == 0 and len(data)):
        raise Malformed(f"a column of {rows} rows has {len(values)} values")
    return values


def _varints(data: memoryview) -> array:
    """All varints of `data`, as signed values."""
    if not len(data):
        return array("q")
    if data[-1] >= 128:
        raise Malformed("a column's last number is cut off")
    if max(data) < 128:
        return array("q", map(_SIGNED.__getitem__, data))
    values: list[int] = []
    add = values.append
    value = shift = 0
    for byte in data:
        if byte < 128:
            value |= byte << shift
            add((value >> 1) ^ -(value & 1))
            value = shift = 0
        else:
            value |= (byte & 127) << shift
            shift += 7
            if shift > BITS:
                raise Malformed("a number has more than 64 bits")
    try:
        return array("q", values)
    except OverflowError as error:
        raise Malformed("a number has more than 64 bits") from error


def _each_varint(data: memoryview) -> Iterator[int]:
    value = shift = 0
    for byte in data:
        if byte < 128:
            value |= byte << shift
            if value >> BITS:
                raise Malformed("a number has more than 64 bits")
            yield (value >> 1) ^ -(value & 1)
            value = shift = 0
        else:
            value |= (byte & 127) << shift
            shift += 7
            if shift > BITS:
                raise Malformed("a number has more than 64 bits")
    if shift:
        raise Malformed("a column's last number is cut off")


def _sums(differences: array) -> array:
    """Each value is the one before and a difference; sums wrap at 64 bits."""
    try:
        return array("q", accumulate(differences))
    except OverflowError:
        return array("q", map(_wrapped, accumulate(differences)))


def _wrapped(value: int) -> int:
    half, whole = 1 << BITS - 1, 1 << BITS
    return (value + half) % whole - half


def _texts(data: bytes, rows: int) -> list[str]:
    found = []
    place = 0
    for _ in range(rows):
        length = shift = 0
        while True:
            if place >= len(data) or shift > BITS:
                raise Malformed("the length of a text is cut off")
            byte = data[place]
            place += 1
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        if length > min(LONGEST_TEXT, len(data) - place):
            raise Malformed(f"a text of {length} bytes is longer than its column")
        found.append(data[place : place + length].decode("utf-8", "backslashreplace"))
        place += length
    if place != len(data):
        raise Malformed(f"{len(data) - place} bytes lie behind the last text")
    return found


def bounds(column: Sequence[int]) -> tuple[int, int]:
    """The least and the greatest value of a column with rows."""
    return column.bounds() if isinstance(column, Constant) else (min(column), max(column))
