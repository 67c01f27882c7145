"""The fuzzer's random programs (tests/fuzz) through the real entries, judged by its oracle."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import absent
from hanging import JOB_SECONDS
from hosts import REPOSITORY, Host, headrace_library
from running import compile_program, launch, work_directory

# The C interface alone, though it is C++.
WITHOUT_CXX = ["-DOMPI_SKIP_MPICXX=1", "-DMPICH_SKIP_MPICXX=1"]
SOURCES = ["fuzz_main.cc", "fuzz_file.cc", "fuzz_completion.cc", "fuzz_errors.cc"]
SOURCES += ["fuzz_gather.cc", "fuzz_types.cc", "harness_calls.c"]
FLAGS = ["-std=c++20", "-O1", "-g", "-Wall", "-Wextra", "-pthread", f"-I{REPOSITORY / 'tests'}"]
FLAGS += ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]  # the C++ bindings of old libraries
REGRESSIONS = sorted((REPOSITORY / "tests" / "fuzz" / "regressions").glob("*.txt"))
# The oracle takes most of the time, so more seeds are spent where there are fewer ranks.
SHARE = {2: 40, 3: 25}
DEEP = 2000
SECONDS_FOR_ONE = 20  # many times what one takes


def fuzz_library() -> Path | None:
    """The fuzzer's library from the build of the library under test, else the newest build's."""
    builds = [headrace_library().parents[1], REPOSITORY / "build"]
    for build in builds:
        if found := sorted(
            build.rglob("libheadrace_fuzz.a"), key=lambda path: path.stat().st_mtime
        ):
            return found[-1]
    absent("the fuzzer's library is not built (no libheadrace_fuzz.a beside libheadrace.so)")
    return None


def compile_fuzz(host: Host) -> Path:
    library = fuzz_library()
    stamp = f"-DFUZZ_LIBRARY_OF={library.stat().st_mtime_ns}"  # compiled again with a new library
    flags = ["-x", "c++", *FLAGS, stamp]
    libraries = [f"-l:{library.name}", "-lstdc++", "-lm"]
    compiler = [*host.compilers["c"], f"-L{library.parent}", *libraries]
    return compile_program(compiler, SOURCES, f"fuzz-{host.name}", flags)


def run_fuzz(host: Host, ranks: int, arguments: list, count: int) -> None:
    program = compile_fuzz(host)
    directory = work_directory(f"fuzz-{host.name}-{ranks}")
    limit = JOB_SECONDS + SECONDS_FOR_ONE * count
    result = launch(host, ranks, [program, *arguments, directory], layered=True, timeout=limit)
    assert result.code == 0 and f"0 of {count} sequences failed" in result.out, result.explain()
    assert not list(directory.iterdir()), "files are left"


@pytest.mark.parametrize("ranks", sorted(SHARE))
def test_fuzz(host: Host, ranks: int, library) -> None:
    count = SHARE[ranks]
    arguments = ["--seed", 10_000 * ranks, "--count", count]
    run_fuzz(host, ranks, arguments, count)


def test_fuzz_single_threaded(host: Host, library) -> None:
    run_fuzz(host, 2, ["--single", "--seed", 50_000, "--count", 15], 15)


@pytest.mark.skipif(not REGRESSIONS, reason="no seed has failed yet")
def test_regressions(host: Host, library) -> None:
    """Programs that failed once."""
    words = [word for path in REGRESSIONS for word in ("--program", path)]
    run_fuzz(host, 4, words, len(REGRESSIONS))


@pytest.mark.deep
@pytest.mark.timeout(2 * SECONDS_FOR_ONE * DEEP)
@pytest.mark.parametrize("ranks", [2, 3])
def test_fuzz_deep(host: Host, ranks: int, library) -> None:
    run_fuzz(host, ranks, ["--seed", 1_000_000 * ranks, "--count", DEEP], DEEP)
