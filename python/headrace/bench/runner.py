"""Runs benchmark programs under an MPI."""

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace import machine
from headrace.bench.jobs import RUN_SECONDS, Job, Measurement, Way, read_measurement
from headrace.bench.programs import ALL, find_program, kinds_of
from headrace.bench.workspace import handled_by
from headrace.errors import HeadraceError, say
from headrace.launch.preload import find_library, without_headrace
from headrace.launch.start import PRESETS, launch_line
from headrace.launch.values import Launch, RankEnvironment
from headrace.mpi.choice import choose_installed
from headrace.mpi.installed import Mpi
from headrace.mpi.program import examine
from headrace.settings.resolver import resolve_run

GRACE_SECONDS = 5
# What shells add to the number of the signal that has ended a program.
SIGNALLED = 128


class RunFailed(HeadraceError):
    """A program did not end well. way: the key of the way it ran in."""

    def __init__(self, way: str, problem: str, why: str, remedy: str):
        super().__init__(problem, why, remedy, 1)
        self.way = way


@dataclass(frozen=True)
class Host:
    """An MPI as it is measured: `name` as given to --mpi, the MPI, and what ranks need to load
    the program's library from it."""

    name: str
    mpi: Mpi
    variables: Mapping[str, str]

    @property
    def title(self) -> str:
        standard = ", standard ABI" if self.name == "abi" else ""
        return f"{self.mpi.title} {self.mpi.version}".strip() + standard


def find_host(name: str, environ: Mapping[str, str]) -> Host:
    """The MPI `name` ("mpich", "openmpi", "intel", "abi"), as the benchmark programs load it: the
    first that Headrace finds, not the one that the loader happens to know."""
    program = examine([str(find_program("ior", name, environ))], environ)
    choice = choose_installed(program, name, environ)
    return Host(name, choice.mpi, choice.variables)


def find_wanted(
    wanted: Sequence[str], environ: Mapping[str, str], tell: Callable[[str], None]
) -> list[Host]:
    """The MPIs of the values of --mpi, at least one. Of "all", one that is not there is left out
    with a word."""
    hosts: dict[str, Host] = {}
    for value in wanted:
        for kind in kinds_of(value):
            try:
                hosts[kind] = find_host(kind, environ)
            except HeadraceError as error:
                if value != ALL:
                    raise
                tell(f"Leaving out {kind}: {error}")
    if not hosts:
        raise HeadraceError(
            "no MPI was found",
            "none is in HEADRACE_MPI_PATH, MPI_HOME, I_MPI_ROOT, PATH or beside headrace",
            "name one with --mpi",
        )
    return list(hosts.values())


def is_oversubscribed(ranks: int) -> bool:
    return ranks > machine.available_cores()


def presets(ranks: int) -> tuple[str, ...]:
    """Names of the settings that make a comparison fair, with and without the layer alike."""
    return ("filesystem", "yield") if is_oversubscribed(ranks) else ("filesystem",)


def fair_settings(host: Host, ranks: int, bind: bool = False) -> str:
    """The same, for people. bind: as in launch()."""
    values = {}
    for name in presets(ranks):
        values.update(PRESETS[name].get(host.mpi.kind, {}))
    parts = [f"{name}={value}" for name, value in values.items()]
    if is_oversubscribed(ranks):
        cores = machine.available_cores()
        parts.append(f"{ranks} ranks on {cores} cores")
        if "yield" in presets(ranks) and host.mpi.kind not in PRESETS["yield"]:
            parts.append("spinning: it cannot be told to yield")
    elif bind:
        parts.append("a core for each rank")
    return ", ".join(parts) if parts else "defaults"


def launch(
    host: Host,
    ranks: int,
    command: Sequence[str],
    environ: Mapping[str, str],
    preload: bool,
    variables: Mapping[str, str] | None = None,
    bind: bool = False,
) -> Launch:
    """The line that starts a benchmark with the fair settings, with Headrace or without, whatever
    LD_PRELOAD holds; `variables` are set in its ranks. It leaves no record unless the user asks.
    bind: each rank has a core of its own, where there are enough."""
    library = str(find_library(environ)) if preload else None
    own = {"HEADRACE_RECORD": "0"} | resolve_run(environ).for_ranks() if preload else {}
    return launch_line(
        host.mpi,
        ranks,
        command,
        environ if preload else without_headrace(environ),
        ranks=RankEnvironment(library, {**own, **host.variables, **(variables or {})}),
        presets=presets(ranks),
        oversubscribe=is_oversubscribed(ranks) and not machine.in_batch_job(environ),
        bind=bind and not is_oversubscribed(ranks),
        as_root=os.geteuid() == 0,
    )


def run_shown(line: Launch) -> int:
    """Runs it with our own input and output; returns its exit code as a shell has it. A signal ends
    us when the launcher has ended its ranks, which remove their files: Ctrl-C comes to it, too, the
    others are passed on."""
    caught: list[int] = []

    def pass_on(number: int, _frame: object) -> None:
        caught.append(number)
        if number != signal.SIGINT and child is not None:
            child.terminate()

    child: subprocess.Popen[bytes] | None = None
    with handled_by(pass_on, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        child = subprocess.Popen(line.argv, env=line.environ, executable=line.executable or None)
        if set(caught) - {signal.SIGINT}:  # while it was started
            child.terminate()
        child.wait()
    if caught:
        raise KeyboardInterrupt
    return child.returncode if child.returncode >= 0 else SIGNALLED - child.returncode


def run_program(
    name: str,
    ranks: int,
    wanted: str,
    flags: Sequence[str],
    environ: Mapping[str, str],
    preload: bool,
) -> int:
    """Runs the benchmark `name` under the MPIs of a value of --mpi, shown. The exit code is the
    program's, that of the first that failed where several MPIs are run."""
    hosts = find_wanted([wanted], environ, say)
    status = 0
    for host in hosts:
        if len(hosts) > 1:
            say(f"{name} under {host.title}, settings: {fair_settings(host, ranks)}")
        program = find_program(name, host.name, environ)
        line = launch(host, ranks, [str(program), *flags], environ, preload)
        code = run_shown(line)
        status = status or code
    return status


def measure(
    job: Job,
    way: Way,
    host: Host,
    file: Path,
    environ: Mapping[str, str],
    keep: bool = False,
) -> Measurement:
    """Runs a job once in one way. The file is gone afterwards unless `keep`. Raises RunFailed."""
    program = find_program(job.program, host.name, environ)
    summary = file.with_name(file.name + ".json")
    command = [str(program), *job.arguments(way, file, summary, keep)]
    line = launch(
        host, job.ranks, command, environ, way.preload, dict(way.variables), bind=job.is_steady
    )
    summary.unlink(missing_ok=True)  # an earlier run may have failed after it wrote its own
    code, output = run_captured(line, job.seconds)
    # The programs end with 1 after a complete run that found wrong data, which we count.
    if code not in (0, 1) or not summary.is_file():
        raise RunFailed(
            way.key,
            f"{job.program} failed under {host.title}, {way.label}",
            why_of(job.program, code, output.splitlines()),
            "run it by hand: headrace bench "
            f"{job.program} -n {job.ranks} --mpi {host.name}{'' if way.preload else ' --plain'}",
        )
    try:
        return read_measurement(job, summary)
    finally:
        summary.unlink(missing_ok=True)


def why_of(program: str, code: int, output: Sequence[str]) -> str:
    """Why a run failed: what a program that tells errors as ours do said, or how it ended.
    output: its lines."""
    marker = f"{program}: error: "
    lines = [line for line in output if line.strip()]
    own = [line.split(marker, 1)[1] for line in lines if marker in line]
    return own[0] if own else f"exit code {code}" + (f": {lines[-1]}" if lines else "")


def run_captured(line: Launch, seconds: int = RUN_SECONDS) -> tuple[int, str]:
    """Exit code and all output. Ends every process of the run on a timeout or an interrupt."""
    with start_captured(line) as child:
        written = output_of(child, seconds)
        if written is None:
            return -1, f"it did not end within {seconds} s"
        return child.returncode, written[0]


def start_captured(line: Launch, **options: Any) -> subprocess.Popen[str]:
    """A run in a process group of its own, without input and with all its output in one pipe, or
    with stderr=subprocess.PIPE in two. options: of Popen."""
    return subprocess.Popen(
        line.argv,
        env=line.environ,
        executable=line.executable or None,
        text=True,
        errors="replace",
        start_new_session=True,
        **{
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.STDOUT,
            **options,
        },
    )


def output_of(child: subprocess.Popen[str], seconds: float | None = None) -> tuple[str, str] | None:
    """What a run writes by its two pipes, when it has ended; None if it does not within `seconds`.
    Then, and on an interrupt, every process of it is ended."""
    try:
        return child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        end_group(child)
        return None
    except BaseException:
        end_group(child)
        raise


def end_group(child: subprocess.Popen[str]) -> None:
    """Asks the launcher to end its ranks, then makes sure."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            return
        try:
            child.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            continue
