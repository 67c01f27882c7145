"""Runs the program that measures, shows how far it is, and reads its figures."""

import os
import re
import selectors
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from headrace import __version__, machine
from headrace.bench.by_line import launch_by_line
from headrace.bench.programs import find_program
from headrace.bench.runner import (
    GRACE_SECONDS,
    end_group,
    find_host,
    launch,
    start_captured,
    why_of,
)
from headrace.errors import HeadraceError, say
from headrace.launch.values import Launch
from headrace.tune.figures import Measured, from_program

PROGRAM = "tune"
NOT_MEASURED = "the file system was not measured"
PROGRESS = re.compile(r"progress (\d+)/(\d+) (.*)")
NODES = re.compile(r"nodes (\d+)")
# With the rank before it: "0: ", "[0] ", "[1,0]<stdout>:".
LABELLED = re.compile(r"\S.*[:>\]] ?progress \d+/\d+ .*")
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
    mount = mount_point(folder)
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
        mount=mount,
        date=datetime.now(UTC).date().isoformat(),
        headrace=__version__,
    )
    if not flags and not measured.file_system:
        raise HeadraceError(
            NOT_MEASURED,
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
    """The figures that the program prints, and all other lines but those of progress. Errors:
    HeadraceError if it takes far too long, or if its lines cannot be told."""
    figures: list[str] = []
    rest: list[str] = []
    is_inside = False
    end = time.monotonic() + limit
    try:
        for line in _lines(child, end):
            if found := PROGRESS.fullmatch(line):
                tell(int(found[1]), int(found[2]), found[3])
            elif found := NODES.fullmatch(line):
                _tell_nodes(int(found[1]))
            elif LABELLED.fullmatch(line):
                raise HeadraceError(
                    NOT_MEASURED,
                    "the launcher labels the lines of the job",
                    "leave out the option that does so, such as srun's -l",
                    1,
                )
            elif line == "figures":
                is_inside = True
            elif line == "end of figures":
                is_inside = False
            elif is_inside:
                figures.append(line)
            elif line.strip():
                rest.append(line)
        child.wait(max(GRACE_SECONDS, end - time.monotonic()))
    except (TimeoutError, subprocess.TimeoutExpired) as error:
        raise HeadraceError(
            NOT_MEASURED,
            f"the job did not end within {limit:.0f} s",
            "see whether its ranks hang, or give another directory",
            1,
        ) from error
    return "\n".join(figures), rest


def _tell_nodes(nodes: int) -> None:
    """Before a job of several is measured, whose profile is of use for less than it may seem."""
    say(
        f"the job has {nodes} nodes: the profile will apply to files of one node only, and what is "
        "measured between nodes is only shown"
    )


def _lines(child: "subprocess.Popen[str]", end: float) -> Iterator[str]:
    """What a job prints. Errors: TimeoutError at the time `end`, whoever still has the pipe."""
    assert child.stdout is not None
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while True:
            if not selector.select(max(0.0, end - time.monotonic())):
                raise TimeoutError
            data = os.read(child.stdout.fileno(), 1 << 16)
            *lines, rest = (rest + data).split(b"\n")
            yield from (line.decode(errors="replace") for line in lines)
            if not data:
                break
    if rest:
        yield rest.decode(errors="replace")


def _failure(code: int, lines: Sequence[str]) -> HeadraceError:
    why = why_of(PROGRAM, code, lines)
    return HeadraceError(NOT_MEASURED, why, "see why, or give another directory", 1)


def mount_point(folder: Path, table: Path = machine.MOUNTS) -> str:
    """Where the file system of a directory is mounted; "" if unknown. Errors: HeadraceError if a
    profile cannot have it."""
    name = machine.mount_point(folder, table)
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise HeadraceError(
            "a profile cannot name this file system",
            f"its mount point {name!r} is not UTF-8",
            "mount it elsewhere",
        ) from error
    return name
