"""Whether jobs get Headrace as the site's module gives it: a small job under each MPI, its answers
checked, on and turned off."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from headrace.bench.jobs import Job, Measurement, read_measurement, tile_job
from headrace.bench.programs import find_program
from headrace.bench.runner import Host, is_oversubscribed, presets, reason, run_captured
from headrace.errors import HeadraceError
from headrace.launch.preload import combine_preload, without_headrace
from headrace.launch.start import launch_line
from headrace.launch.values import RankEnvironment

RANKS = 2
FLAGS = ("--piece", "1000", "--size", "1000000")
TAKEN = "headrace_write_taken"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. found: what was seen; problem: "" if it is as it should be."""

    what: str
    found: str
    problem: str = ""


def checks(
    hosts: list[Host],
    library: Path,
    settings: Path | None,
    folder: Path,
    environ: Mapping[str, str],
) -> Iterator[Check]:
    """The checks under each MPI, in `folder`. library, settings: what the module names."""
    given = dict(without_headrace(environ))
    given["LD_PRELOAD"] = combine_preload(given.get("LD_PRELOAD"), str(library))
    given["HEADRACE_RECORD"] = "0"  # the site's records are of jobs of users
    if settings is not None:
        given["HEADRACE_SITE"] = str(settings)
    for host in hosts:
        yield _job(host, "a job", folder, given, is_on=True)
        off = {**given, "HEADRACE_DISABLE": "1"}
        yield _job(host, "a job with HEADRACE_DISABLE=1", folder, off, is_on=False)


def _job(host: Host, what: str, folder: Path, environ: Mapping[str, str], *, is_on: bool) -> Check:
    title = f"{host.title}: {what}"
    try:
        found = _run(host, folder, environ)
    except HeadraceError as error:
        return Check(title, "failed", str(error))
    taken = found.hints.get("write", {}).get(TAKEN, "")
    seen = f"Headrace wrote ({taken})" if taken else "the MPI library wrote"
    if not found.is_right:
        return Check(title, seen, "the file has not the bytes that were written: send a report")
    if is_on and not taken:
        return Check(title, seen, "the layer is off there: 'headrace doctor' may say why")
    if not is_on and taken:
        return Check(title, seen, "it was to be off: send a report")
    return Check(title, seen)


def _run(host: Host, folder: Path, environ: Mapping[str, str]) -> Measurement:
    """Writes and reads a file of 2 MB by one collective call each."""
    job: Job = tile_job(RANKS, FLAGS)
    file, summary = folder / "site-check.dat", folder / "site-check.json"
    summary.unlink(missing_ok=True)
    command = [str(find_program(job.program, host.name, environ))]
    command += job.arguments(job.ways[0], file, summary, keep=False)
    line = launch_line(
        host.mpi,
        RANKS,
        command,
        environ,
        ranks=RankEnvironment(None, dict(host.variables)),
        presets=presets(RANKS),
        oversubscribe=is_oversubscribed(RANKS),
        as_root=os.geteuid() == 0,
    )
    code, output = run_captured(line)
    if code not in (0, 1) or not summary.is_file():
        raise HeadraceError(
            f"a job of {RANKS} ranks failed under {host.title}",
            reason(job, code, output),
            "start an MPI program without Headrace there first",
        )
    return read_measurement(job, summary)
