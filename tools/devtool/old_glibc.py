"""What GCC compiles and links against instead of this system's glibc: headers, stub libraries and
start files of an older one, in the layout that GCC's --sysroot wants.

PyPI's ziglang has the headers and the tables of symbols of each glibc version, and makes the stub
libraries and the start files when it links a program. Nothing else of it is used: the compiler and
the C++ library are the system's GCC.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from devtool import stub_names
from devtool.failure import Failure
from devtool.paths import ROOT, VENV
from devtool.steps import run_logged
from devtool.symbol_versions import numbers

# What GCC 12's C++ library takes from glibc and 2.28 lacks. Linked statically, when asked for.
LATER_FUNCTIONS = ROOT / "packaging" / "old_glibc" / "later_functions.c"
# GCC's own, of which any version will do: the version of each symbol is checked after linking.
LIBGCC = "libgcc_s.so.1"
LATER_HEADER = re.compile(rb'#\s*error "\S+ did not exist before glibc ([\d.]+)"')


def is_made(folder: Path, version: str) -> bool:
    """Whether make_sysroot() has made `folder`, as this file and its sources are."""
    stamp = _stamp(folder)
    return stamp.exists() and stamp.read_text() == _made_of(version)


def _stamp(folder: Path) -> Path:
    return folder / "made-of"


def _made_of(version: str) -> str:
    sources = (LATER_FUNCTIONS, Path(__file__), Path(stub_names.__file__))
    return "\n".join([version, *(path.read_text() for path in sources)])


def make_sysroot(folder: Path, version: str, log: Path) -> None:
    """Makes `folder` anew: programs then run with this glibc version and later ones.

    Errors: Failure when ziglang or the compiler fails.
    """
    machine = platform.machine()
    shutil.rmtree(folder, ignore_errors=True)
    lib = folder / "usr" / "lib"
    lib.mkdir(parents=True)
    said = _link_with_zig(folder, f"{machine}-linux-gnu.{version}", log)
    # The first of the folders wins where two have the same header.
    places = re.findall(r"-isystem (\S+/libc/include/\S+)", said)
    for place in reversed(places):
        shutil.copytree(place, folder / "usr" / "include", dirs_exist_ok=True)
    _remove_later_headers(folder / "usr" / "include", version)
    made = re.findall(r"\S+/(?:lib\w+\.so\.\d+|\w*crt1\.o|libc_nonshared\.a)(?= |$)", said, re.M)
    if not places or not made:
        raise Failure("no old glibc was made", "ziglang shows no files of it", "see the log", log)
    for path in map(Path, made):
        shutil.copy(path, lib)
    _finish(folder, log)
    shutil.rmtree(folder / "cache")
    _stamp(folder).write_text(_made_of(version))


def _link_with_zig(folder: Path, target: str, log: Path) -> str:
    """Links a program for the target, and returns what Zig says that it runs for that."""
    source = folder / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    cache = {f"ZIG_{kind}_CACHE_DIR": str(folder / "cache") for kind in ("GLOBAL", "LOCAL")}
    zig = [VENV / "bin" / "python-zig", "cc", "-target", target, "-v", "-pie"]
    command = [str(word) for word in [*zig, source, "-o", folder / "empty"]]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **cache}, capture_output=True, text=True, check=False
    )
    with log.open("a") as output:
        output.write(f"$ {' '.join(command)}\n{done.stderr}")
    if done.returncode != 0:
        raise Failure("no old glibc was made", "ziglang failed", "see the log", log)
    return done.stderr


def _remove_later_headers(include: Path, version: str) -> None:
    """Zig has them all, and those that the version lacks are an #error. GCC's own headers look
    whether a header is there."""
    for path in include.rglob("*.h"):
        since = LATER_HEADER.search(path.read_bytes())
        if since and numbers(since[1].decode()) > numbers(version):
            path.unlink()


def _finish(folder: Path, log: Path) -> None:
    """Adds what Zig leaves out: start files that are the same in all versions, GCC's own library,
    functions of later versions, several names of one variable, and the names by which a linker
    looks for libraries."""
    lib = folder / "usr" / "lib"
    compiler = os.environ.get("CC", "gcc")
    for name in ("crti.o", "crtn.o", LIBGCC):
        shutil.copy(found_by_compiler(name), lib)
    for library in ("libc.so.6", "libm.so.6"):
        stub_names.join_names(lib / library, found_by_compiler(library))
    functions = folder / "later_functions.o"
    flags = ["-O2", "-fPIC", "-fvisibility=hidden", "-ffunction-sections", f"--sysroot={folder}"]
    hint = "see the first error above it"
    run_logged([compiler, *flags, "-c", LATER_FUNCTIONS, "-o", functions], log, hint)
    run_logged(["ar", "r", lib / "libc_nonshared.a", functions], log, hint)
    # GCC's C++ library, as built with a later glibc, takes from libc what others had before 2.34.
    others = []
    for name in ("m", "pthread", "dl", "rt", "ld"):
        (library,) = lib.glob(f"lib{name}.so.*")
        (lib / f"lib{name}.so").symlink_to(library.name)
        others.append(library.name)
    (lib / "libc.so").write_text(
        f"GROUP(libc.so.6 libc_nonshared.a AS_NEEDED({' '.join(others[1:])}))\n"
    )


def found_by_compiler(name: str) -> Path:
    """The file of this system's libraries that GCC links with. Errors: Failure."""
    compiler = os.environ.get("CC", "gcc")
    command = [compiler, f"-print-file-name={name}"]
    found = ""
    with contextlib.suppress(OSError):  # there is no such compiler
        found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    if not Path(found).is_file():
        why = f"{compiler} does not find {name}"
        raise Failure("no old glibc was made", why, "install GCC, or name it by CC")
    return Path(found)
