"""What the plain libraries get wrong in the exerciser's cases, so that no comparison is made there.

Each entry was seen in a run without the layer. `skip` cases hang or crash the program; the others
fail a check of the standard's answer or leave other bytes. With the layer every case must pass.
"""

from __future__ import annotations

_CLASS_ON_ONE_RANK = {
    # rank 0 alone opens; the others learn that it failed, not why
    "open_exclusive": "the class of a failed open is known on one rank only",
    "error_open": "the class of a failed open is known on one rank only",
    "error_default_handler": "the class of a failed open is known on one rank only",
}
_SHORT_READS = {
    "short_all": "the full count is reported at the end of the file",
    "short_at_all": "the full count is reported at the end of the file",
    "short_strided": "the full count is reported at the end of the file",
    "short_plain": "the full count is reported at the end of the file",
    "short_at": "the full count is reported at the end of the file",
}
_BACKWARDS = {
    f"transfer_{method}": "a memory type whose pieces go backwards is read in the wrong order"
    for method in ("plain", "at", "all", "at_all")
}
_OMPIO_ERRORS = {
    "error_argument": "negative offsets are not refused, or not by MPI_ERR_ARG",
    "error_handlers": "negative offsets are not refused, or not by MPI_ERR_ARG",
    "error_one_rank": "negative offsets are not refused, or not by MPI_ERR_ARG",
}

# None of the libraries passes one of these: they take bad arguments, give other classes, call the
# file's error handler and then return success, hang in the collective calls, or crash.
_BAD_ARGUMENTS = {
    f"argument_{case}": "bad arguments are taken, hang or crash"
    for case in (
        "count,offset,null_type,uncommitted,mode,one_rank,view,other,null_file".split(",")
    )
}

FAULTS: dict[str, dict[str, str]] = {
    "mpich5": _CLASS_ON_ONE_RANK | {"short_strided": _SHORT_READS["short_strided"]},
    "intel": _CLASS_ON_ONE_RANK | _SHORT_READS | _BACKWARDS,
    "mpich4": _CLASS_ON_ONE_RANK | _SHORT_READS | _BACKWARDS,
    "openmpi5": _SHORT_READS | _OMPIO_ERRORS,
    "openmpi4": _SHORT_READS | _OMPIO_ERRORS,
}

SKIPPED: dict[str, dict[str, str]] = {
    "mpich5": _BAD_ARGUMENTS
    | {
        "order_threads": "two threads that open files block one another for good",
    },
    "intel": _BAD_ARGUMENTS
    | {
        "order_threads": "two threads that open files block one another for good",
    },
    "mpich4": _BAD_ARGUMENTS
    | {
        "order_threads": "two threads that open files block one another for good",
        "error_default_handler": "the program is ended with an internal error",
    },
    "openmpi5": _BAD_ARGUMENTS
    | {
        "position_sizes": "preallocate hangs now and then",
        "error_access": "a refused collective call hangs with more than two ranks",
        "error_argument": "a refused collective call hangs with more than two ranks",
    },
    "openmpi4": _BAD_ARGUMENTS
    | {
        "position_get_view": "hangs now and then with more than two ranks",
        "position_sizes": "hangs now and then with more than two ranks",
        "error_access": "a refused collective call hangs with more than two ranks",
        "error_argument": "a refused collective call hangs with more than two ranks",
    },
}

# Faults of the library in functions that the layer leaves to it: skipped in both runs.
SKIPPED_WITH_LAYER: dict[str, dict[str, str]] = {
    "mpich4": {
        "error_default_handler": "the error handler of MPI_FILE_NULL is freed too often",
        "error_message": "MPI_Add_error_string is lost for a code of a predefined class",
    },
}
