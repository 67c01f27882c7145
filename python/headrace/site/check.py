"""Whether jobs get Headrace as the site's module gives it: a small job under each MPI, its answers
checked, on and turned off; and what is wrong with the site's files."""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from headrace.bench.jobs import Job, Measurement, read_measurement, tile_job
from headrace.bench.programs import find_file, find_program
from headrace.bench.runner import Host, is_oversubscribed, presets, run_captured, why_of
from headrace.errors import HeadraceError
from headrace.launch.preload import combine_preload, without_headrace
from headrace.launch.start import launch_line
from headrace.launch.values import RankEnvironment
from headrace.settings.resolver import resolve_run
from headrace.settings.standing import parse_standing, with_home
from headrace.site.given import Given

RANKS = 2
FLAGS = ("--piece", "1000", "--size", "1000000")
TAKEN = "headrace_write_taken"
OWN = "headrace: "
# Ranks, of a node, bytes of a piece, pieces, cores: what is told of them is not looked at.
CALL = ("2", "2", "1000", "1000", "0")


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. found: what was seen; problem: "" if it is as it should be;
    told: what Headrace said meanwhile, a line each."""

    what: str
    found: str
    problem: str = ""
    told: tuple[str, ...] = ()


def environment_of(given: Given, environ: Mapping[str, str]) -> dict[str, str]:
    """What the module makes of an environment, for jobs that are looked at: they tell what is
    wrong, and nothing else, and leave no record, since the site's are of jobs of users."""
    made = dict(without_headrace(environ))
    made["LD_PRELOAD"] = combine_preload(made.get("LD_PRELOAD"), str(given.library))
    made |= {"HEADRACE_RECORD": "0", "HEADRACE_SUMMARY": "0", "HEADRACE_QUIET": "0"}
    if given.settings is not None:
        made["HEADRACE_SITE"] = str(given.settings)
    return made


def settings_problems(given: Given, folder: Path, environ: Mapping[str, str]) -> list[str]:
    """Lines on what in the site's file is not used as it stands there. Hints for files of a name
    are read when such a file is opened: so a name is made for each pattern."""
    if given.settings is None:
        return []
    made = {**environ, "HEADRACE_SITE": str(given.settings)}
    problems = list(resolve_run(made).problems)
    if problems:
        return problems
    file = Path(with_home(str(given.settings), environ))
    try:
        patterns = parse_standing(file.read_bytes(), file).patterns
    except OSError as error:
        why = error.strerror or str(error)
        return [f"the site's settings '{file}' cannot be read ({why}), let everybody read them"]
    program = find_file("hints", environ)
    for name in ("site-check.dat", *map(name_for, patterns)):
        command = [program, folder / name, *CALL]
        done = subprocess.run(
            command,
            env={**made, "HEADRACE_QUIET": "0"},
            capture_output=True,
            text=True,
            errors="replace",
        )
        lines = own_lines(done.stderr)
        problems += [
            line for line in lines if line.startswith("the site's") and line not in problems
        ]
    return problems


def name_for(pattern: str) -> str:
    """A name that a pattern for names matches: src/base/name_pattern.h."""
    first_of_class = re.sub(r"\[(.)[^]]*\]", r"\1", pattern)
    return first_of_class.replace("*", "x").replace("?", "x")


def own_lines(output: str) -> list[str]:
    return [line.removeprefix(OWN) for line in output.splitlines() if line.startswith(OWN)]


def checks(
    hosts: list[Host], given: Given, folder: Path, environ: Mapping[str, str]
) -> Iterator[Check]:
    """The checks under each MPI, in `folder`."""
    on = environment_of(given, environ)
    off = {**on, "HEADRACE_DISABLE": "1"}
    for host in hosts:
        yield _job(host, "a job", folder, on, is_on=True)
        yield _job(host, "a job with HEADRACE_DISABLE=1", folder, off, is_on=False)


def _job(host: Host, what: str, folder: Path, environ: Mapping[str, str], *, is_on: bool) -> Check:
    title = f"{host.title}: {what}"
    try:
        found, output = _run(host, folder, environ)
    except HeadraceError as error:
        return Check(title, "failed", str(error))
    taken = found.hints.get("write", {}).get(TAKEN, "")
    seen = f"Headrace wrote ({taken})" if taken else "the MPI library wrote"
    problem = ""
    if not found.is_right:
        problem = "the file has not the bytes that were written: send a report"
    elif is_on and not taken:
        problem = "the layer is off there: 'headrace doctor' may say why"
    elif not is_on and taken:
        problem = "it was to be off: send a report"
    return Check(title, seen, problem, tuple(own_lines(output)))


def _run(host: Host, folder: Path, environ: Mapping[str, str]) -> tuple[Measurement, str]:
    """Writes and reads a file of 2 MB by one collective call each. Returns all output, too."""
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
            why_of(job.program, code, output.splitlines()),
            "start an MPI program without Headrace there first",
        )
    return read_measurement(job, summary), output
