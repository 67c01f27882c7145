"""MPICH's tests of MPI-IO (test/mpi/io, errors/io, f77, f90, f08) and of collective operations
(test/mpi/coll), and ROMIO's own."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from building import compile_with, up_to_date, write_if_changed
from case import BUILD, Case, Judge, Run, says, whole
from hosts import Host

ROMIO_FAILURE = re.compile(
    r"Found [1-9]\d* errors|should be|[Ee]xpected .* got|[Cc]orrupt|failed|Unexpected error"
)
# What these tests call requests of file operations, and that they are MPI's.
REQUEST_FLAGS = ["-DMPIO_Request=MPI_Request", "-DMPIO_USES_MPI_REQUEST"]
OFFSET = "integer(kind=MPI_OFFSET_KIND)"
# What MPICH's configure would find out about a compiler and an MPI of today.
CONFIGURATION = """\
#define HAVE_GETRUSAGE 1
#define HAVE_LONG_DOUBLE 1
#define HAVE_LONG_LONG 1
#define HAVE_MPI_IO 1
#define HAVE_STDARG_H 1
#define HAVE_STDINT_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRDUP 1
#define HAVE_STRING_H 1
#define HAVE_SYS_RESOURCE_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_UNISTD_H 1
#define HAVE_USLEEP 1
#define F77_NAME_LOWER_USCORE 1
#define THREAD_PACKAGE_NAME THREAD_PACKAGE_NONE
#define SIZEOF_INT 4
#define SIZEOF_MPI_OFFSET 8
#define SIZEOF_VOID_P 8
"""
# ROMIO's tests with their ranks; those that take a file name by -fname, and by place.
ROMIO_NAMED = {
    **{"simple": 4, "async": 4, "async-multiple": 4, "atomicity": 4, "coll_test": 4, "excl": 4},
    **{"creat_excl": 4, "file_info": 4, "i_noncontig": 2, "noncontig": 2, "noncontig_coll": 2},
    **{"noncontig_coll2": 4, "misc": 4, "shared_fp": 4, "ordered_fp": 4, "split_coll": 4},
    **{"psimple": 4, "error": 1, "status": 1, "perf": 4, "external32": 1},
}
ROMIO_PLACED = {"aggregation2": 4, "hindexed": 4, "types_with_zeros": 2, "darray_read": 4}
ROMIO_PLACED |= {"big_extents": 4}
ROMIO_FORTRAN = {"fmisc": 4, "fcoll_test": 4, "pfcoll_test": 4, "fperf": 4}
# These print their findings only and say nothing when all is well.
ROMIO_SILENT = {"perf", "fperf", "external32", "big_extents"}
C_TESTS = {
    **{"rdwrord": 4, "rdwrzero": 4, "getextent": 2, "setinfo": 4, "setviewcur": 4, "async": 4},
    **{"i_noncontig": 2, "async_any": 4, "userioerr": 1, "resized": 1, "resized2": 1},
    **{"hindexed_io": 1, "tst_fileview": 1, "zero_count": 4, "simple_collective": 1},
    **{"external32_derived_dtype": 1, "i_hindexed_io": 1, "i_rdwrord": 4, "i_setviewcur": 4},
    **{"i_aggregation1": 4, "i_aggregation2": 4, "i_coll_test": 4, "i_darray_read": 4},
    **{"i_hindexed": 4, "i_noncontig_coll": 2, "i_noncontig_coll2": 4, "i_types_with_zeros": 2},
    **{"bigtype": 1, "i_bigtype": 1},
}
C_ARGUMENTS = {"simple_collective": ["simple_collective.testfile"]}
ERROR_TESTS = {"fileerrret": 1, "openerr": 1, "file_errhdl": 1}
# The stem of a Fortran test, whose name ends in f or f90, and its ranks.
FORTRAN_TESTS = {"fileerr": 1, "fileinfo": 3, "shposition": 4, "atomicity": 8, "miscfile": 4}
FORTRAN_TESTS |= {"setviewcur": 4, "i_setviewcur": 4, "i_fcoll_test": 4}
FORTRAN_GENERATED = {
    **{"iwriteat": 4, "iwrite": 4, "iwritesh": 4, "write": 4, "writeat": 4, "writeall": 4},
    **{"writesh": 4, "writeord": 4, "writeatall": 4, "writeatallbe": 4, "writeallbe": 4},
    **{"writeordbe": 4, "iwriteatall": 4},
}
NO_ERRORS = whole(says(r"^ *No Errors"))
COLLECTIVE_HELPERS = ("mtest.c", "mtest_common.c", "mtest_thread.c", "dtypes.c")
COLLECTIVE_SECONDS = 120
ALL_COLLECTIVES = {
    "HEADRACE_COLLECTIVES": "1",
    "HEADRACE_COLL_USE": "always",
    "HEADRACE_COLL_AFTER": "0",
}


def romio_cases(host: Host, source: Path) -> Iterator[Case]:
    folder = source / "src" / "mpi" / "romio" / "test"
    arguments = {name: ["-fname", "test"] for name in (*ROMIO_NAMED, *ROMIO_FORTRAN)}
    arguments |= {name: ["test"] for name in ROMIO_PLACED}
    arguments |= {"aggregation1": ["-f", "test"], "perf": ["-fname", "test"]}
    for name, ranks in (ROMIO_NAMED | ROMIO_PLACED | {"aggregation1": 4}).items():
        path = _filled(folder, f"{name}.c", "romio")
        words = arguments[name]
        yield _case(host, "c", f"romio/{name}", [path], ranks, words, _judge(name), REQUEST_FLAGS)
    language = "mpif.h"
    if language not in host.compilers:
        return
    for name, ranks in ROMIO_FORTRAN.items():
        path = _filled(folder, f"{name}.f", "romio")
        program = [f"romio/{name}", [path], ranks, arguments[name], _judge(name)]
        yield _case(host, language, *program)


def mpich_cases(host: Host, source: Path) -> Iterator[Case]:
    tests = source / "test" / "mpi"
    write_if_changed(BUILD / "mpich" / "mpitestconf.h", CONFIGURATION)
    common = [tests / "util" / name for name in ("mtest.c", "mtest_common.c", "mtest_thread.c")]
    flags = [f"-I{BUILD / 'mpich'}", f"-I{tests / 'include'}", *REQUEST_FLAGS, "-lm"]
    for folder, names in (("io", C_TESTS), ("errors/io", ERROR_TESTS)):
        for name, ranks in names.items():
            paths = [tests / folder / f"{name}.c", *common]
            words = C_ARGUMENTS.get(name, [])
            yield _case(host, "c", f"mpich/{name}", paths, ranks, words, NO_ERRORS, flags)
    for language, folder, end, support in (
        ("mpif.h", "f77", "f.f", "mtest_f77.f"),
        ("mpi", "f90", "f90.f90", "mtest_f90.f90"),
        ("mpi_f08", "f08", "f90.f90", "mtest_f08.f90"),
    ):
        if language not in host.compilers:
            continue
        helper = tests / "util" / support
        for path, ranks in _fortran_tests(source, folder, end):
            name = f"mpich-{folder}/{path.stem}"
            flags = ["-J", str(BUILD), f"-I{path.parent}", f"-I{BUILD / 'mpich' / 'f77'}"]
            yield _case(host, language, name, [path, helper], ranks, [], NO_ERRORS, flags)


def mpich_collective_cases(host: Host, source: Path) -> Iterator[Case]:
    """Those of blocking operations, with all that the layer can carry out."""
    tests = source / "test" / "mpi"
    write_if_changed(BUILD / "mpich" / "mpitestconf.h", CONFIGURATION)
    common = [tests / "util" / name for name in COLLECTIVE_HELPERS]
    flags = [f"-I{BUILD / 'mpich'}", f"-I{tests / 'include'}", "-lm"]
    for name, ranks in _collective_tests(tests / "coll"):
        paths = [tests / "coll" / f"{name}.c", *common]
        program, missing = compile_with(host, "c", paths, f"mpich-coll/{name}", flags)
        yield Case(
            f"{name}-{ranks}",
            ranks,
            [program],
            NO_ERRORS,
            timeout=COLLECTIVE_SECONDS,
            environment=ALL_COLLECTIVES,
            missing=missing,
        )


def _collective_tests(folder: Path) -> Iterator[tuple[str, int]]:
    """Names and ranks, from MPICH's own list."""
    for line in (folder / "testlist.in").read_text().splitlines():
        words = line.split()
        # Persistent, nonblocking and neighbourhood operations are the library's; so are those that
        # need much memory or arguments of MPICH's own types.
        if len(words) != 2 or re.match(r"#|@|p_|nb|i(allred|barrier)|neighb_|ring_", words[0]):
            continue
        name, ranks = words
        if not name.startswith("nonblocking") and (folder / f"{name}.c").exists():
            yield name, int(ranks)


def _judge(name: str) -> Judge:
    def passed(run: Run) -> bool:
        if run.result.code != 0 or ROMIO_FAILURE.search(_without_hopes(name, run.text)):
            return False
        return name in ROMIO_SILENT or bool(re.search(r"No Errors", run.text))

    return whole(passed)


def _without_hopes(name: str, text: str) -> str:
    """Without the lines in which a test says beforehand what should be seen."""
    return "" if name in ("error", "file_info", "misc", "fmisc") else text


def _case(host, language, name, sources, ranks, arguments, judge, flags=()) -> Case:
    program, missing = compile_with(host, language, sources, name, flags)
    return Case(name.replace("/", "-"), ranks, [program, *arguments], judge, missing=missing)


def _filled(folder: Path, name: str, place: str) -> Path:
    """The source, with what configure would fill in."""
    template = folder / f"{name}.in"
    if not template.exists():
        return folder / name
    values = {
        "@LL@": "lld",
        "@PERL@": "/usr/bin/perl",
        "@F77MPIOINC@": "",
        "@FORTRAN_MPI_OFFSET@": OFFSET,
        "@F77_MPI_OFFSET@": OFFSET,
        "@F77_MPI_ADDRESS@": "integer(kind=MPI_ADDRESS_KIND)",
        "@F77IARGC@": "command_argument_count()",
        "@F77GETARG@": "call get_command_argument(i, str)",
    }
    text = template.read_text()
    for key, value in values.items():
        text = text.replace(key, value)
    # The function is the compiler's own where its name is declared nowhere.
    text = text.replace(", iargc", "").replace("argc = command_argument", "argc=command_argument")
    target = BUILD / place / name
    write_if_changed(target, text)
    return target


def _fortran_tests(source: Path, folder: str, end: str) -> Iterator[tuple[Path, int]]:
    tests = source / "test" / "mpi" / folder / "io"
    if folder == "f77":
        for header in tests.glob("*.h.in"):
            _filled(tests, header.stem, "mpich/f77")
    for stem, ranks in FORTRAN_TESTS.items():
        found = [path for path in (tests / f"{stem}{end}", tests / f"{stem}.f90") if path.exists()]
        if found:
            yield found[0], ranks
    if not (tests / "ioharness.defn").exists():
        return
    generated = BUILD / "mpich" / f"{folder}-generated"
    _generate(source, tests, generated)
    for stem, ranks in FORTRAN_GENERATED.items():
        yield generated / f"{stem}{end}", ranks


def _generate(source: Path, tests: Path, target: Path) -> None:
    """MPICH makes these tests from a template and a list of the calls to test."""
    definitions = [tests / "ioharness.defn", tests / "ioharness.tlt"]
    stamp = target / "stamp"
    if up_to_date(stamp, definitions):
        return
    target.mkdir(parents=True, exist_ok=True)
    common = source / "test" / "mpi" / "maint" / "common.defn"
    maker = _filled(common.parent, "testmerge", "mpich")
    command = ["perl", maker, f"-defn={common}", *definitions]
    subprocess.run(command, cwd=target, check=True, capture_output=True)
    stamp.touch()
