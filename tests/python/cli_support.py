"""What the tests of the command share: programs and MPIs made for the purpose, a library that
tells where it was loaded, fake launchers, and a way to run the command as a user does."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from forking import Forking

ROOT = Path(__file__).resolve().parents[2]

# Each process that loads it leaves a file with its program, its arguments and its environment.
MARKER_SOURCE = r"""
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static void copy(int out, const char *from) {
  char buffer[65536];
  int in = open(from, O_RDONLY);
  long got;
  while (in >= 0 && (got = read(in, buffer, sizeof buffer)) > 0) (void)!write(out, buffer, got);
  close(in);
  (void)!write(out, "\n", 1);
}
__attribute__((constructor)) static void mark(void) {
  char path[4096];
  for (int count = 0;; ++count) { /* a process that executes another program loads it again */
    snprintf(path, sizeof path, "%s/%ld.%d", MARKER_DIRECTORY, (long)getpid(), count);
    int out = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (out < 0 && access(path, F_OK) == 0) continue;
    if (out < 0) return;
    copy(out, "/proc/self/cmdline");
    copy(out, "/proc/self/environ");
    close(out);
    return;
  }
}
"""


@dataclass(frozen=True)
class Mark:
    """One loading of the marker library."""

    command: list[str]
    environ: dict[str, str]

    @property
    def name(self) -> str:
        return Path(self.command[0]).name


@dataclass
class Marker:
    library: Path
    folder: Path

    def marks(self) -> list[Mark]:
        found = []
        for path in sorted(self.folder.iterdir()):
            command, _, environ = path.read_bytes().decode().partition("\0\n")
            pairs = (entry.partition("=") for entry in environ.strip("\n").split("\0") if entry)
            found.append(Mark(command.split("\0"), {name: value for name, _, value in pairs}))
        return found


def compile_c(source: str, output: Path, *flags: str) -> Path:
    """Compiles C text; everything here needs a compiler, as building Headrace does."""
    output.parent.mkdir(parents=True, exist_ok=True)
    compiler = os.environ.get("CC", "cc").split()
    line = [*compiler, "-x", "c", "-", "-x", "none", *flags, "-o", str(output)]
    subprocess.run(line, input=source.encode(), check=True)
    return output


FORKING = Forking()


@dataclass
class Command:
    """Runs `headrace` in a process of its own, with a clean environment plus `environ`."""

    environ: dict[str, str] = field(default_factory=dict)
    directory: Path = field(default_factory=Path)

    def __call__(self, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
        words = [str(word) for word in arguments]
        environ = {**self.environ, **variables}
        if FORKING.can(environ) and (done := FORKING.run(words, environ, self.directory)):
            return done
        return subprocess.run(
            [sys.executable, "-m", "headrace", *words],
            env=environ,
            cwd=self.directory,
            capture_output=True,
            text=True,
            check=False,
        )


def clean_environment() -> dict[str, str]:
    names = ("PATH", "HOME", "TMPDIR", "LANG")
    return {name: os.environ[name] for name in names if name in os.environ}


def mpi_path() -> str:
    """Prefixes of the MPIs to test with: those given, else those the checkout has set up."""
    provisioned = sorted((ROOT / ".dev" / "mpi").glob("*"))
    return os.environ.get("HEADRACE_MPI_PATH") or ":".join(map(str, provisioned))


FAKE_LAUNCHER = """#!{python}
import json, os, sys
if sys.argv[1:] == ["--version"]:
    print({version!r})
else:
    json.dump({{"argv": sys.argv, "environ": dict(os.environ)}}, open({record!r}, "w"))
    sys.exit({code})
"""


@dataclass
class FakeLauncher:
    path: Path
    record: Path

    def seen(self) -> dict:
        return json.loads(self.record.read_text())


MPI_PROGRAM = "int MPI_Init(int*, char***); int main(int c, char **v){return MPI_Init(&c, &v);}"


def make_mpi(folder: Path, soname: str, *symbols: str) -> Path:
    """A library that looks like an MPI, and defines `symbols` besides."""
    names = ["PMPI_Init", "MPI_Init", "PMPI_Type_get_contents", *symbols]
    source = "\n".join(f"int {name}() {{ return 0; }}" for name in dict.fromkeys(names))
    flags = ("-shared", "-fPIC", f"-Wl,-soname,{soname}")
    return compile_c(source, folder / "lib" / soname, *flags)


def link(program: Path, *libraries: Path, flags: tuple[str, ...] = ()) -> Path:
    paths = [f"-Wl,-rpath,{library.parent}" for library in libraries]
    return compile_c(MPI_PROGRAM, program, *map(str, libraries), *paths, *flags)
