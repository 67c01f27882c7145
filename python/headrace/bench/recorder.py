"""What the recorder costs: jobs with it and without it in turn."""

import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL, PIPE
from time import perf_counter_ns

from headrace.bench.programs import find_program
from headrace.bench.runner import (
    Host,
    RunFailed,
    launch,
    output_of,
    run_captured,
    start_captured,
)
from headrace.launch.job import find_preload, launch_of_line
from headrace.launch.values import Launch
from headrace.settings.resolver import resolve_run
from headrace.statistics import Interval, median_interval, paired_ratio

CALLS = "calls"
IMB = "IMB-MPI1"
# Benchmarks of two ranks whose times are of one call, or of half a round trip.
IMB_NAMES = ("PingPong", "Sendrecv", "Allreduce", "Bcast", "Alltoall", "Barrier")
# Where a line has the average; of others it is the fifth.
_IMB_PLACES = {"PingPong": 2, "Barrier": 3}
IMB_FLAGS = ("-msglog", "0:20", "-iter_policy", "off", "-iter", "2000,100", "-time", "60")

Times = Mapping[str, tuple[int, float]]
"""By kind: how many calls a rank makes in one round, and the nanoseconds of a round."""


@dataclass
class Cell:
    """One kind of call under an MPI. Of each pair of jobs a round's nanoseconds, without the
    recorder and with it."""

    host: str
    kind: str
    calls: int
    off: list[float] = field(default_factory=list)
    on: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> Interval:
        return paired_ratio(self.on, self.off)

    @property
    def added(self) -> Interval:
        """Nanoseconds that one call takes longer."""
        return median_interval(
            [(on - off) / self.calls for on, off in zip(self.on, self.off, strict=True)]
        )

    @property
    def plain(self) -> Interval:
        """Nanoseconds of one call without the recorder."""
        return median_interval([off / self.calls for off in self.off])


@dataclass(frozen=True)
class Program:
    command: tuple[str, ...]
    read: Callable[[str], Times]


def programs(host: Host, environ: Mapping[str, str]) -> list[Program]:
    """Our own, and Intel's if this MPI has it."""
    found = [Program((str(find_program(CALLS, host.name, environ)),), read_calls)]
    imb = host.mpi.prefix / "bin" / IMB
    if os.access(imb, os.X_OK):
        found.append(Program((str(imb), *IMB_FLAGS, *IMB_NAMES), read_imb))
    return found


def read_calls(output: str) -> Times:
    words = re.findall(r"^(MPI_\S+) (\d+) ([\d.]+)$", output, re.MULTILINE)
    return {name: (int(calls), float(time)) for name, calls, time in words}


def read_imb(output: str) -> Times:
    """The average of the ranks, in lines of bytes, repetitions and one to three times in us. Half
    a PingPong is one call of each rank."""
    times: dict[str, tuple[int, float]] = {}
    name = ""
    for line in output.splitlines():
        if heading := re.match(r"# Benchmarking (\w+)", line):
            name = heading[1]
        words = line.split()
        if not name or not words or not all(re.fullmatch(r"\d+(\.\d+)?", word) for word in words):
            continue
        # Of Barrier without bytes.
        kind = "IMB Barrier" if name == "Barrier" else f"IMB {name} {words[0]} B"
        time = float(words[_IMB_PLACES.get(name, 4)])
        if time > 0:  # shorter ones are told as 0.00
            times[kind] = 1, 1000 * time
    return times


def _add_pair(cells: dict[tuple[str, str], Cell], host: str, off: Times, on: Times) -> None:
    """What a pair of jobs told: kinds of which one has no time are left out."""
    for kind, (calls, time) in off.items():
        if kind in on:
            cell = cells.setdefault((host, kind), Cell(host, kind, calls))
            cell.off.append(time)
            cell.on.append(on[kind][1])


def measure(
    host: Host,
    ranks: int,
    pairs: int,
    directory: Path,
    environ: Mapping[str, str],
    tell: Callable[[str], None],
) -> list[Cell]:
    """Pairs of jobs, of which the one with the recorder comes first every other time. Records go
    into `directory`. Raises RunFailed."""
    cells: dict[tuple[str, str], Cell] = {}
    for program in programs(host, environ):
        for pair in range(pairs):
            tell(f"{host.title}: {Path(program.command[0]).name}, {pair + 1} of {pairs}")
            times = {
                recorded: program.read(_run(host, ranks, program, recorded, directory, environ))
                for recorded in (pair % 2 == 0, pair % 2 != 0)
            }
            _add_pair(cells, host.title, times[False], times[True])
    return _certain(cells.values(), tell)


def _certain(cells: Iterable[Cell], tell: Callable[[str], None]) -> list[Cell]:
    """Those with an interval; the others are told of."""
    made = costliest_first(cells)
    for cell in made:
        if not cell.ratio.is_confident:
            tell(f"{cell.host}: {cell.kind} is left out: too few pairs of jobs told its time")
    return [cell for cell in made if cell.ratio.is_confident]


def costliest_first(cells: Iterable[Cell]) -> list[Cell]:
    return sorted(cells, key=lambda cell: -cell.ratio.median)


class GivenInput:
    """Our standard input, if it is a file: each run reads it from where it stood at first. Anything
    else could be read once only, so that runs have nothing of it."""

    def __init__(self, descriptor: int = 0):
        self._descriptor = descriptor
        self._begin = -1
        with suppress(OSError):  # it is closed
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                self._begin = os.lseek(descriptor, 0, os.SEEK_CUR)

    def again(self) -> int:
        """For a run's stdin."""
        if self._begin < 0:
            return DEVNULL
        os.lseek(self._descriptor, self._begin, os.SEEK_SET)
        return self._descriptor


def measure_line(
    line: Sequence[str],
    pairs: int,
    directory: Path,
    environ: Mapping[str, str],
    tell: Callable[[str], None],
    descriptor: int = 0,
) -> Cell:
    """The same of a launcher line as a whole, as `headrace run` executes it. descriptor: of its
    input, see GivenInput. Raises RunFailed, and HeadraceError for a line that cannot be executed.
    """
    given = GivenInput(descriptor)
    cell = Cell("", " ".join(line), 1)
    for pair in range(pairs):
        tell(f"{line[0]}: {pair + 1} of {pairs}")
        for recorded in (pair % 2 == 0, pair % 2 != 0):
            own = {**environ, **_variables(recorded, directory)}
            made = launch_of_line(line, None, find_preload(resolve_run(own), own))
            (cell.on if recorded else cell.off).append(_timed(made, line[0], recorded, given))
    return cell


def _timed(made: Launch, name: str, recorded: bool, given: GivenInput) -> float:
    """Nanoseconds of a launcher line. Raises RunFailed."""
    begin = perf_counter_ns()
    with start_captured(made, stdin=given.again(), stdout=DEVNULL, stderr=PIPE) as child:
        _, said = output_of(child) or ("", "")
    took = float(perf_counter_ns() - begin)
    if child.returncode != 0:
        why = f"exit code {child.returncode}: {said[-2000:]}"
        key = "recorded" if recorded else "plain"
        raise RunFailed(key, f"{name} failed", why, "run it by hand")
    return took


def _variables(recorded: bool, directory: Path) -> dict[str, str]:
    return {
        "HEADRACE_RECORD": "1" if recorded else "0",
        "HEADRACE_LOGPATH": str(directory),
        "HEADRACE_QUIET": "1",
    }


def _run(
    host: Host,
    ranks: int,
    program: Program,
    recorded: bool,
    directory: Path,
    environ: Mapping[str, str],
) -> str:
    """What the program prints."""
    variables = _variables(recorded, directory)
    line = launch(host, ranks, program.command, environ, True, variables, bind=True)
    code, output = run_captured(line)
    if code != 0:
        why = f"exit code {code}: {output[-2000:]}"
        raise _failed(host, program, recorded, why)
    return output


def _failed(host: Host, program: Program, recorded: bool, why: str) -> RunFailed:
    return RunFailed(
        "recorded" if recorded else "plain",
        f"{program.command[0]} failed under {host.title}",
        why,
        "run it by hand",
    )
