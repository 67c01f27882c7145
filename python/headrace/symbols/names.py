"""Names of C++ functions as their authors wrote them."""

import ctypes
import re
from functools import cache

LONGEST = 4096
# __pyx_pw_ (called from Python), __pyx_f_ (from C): scopes, each behind its length, then the name,
# which of some has its number in front.
_CYTHON = re.compile(r"__pyx_(?:fuse_\d+)?(?:__pyx_)?(?:pw|pf|f|pymod_exec)_(?=\d)")


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
    """The name, or what it stands for if it is one of C++ or Cython."""
    if name.startswith("__pyx_"):
        return cython_name(name)
    libraries = _demangler()
    if not name.startswith("_Z") or len(name) > LONGEST or libraries is None:
        return name
    cxx, c = libraries
    made = cxx.__cxa_demangle(
        name.encode("utf-8", "replace"), None, None, ctypes.byref(ctypes.c_int())
    )
    if not made:
        return name
    try:
        return ctypes.string_at(made).decode("utf-8", "backslashreplace")
    finally:
        c.free(made)


def cython_name(name: str) -> str:
    """As __pyx_pw_6mpi4py_3MPI_4Comm_125Gatherv: mpi4py.MPI.Comm.Gatherv."""
    begin = _CYTHON.match(name)
    if begin is None or len(name) > LONGEST:
        return name
    rest, scopes = name[begin.end() :], []
    while scope := re.match(r"(\d{1,3})(?=[A-Za-z_])", rest):
        end = scope.end() + int(scope[1])
        if rest[end : end + 1] != "_":
            break
        scopes.append(rest[scope.end() : end])
        rest = rest[end + 1 :]
    plain = rest.lstrip("0123456789") or rest
    return ".".join([*scopes, plain]) if scopes else name
