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
_FULL_COUNT = "the full count is reported at the end of the file"
_SHORT_READS = {
    f"short_{method}": _FULL_COUNT
    for method in ("all", "at_all", "strided", "plain", "at", "iplain", "iat")
}
_SHORT_BACKGROUND = {
    f"short_{method}": _FULL_COUNT for method in ("iall", "iat_all", "split_all", "split_at_all")
}
_BACKWARDS = {
    f"transfer_{method}": "a memory type whose pieces go backwards is read past its pieces: crashes"
    for method in (
        *("plain", "at", "all", "at_all", "iplain", "iat", "iall", "iat_all"),
        *("split_all", "split_at_all"),
    )
}
_ROMIO_SHARED = {"shared_litter": "the shared pointer is a hidden file beside the data"}
_OMPIO_ERRORS = {
    "error_argument": "negative offsets are not refused, or not by MPI_ERR_ARG",
    "error_handlers": "negative offsets are not refused, or not by MPI_ERR_ARG",
    "error_one_rank": "negative offsets are not refused, or not by MPI_ERR_ARG",
}
_COMPLETIONS = ["wait", "test", "waitany", "testany", "waitall", "testall", "waitsome", "testsome"]
_OMPIO_BACKGROUND = {
    f"nonblocking_{call}": "the status does not say whether the call was cancelled"
    for call in _COMPLETIONS
}
_OMPIO_MODES = {
    "edge_overlapping_read": "pieces of a read-only view must not overlap",
    "shared_seek": "the end of a view with a displacement is misplaced",
    "modes_sequential": "a sequential file is written at any offset",
    "modes_displacement_current": "the displacement is taken from the view, not from the file",
    "modes_displacement_refused": "gives MPI_ERR_DISP, a class of its own",
    "modes_delete_on_close": "sync fails after an ordered write",
    "modes_differ": "access modes that differ between ranks are taken",
    "nonblocking_free": "freed requests may be under way when the file is closed",
}

FAULTS: dict[str, dict[str, str]] = {
    "mpich5": _CLASS_ON_ONE_RANK
    | _SHORT_BACKGROUND
    | _ROMIO_SHARED
    | {
        "short_strided": _SHORT_READS["short_strided"],
        "nonblocking_free": "data of freed requests is missing after close, now and then",
    },
    "intel": _CLASS_ON_ONE_RANK
    | _SHORT_READS
    | _SHORT_BACKGROUND
    | _ROMIO_SHARED
    | {
        "edge_empty_view": "the pointer goes astray in an empty view",
        "edge_zero_blocks": "blocks of no length are counted",
        "nonblocking_free": "data of freed requests is missing after close, now and then",
        "modes_sequential": "a position is given for a sequential file",
    },
    "mpich4": _CLASS_ON_ONE_RANK
    | _SHORT_READS
    | _SHORT_BACKGROUND
    | _ROMIO_SHARED
    | {
        "nonblocking_free": "data of freed requests is missing after close",
        "modes_sequential": "a position is given for a sequential file",
    },
    "openmpi5": _SHORT_READS | _OMPIO_ERRORS | _OMPIO_BACKGROUND | _OMPIO_MODES,
    "openmpi4": _SHORT_READS | _OMPIO_ERRORS | _OMPIO_BACKGROUND | _OMPIO_MODES,
}

_OMPIO_ATOMIC = {f"atomic_{case}": "atomic mode is not atomic" for case in ["same_places", "reads"]}
for _family in ("openmpi5", "openmpi4"):
    FAULTS[_family] |= _OMPIO_ATOMIC

# None of the libraries passes one of these: they take bad arguments, give other classes, call the
# file's error handler and then return success, hang in the collective calls, or crash.
_EVERYWHERE = (
    {
        f"argument_{case}": "bad arguments are taken, hang or crash"
        for case in (
            *("count", "offset", "null_type", "uncommitted", "mode", "one_rank"),
            *("view", "view_order", "other", "null_file"),
        )
    }
    | {
        f"datarep_{case}": "external32 is partly or wrongly converted, hangs or crashes"
        for case in (
            *("integers", "floating", "pairs", "methods", "short", "filetypes", "overflow"),
            *("nothing", "names"),
        )
    }
    | {
        f"datarep_user_{case}": "registered functions are refused or not called"
        for case in ("registering", "methods", "freed_type", "failing", "missing", "large_counts")
    }
    | {
        "sizes_large_requests": "more than 2 GiB past the end of a file are asked for for ever",
        "sizes_far_pieces": "pieces gigabytes apart are sieved through all that lies between",
        "many_at_once": "a thousand files at once end in an error or take very long",
    }
)
_THREADS = {"order_threads": "two threads that open files block one another for good"}
_ROMIO_CRASHES = {
    "transfer_shifted": "a contiguous memory type is taken to lie where the buffer begins: crashes",
    "datarep_shared": "crashes, or gives other bytes",
    "datarep_memory": "crashes, or gives other bytes",
    "nonblocking_receive": "a nonblocking collective call stands still without further MPI calls",
    "nonblocking_order": "collective calls of two files wait for one another",
    "nonblocking_testall": "MPI_Testall ends the program",
    "nonblocking_get_status": "MPI_Request_get_status ends the program",
    "shared_seek": "a refused collective seek ends the program",
}
_OMPIO_SHORT = {
    f"short_{method}": "hangs at the end of the file"
    for method in ["iplain", "iat", "iall", "iat_all", "split_all", "split_at_all"]
} | {
    "shared_nonblocking": "hangs at the end of the file",
    "shared_short": "hangs at the end of the file",
}
_OMPIO_CONFLICTS = {
    f"atomic_{case}": "atomic mode is not atomic" for case in ["same_places", "reads", "shared"]
} | {
    f"threads_{case}": "threads on one handle end the program now and then"
    for case in ["offsets", "pointer", "collective"]
}
_OMPIO_REFUSED = {
    "error_access": "a refused collective call hangs with more than two ranks",
    "error_argument": "a refused collective call hangs with more than two ranks",
}

SKIPPED: dict[str, dict[str, str]] = {
    "mpich5": _EVERYWHERE | _THREADS | _ROMIO_CRASHES,
    "intel": _EVERYWHERE
    | _THREADS
    | _ROMIO_CRASHES
    | _BACKWARDS
    | {
        "short_iplain": "ends the program",
        "short_iat": "ends the program",
        "atomic_same_places": "ends the program",
    },
    "mpich4": _EVERYWHERE
    | _THREADS
    | _ROMIO_CRASHES
    | _BACKWARDS
    | {
        "error_default_handler": "the program is ended with an internal error",
        "nonblocking_many": "the program is ended when hundreds of calls are under way",
        "nonblocking_free": "the program is ended now and then",
        "transfer_iall": "hangs now and then",
    },
    "openmpi5": _EVERYWHERE
    | _OMPIO_SHORT
    | _OMPIO_CONFLICTS
    | _OMPIO_REFUSED
    | {"position_sizes": "preallocate hangs now and then"},
    "openmpi4": _EVERYWHERE
    | _OMPIO_SHORT
    | _OMPIO_CONFLICTS
    | _OMPIO_REFUSED
    | {
        "position_get_view": "hangs now and then with more than two ranks",
        "position_sizes": "hangs now and then with more than two ranks",
    },
}

# Faults of the library in functions that the layer leaves to it: skipped in both runs.
SKIPPED_WITH_LAYER: dict[str, dict[str, str]] = {
    "mpich4": {
        "error_message": "MPI_Add_error_string is lost for a code of a predefined class",
    },
}
