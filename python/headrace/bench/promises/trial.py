"""Runs one case under one MPI: a job of its own, under a time limit, of which nothing is left."""

import os
import shutil
import signal
import subprocess
import uuid
from collections.abc import Mapping
from pathlib import Path

from headrace.bench.programs import find_program
from headrace.bench.promises.cases import PROGRAM, Case
from headrace.bench.promises.judgement import Record, Verdict, judge, read_record
from headrace.bench.runner import Host, end_group, launch, start_captured
from headrace.errors import HeadraceError
from headrace.launch.values import Launch

# Ranks end themselves after their time; the launcher gets this much more to start and to end.
LAUNCH_SECONDS = 20

# Tells the processes of a job, wherever they have gone, from all others.
MARKER = "PROMISES_JOB"


def try_case(
    case: Case, host: Host, folder: Path, environ: Mapping[str, str], layered: bool, seconds: int
) -> Verdict:
    """Tries a case, with Headrace or without. Files are made below `folder` and removed.

    seconds: the usual limit of time, from MPI_Init on.
    """
    return judge(*_tried(case, host, folder, environ, layered, seconds))


def require_headrace(
    case: Case, host: Host, folder: Path, environ: Mapping[str, str], seconds: int
) -> None:
    """Raises where a case of one open file ends well without Headrace. What fails would be taken
    for its faults otherwise: it is not seen in jobs that do not come to an open file."""
    records, *_ = _tried(case, host, folder, environ, True, seconds)
    if all(record.judged for record in records) and not any(record.layered for record in records):
        raise HeadraceError(
            f"Headrace does not take part under {host.title}",
            f"a file of the case '{case.name}' is not its own",
            "see 'headrace doctor', and unset HEADRACE_DISABLE and the like",
        )


def _tried(
    case: Case, host: Host, folder: Path, environ: Mapping[str, str], layered: bool, seconds: int
) -> tuple[list[Record], bool, bool, int, str]:
    """What judge() takes."""
    seconds *= case.patience
    job = folder / f"{case.name}-{'headrace' if layered else 'plain'}"
    job.mkdir()
    marker = uuid.uuid4().hex
    program = find_program(PROGRAM, host.name, environ)
    command = [str(program), case.name, str(job), str(seconds), "headrace" if layered else "plain"]
    settings = {**environ, MARKER: marker, "HEADRACE_QUIET": "1"}
    line = launch(host, case.ranks, command, settings, preload=layered)
    try:
        code, output, timed_out = _run(line, marker, seconds + LAUNCH_SECONDS)
        records = [_record(job / f"record.{rank}") for rank in range(case.ranks)]
    finally:
        shutil.rmtree(job, ignore_errors=True)
    return records, layered, timed_out, code, output


def _record(path: Path) -> Record:
    try:
        return read_record(path.read_text(errors="replace"))
    except OSError:
        return Record()


def _run(line: Launch, marker: str, seconds: float) -> tuple[int, str, bool]:
    """Exit code, all output, and whether it had to be ended. Leaves no process of the job."""
    # Ranks that hang spin; others must get on.
    with start_captured(line, preexec_fn=lambda: os.nice(10)) as child:
        try:
            output, _ = child.communicate(timeout=seconds)
            return child.returncode, output, False
        except subprocess.TimeoutExpired:
            _end(child, marker)
            return child.returncode, child.communicate()[0], True
        finally:
            _end(child, marker)


def _end(child: subprocess.Popen, marker: str) -> None:
    """Asks the launcher to clean up, then kills what is left of the job, strays included."""
    if child.poll() is None:
        end_group(child)
    for pid in processes_with(MARKER, marker):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def processes_with(name: str, value: str) -> list[int]:
    """Processes that were started with this variable in their environment, but for this one."""
    wanted = f"{name}={value}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            variables = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue  # gone meanwhile, or not ours
        if wanted in variables:
            found.append(int(entry.name))
    return found
