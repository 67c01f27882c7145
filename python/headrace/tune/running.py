"""Runs the program that measures, shows how far it is, and reads its figures."""

import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from headrace import __version__
from headrace.bench.by_line import launch_by_line
from headrace.bench.programs import find_program
from headrace.bench.runner import end_group, find_host, launch, start_captured
from headrace.errors import HeadraceError
from headrace.launch.values import Launch
from headrace.tune.figures import Measured, from_program

PROGRAM = "tune"
PROGRESS = re.compile(r"progress (\d+)/(\d+) (.*)")
# A job may take longer than it was told to: each figure needs a few samples. So many times as long,
# and so many seconds.
PATIENCE, MORE_SECONDS = 10, 300

Tell = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Way:
    """How ranks are started: `ranks` of them by the launcher of the MPI `mpi`, or by a launcher
    line of the user's."""

    mpi: str
    ranks: int
    line: tuple[str, ...] = ()


def measure(
    way: Way,
    folder: Path,
    flags: Sequence[str],
    seconds: float,
    environ: Mapping[str, str],
    tell: Tell,
    variables: Mapping[str, str] | None = None,
) -> Measured:
    """One job. folder: where it makes its files, empty at the end. variables: for its ranks."""
    own = {
        "HEADRACE_QUIET": "1",
        "HEADRACE_RECORD": "0",
        "HEADRACE_PROFILE": "none",
        **(variables or {}),
    }
    arguments = ["--directory", str(folder), "--seconds", f"{seconds:g}", *flags]
    line = _launch(way, arguments, {**environ, **own}, own)
    with start_captured(line) as child:
        try:
            text, rest = _follow(child, PATIENCE * seconds + MORE_SECONDS, tell)
        except BaseException:
            end_group(child)
            raise
    if child.returncode != 0 or not text:
        raise _failure(child.returncode, rest)
    measured = from_program(
        text,
        mount=mount_point(folder),
        date=datetime.now(UTC).date().isoformat(),
        headrace=__version__,
    )
    if not flags and not measured.file_system:
        raise HeadraceError(
            "the file system was not measured",
            "Headrace did not serve the job's files",
            "see 'headrace doctor', and whether a setting turns Headrace off",
            1,
        )
    return measured


def _launch(
    way: Way, arguments: Sequence[str], environ: Mapping[str, str], own: Mapping[str, str]
) -> Launch:
    if not way.line:
        host = find_host(way.mpi, environ)
        program = find_program(PROGRAM, way.mpi, environ)
        command = [str(program), *arguments]
        return launch(host, way.ranks, command, environ, preload=True, variables=own)
    return launch_by_line(way.line, PROGRAM, arguments, way.mpi, environ, own)


def _follow(child: "subprocess.Popen[str]", limit: float, tell: Tell) -> tuple[str, list[str]]:
    """The figures that the program prints, and all other lines but those of progress."""
    assert child.stdout is not None
    figures: list[str] = []
    rest: list[str] = []
    is_inside = False
    with _Limit(child, limit):
        for line in child.stdout:
            line = line.rstrip("\n")
            if found := PROGRESS.fullmatch(line):
                tell(int(found[1]), int(found[2]), found[3])
            elif line == "figures":
                is_inside = True
            elif line == "end of figures":
                is_inside = False
            elif is_inside:
                figures.append(line)
            elif line.strip():
                rest.append(line)
        child.wait()
    return "\n".join(figures), rest


class _Limit:
    """Ends a job that takes far too long."""

    def __init__(self, child: "subprocess.Popen[str]", seconds: float):
        self._timer = threading.Timer(seconds, self._end)
        self._child = child

    def _end(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._child.pid, signal.SIGTERM)

    def __enter__(self) -> None:
        self._timer.daemon = True
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


def _failure(code: int, lines: Sequence[str]) -> HeadraceError:
    marker = f"{PROGRAM}: error: "
    own = [line.split(marker, 1)[1] for line in lines if marker in line]
    why = own[0] if own else f"exit code {code}" + (f": {lines[-1]}" if lines else "")
    return HeadraceError(
        "the file system was not measured", why, "see why, or give another directory", 1
    )


def mount_point(folder: Path, table: Path = Path("/proc/self/mountinfo")) -> str:
    """Where the file system of a directory is mounted, by its device number; "" if unknown."""
    device = folder.stat().st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}".encode()
    try:
        lines = table.read_bytes().splitlines()
    except OSError:
        return ""
    for line in lines:
        words = line.split(b" ")
        if len(words) > 4 and words[2] == wanted:
            return _mount_name(words[4])
    return ""


def _mount_name(escaped: bytes) -> str:
    name = re.sub(rb"\\([0-7]{3})", lambda match: bytes([int(match[1], 8) & 255]), escaped)
    try:
        return name.decode()
    except UnicodeDecodeError as error:
        raise HeadraceError(
            "a profile cannot name this file system",
            f"its mount point {os.fsdecode(name)!r} is not UTF-8",
            "mount it elsewhere",
        ) from error
