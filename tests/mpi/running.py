"""Compiling and launching test programs, and seeing what they leave behind."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hanging import JOB_SECONDS, PATIENCE, end_processes, processes_below
from hosts import AS_ROOT, REPOSITORY, YIELD, Host, headrace_library

PROGRAMS = Path(__file__).resolve().parent / "programs"
BUILD = REPOSITORY / "build" / "mpi-tests"
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
"""Which of the processes that run tests side by side this is, or empty."""
CLEANING_SECONDS = 20  # for a launcher that is told to end
C_FLAGS = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-pthread"]
DRIVER_VARIABLES = {"HEADRACE_LIBRARY", "HEADRACE_MPI_DIR"}

# What MPI libraries themselves keep in /dev/shm and /tmp while others run (or leave there).
FOREIGN = re.compile(
    r"ompi|prte|pmix|psm|mpich|vader|sm_segment|Intel_MPI|shm-col|impi|hydra|ucx|pytest|ccache|/cc\w{6}(\.|$)"
)


@dataclass
class Result:
    command: list[str]
    code: int
    out: str
    err: str
    seconds: float
    litter: list[str]

    def explain(self) -> str:
        tail = "\n".join(self.err.splitlines()[-30:])
        return f"{' '.join(self.command)}\nexit code {self.code}\n{self.out[-6000:]}\n{tail}"


def compile_program(
    compiler: list[str], sources: list[str], name: str, flags: list[str] | None = None
) -> Path:
    """Compiles `sources` of programs/ unless that was done before with the same text and flags.

    Libraries (words beginning with -l) in `compiler` go behind the sources.
    """
    paths = [PROGRAMS / source for source in sources]
    fortran = paths[0].suffix == ".F90"
    arguments = flags if flags is not None else ([] if fortran else C_FLAGS)
    libraries = [word for word in compiler if word.startswith("-l")]
    command = [word for word in compiler if not word.startswith("-l")] + arguments
    digest = hashlib.sha256(repr((command, libraries)).encode())
    for path in [*paths, *sorted(PROGRAMS.glob("*.h"))]:
        digest.update(path.read_bytes())
    target = BUILD / "bin" / f"{name}-{digest.hexdigest()[:12]}"
    if target.exists():
        return target
    with one_at_a_time(target.name):
        if not target.exists():
            _compile([*command, *map(str, paths)], libraries, target)
    return target


def _compile(command: list[str], libraries: list[str], target: Path) -> None:
    # Where Fortran leaves its modules.
    with tempfile.TemporaryDirectory(prefix=".compiling-", dir=target.parent) as folder:
        made = Path(folder) / target.name
        full = [*command, "-o", str(made), *libraries]
        environment = os.environ | {"TMPDIR": "/tmp"}
        done = subprocess.run(full, capture_output=True, text=True, env=environment, cwd=folder)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(full)}\n{done.stderr}")
        made.rename(target)


@contextlib.contextmanager
def one_at_a_time(name: str) -> Iterator[None]:
    """Of the processes that run tests side by side."""
    folder = BUILD / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def compile_c(host: Host, sources: list[str], name: str) -> Path:
    return compile_program(host.compilers["c"], sources, f"{name}-{host.name}")


def work_directory(name: str) -> Path:
    """An empty directory for a run's files, kept until the next run of the same name."""
    path = BUILD / "run" / WORKER / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


SIZE = r"([\d.]+ (?:B|KiB|MiB|GiB))"
"""A number of bytes as Headrace tells it."""


def mebibytes(told: str) -> float:
    """Of a text like SIZE."""
    number, unit = told.split()
    return float(number) * {"B": 2**-20, "KiB": 2**-10, "MiB": 1, "GiB": 2**10}[unit]


def records() -> dict[str, str]:
    """Where records go that no test asked for: not into the directory that pytest was started in.
    And what killed jobs leave, as they should: not where litter is looked for."""
    place = BUILD / "run" / WORKER
    images = BUILD / "images"
    images.mkdir(parents=True, exist_ok=True)
    return {
        "HEADRACE_LOGPATH": str(place / "headrace-records"),
        "HEADRACE_RECORD_DIRECTORY": str(images),
    }


def listing() -> set[str]:
    names = set()
    for directory in ("/dev/shm", "/tmp"):
        names |= {f"{directory}/{name}" for name in os.listdir(directory)}
    return names


def litter_since(before: set[str]) -> list[str]:
    """New names in /dev/shm and /tmp; outside CI, where others work too, only the layer's.
    Those of a test that runs beside go when it ends."""
    new = {name for name in listing() - before if not FOREIGN.search(name)}
    if os.environ.get("CI") != "true":
        new = {name for name in new if re.search(r"/headrace-[0-9a-f]{32}$", name)}
    deadline = time.monotonic() + (PATIENCE if WORKER else 0)
    while new and time.monotonic() < deadline:
        time.sleep(0.1)
        new &= listing()
    return sorted(new)


def run(command: list, environment: dict | None = None, timeout: float = JOB_SECONDS, **options):
    """Runs to the end; after `timeout` seconds ends all that it has started and gives code 124."""
    before, start = listing(), time.monotonic()
    inherited = {key: value for key, value in os.environ.items() if key not in DRIVER_VARIABLES}
    process = subprocess.Popen(
        [str(word) for word in command],
        env=inherited | YIELD | AS_ROOT | records() | (environment or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
        **options,
    )
    try:
        out, err = process.communicate(timeout=timeout)
        code = process.returncode
    except subprocess.TimeoutExpired:
        # Launchers put ranks into groups of their own.
        started = processes_below(process.pid) | {process.pid}
        os.killpg(process.pid, signal.SIGTERM)
        for _ in range(CLEANING_SECONDS):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=1)
            if process.poll() is not None:
                break
        end_processes(started)
        out, err = process.communicate()
        code, err = 124, err + f"\nno end within {timeout:.0f} s\n"
    except BaseException:  # we are being ended: leave nothing running
        end_processes(processes_below(process.pid) | {process.pid})
        raise
    seconds = time.monotonic() - start
    return Result([str(word) for word in command], code, out, err, seconds, litter_since(before))


def shared_object(source: str, compiler: list[str] | None = None) -> Path:
    flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra"]
    return compile_program(compiler or ["gcc", "-ldl"], [source], Path(source).stem, flags)


def preload(objects: list[Path]) -> dict[str, str]:
    return {"LD_PRELOAD": ":".join(map(str, objects))} if objects else {}


def launch(
    host: Host,
    ranks: int,
    program: list,
    layered: bool,
    environment: dict | None = None,
    timeout: float = JOB_SECONDS,
    objects: list[Path] | None = None,
    before: list | None = None,
    **options,
) -> Result:
    """Runs `program` on `ranks` ranks; the preload reaches the ranks alone, not the launcher.

    `objects` are preloaded in place of the layer alone; `before` goes before the launcher.
    """
    own = {"MPI_TEST_EXPECT": "engine" if layered else "plain", "HEADRACE_QUIET": "1"}
    chosen = objects if objects is not None else [headrace_library()] if layered else []
    if host.family.startswith("mpich") and ranks > 2:
        chosen = [*chosen, shared_object("yield_shim.c")]
    own |= preload(chosen)
    own |= records() | (environment or {})
    words = [f"{key}={value}" for key, value in own.items()]
    line = [*(before or []), *host.launch_line(ranks), "env", *words, *program]
    return run(line, host.environment, timeout, **options)


def tree(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }
