"""Phases of a Python program that uses MPI: docs/regions.md.

    from headrace import regions

    with regions.region("solve"):
        ...

Where the program runs without Headrace, these do nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import PyDLL, c_char_p, c_int
from zlib import crc32

OFF, ON, QUERY = 0, 1, 2

_PARAMETERS = {
    "headrace_region_begin": (c_int, c_char_p),
    "headrace_region_end": (c_int,),
    "headrace_record": (c_int,),
    "headrace_flush": (),
}


def _found(name: str):
    """The library's function; None if it is not in the process."""
    function = getattr(PyDLL(None), name, None)
    if function is not None:
        function.argtypes = _PARAMETERS[name]
        function.restype = c_int
    return function


_begin, _end, _record, _flush = map(_found, _PARAMETERS)


def number(label: str) -> int:
    """The region's number: the same on all ranks, whatever regions they entered before."""
    return crc32(label.encode()) & 0x7FFFFFFF


def begin(label: str, region: int | None = None) -> int:
    """This thread enters a region. Returns 1 if it is recorded, 0 if nothing is, -1 if the call is
    wrong. region: its number, if C or Fortran enters it, too."""
    if _begin is None:
        return 0
    return _begin(number(label) if region is None else region, label.encode())


def end(label: str, region: int | None = None) -> int:
    """This thread leaves it. Returns as begin."""
    return 0 if _end is None else _end(number(label) if region is None else region)


@contextmanager
def region(label: str, region: int | None = None) -> Iterator[None]:
    """A region around a block, or a function: `@regions.region("solve")`."""
    begin(label, region)
    try:
        yield
    finally:
        end(label, region)


def record(state: int) -> int:
    """Switches recording OFF or ON; QUERY changes nothing. Returns which it was; OFF without
    Headrace."""
    return OFF if _record is None else _record(state)


def flush() -> bool:
    """Writes down what is known now. False if nothing is recorded."""
    return _flush is not None and _flush() == 1
