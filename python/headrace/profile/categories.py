"""What a sampled path says of its time: the functions that programs call for memory, locks and
mathematics, Python, the MPI library."""

import re
from collections.abc import Sequence

from headrace.profile.stacks import Place

MPI = "mpi"
LAYER = "layer"
ALLOCATION = "allocation"
LOCKS = "locks"
LIBM = "libm"
REFERENCE_BLAS = "reference_blas"
PYTHON = "python"

_MPI_FILES = ("libmpi", "libpmpi")
_MPI_NAMES = ("MPI_", "PMPI_")  # where the library is linked into the program
# MPI's functions that move files' bytes or pack data work; others wait.
_WORK = ("MPI_File_", "PMPI_File_", "MPI_Pack", "PMPI_Pack", "MPI_Unpack", "PMPI_Unpack")
_INTERPRETERS = ("python", "libpython")
_LIBM = ("libm.so", "libm-")
# Libraries that work for whoever calls them.
_SYSTEM = (
    *("libc.so", "libc-", "ld-linux", "ld-2", "libpthread", "libdl", "librt", "libgcc_s"),
    *("libstdc++", "libc++", "libgomp", "libomp", "libiomp5", "libgfortran", "libquadmath"),
    *("libjemalloc", "libtcmalloc", "libmimalloc", "libtbbmalloc", *_LIBM),
)
_ALLOCATION = frozenset(
    (
        *("malloc", "calloc", "realloc", "reallocarray", "free", "cfree", "memalign", "valloc"),
        *("posix_memalign", "aligned_alloc", "_int_malloc", "_int_free", "_int_realloc"),
        *("malloc_consolidate", "sysmalloc", "systrim", "unlink_chunk", "__libc_malloc"),
        *("__libc_calloc", "__libc_realloc", "__libc_free", "__libc_memalign", "cfree"),
    )
)
_ALLOCATION_BEGINS = ("operator new", "operator delete", "je_", "tc_malloc", "tc_free", "mi_malloc")
_LOCKS = (
    *("pthread_mutex_", "__pthread_mutex_", "___pthread_mutex_", "pthread_spin_", "pthread_rwlock"),
    *("__pthread_rwlock", "___pthread_rwlock", "__lll_lock", "lll_lock", "futex", "__futex"),
    *("GOMP_critical", "GOMP_atomic", "gomp_mutex", "omp_set_lock", "omp_unset_lock"),
    *("omp_set_nest_lock", "__kmpc_critical", "__kmpc_end_critical", "__kmp_acquire"),
    *("__kmpc_set_lock", "std::mutex::lock"),
)
# Matrices and vectors by BLAS' own names. In an optimised BLAS these only call its kernels, whose
# names are others; in the reference BLAS they work.
_BLAS = re.compile(
    r"[sdcz](?:ge|gb|sy|he|tr)m[mv]_|[sdcz]trs[mv]_|[sdcz](?:sy|he)r2?k?_|[sdcz]ger[uc]?_"
)


def is_mpi(place: Place) -> bool:
    is_named = place.module.startswith(_MPI_FILES) or place.function.startswith(_MPI_NAMES)
    return is_named and not place.is_python


def category(stack: Sequence[Place]) -> str:
    """One of those above, or "". stack: innermost first. What Python or the MPI library ask of the
    system is theirs."""
    if any(map(is_mpi, stack)):
        return MPI
    if any(place.module.startswith("libheadrace") for place in stack):
        return LAYER
    if stack and _BLAS.fullmatch(stack[0].function):
        return REFERENCE_BLAS
    called = []
    for place in stack:
        if place.is_python or not place.module.startswith(_SYSTEM):
            if place.is_python or place.module.startswith(_INTERPRETERS):
                return PYTHON
            called += [place] if _is_of_program(place) else []
            break
        called.append(place)
    names = [place.function for place in called]
    if any(name in _ALLOCATION or name.startswith(_ALLOCATION_BEGINS) for name in names):
        return ALLOCATION
    if any(name.startswith(_LOCKS) for name in names):
        return LOCKS
    return LIBM if any(place.module.startswith(_LIBM) for place in called) else ""


def _is_of_program(place: Place) -> bool:
    """An allocator or a lock that is linked into the program itself."""
    name = place.function
    return name in _ALLOCATION or name.startswith((*_ALLOCATION_BEGINS, *_LOCKS))


def is_waiting(stack: Sequence[Place]) -> bool:
    """Of a path in the MPI library: is it in a call that has no work of its own."""
    return not any(place.function.startswith(_WORK) for place in stack)


def caller(stack: Sequence[Place]) -> Place:
    """The innermost function that is not the system's: the one to change."""
    return next(
        (one for one in stack if one.is_python or not one.module.startswith(_SYSTEM)), stack[-1]
    )
