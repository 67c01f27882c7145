"""Names of C++ functions as their authors wrote them."""

import ctypes
from functools import cache

LONGEST = 4096


@cache
def _demangler() -> tuple[ctypes.CDLL, ctypes.CDLL] | None:
    """libstdc++, which programs in C++ bring along, and the C library."""
    try:
        cxx, c = ctypes.CDLL("libstdc++.so.6"), ctypes.CDLL(None)
        cxx.__cxa_demangle.restype = ctypes.c_void_p
        cxx.__cxa_demangle.argtypes = [
            *(ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))
        ]
        c.free.argtypes = [ctypes.c_void_p]
    except (OSError, AttributeError):
        return None
    return cxx, c


def demangled(name: str) -> str:
    """The name, or what it stands for if it is one of C++."""
    libraries = _demangler()
    if not name.startswith("_Z") or len(name) > LONGEST or libraries is None:
        return name
    cxx, c = libraries
    made = cxx.__cxa_demangle(name.encode(), None, None, ctypes.byref(ctypes.c_int()))
    if not made:
        return name
    try:
        return ctypes.string_at(made).decode("utf-8", "backslashreplace")
    finally:
        c.free(made)
