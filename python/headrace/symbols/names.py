"""Names of functions of C++, Fortran and Cython as their authors wrote them."""

import re
from functools import lru_cache

from headrace.symbols import demangler

# __pyx_pw_ (called from Python), __pyx_f_ (from C): scopes, each behind its length, then the name,
# which of some has its number in front.
_CYTHON = re.compile(r"__pyx_(?:fuse_\d+)?(?:__pyx_)?(?:pw|pf|f|pymod_exec)_(?=\d)")
# Procedures of modules, and of submodules (parent.child), of GNU's and Intel's compilers. What is
# behind, such as ._omp_fn.0, is of a part that the compiler made of one.
_FORTRAN = re.compile(r"__([a-z][\w.]*?)_MOD_(\w.*)|([a-z]\w*?)_mp_(\w+?)_")


@lru_cache(1 << 14)
def demangled(name: str) -> str:
    """The name, or what it stands for if it is one of C++, of a module of Fortran, or Cython."""
    if len(name) > demangler.LONGEST:
        return name
    if name.startswith("__pyx_"):
        return cython_name(name)
    if name.startswith("_Z"):
        return demangler.demangled(name) or name
    # Which of several is the one that the compiler put in, nobody can tell.
    fortran = _FORTRAN.fullmatch(name) if name.count("_mp_") < 2 else None
    return "::".join(filter(None, fortran.groups())) if fortran else name


def cython_name(name: str) -> str:
    """As __pyx_pw_6mpi4py_3MPI_4Comm_125Gatherv: mpi4py.MPI.Comm.Gatherv."""
    begin = _CYTHON.match(name)
    if begin is None:
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
