"""What the recorder costs: jobs with it and without it in turn."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL, PIPE, TimeoutExpired, run
from time import perf_counter_ns

from headrace.bench.programs import find_program
from headrace.bench.runner import RUN_SECONDS, Host, RunFailed, end_group, launch, start_captured
from headrace.launch.job import find_preload, launch_of_line
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
    hosts: Sequence[Host],
    ranks: int,
    pairs: int,
    directory: Path,
    environ: Mapping[str, str],
    tell: Callable[[str], None],
) -> list[Cell]:
    """Pairs of jobs, of which the one with the recorder comes first every other time. Records go
    into `directory`. Raises RunFailed."""
    cells: dict[tuple[str, str], Cell] = {}
    for host in hosts:
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
    """Those with an interval, the costliest first; the others are told of."""
    made = sorted(cells, key=lambda cell: -cell.ratio.median)
    for cell in made:
        if not cell.ratio.is_confident:
            tell(f"{cell.host}: {cell.kind} is left out: too few pairs of jobs told its time")
    return [cell for cell in made if cell.ratio.is_confident]


def measure_line(
    line: Sequence[str],
    pairs: int,
    directory: Path,
    environ: Mapping[str, str],
    tell: Callable[[str], None],
) -> Cell:
    """The same of a launcher line as a whole, as `headrace run` executes it. Raises RunFailed, and
    HeadraceError for a line that cannot be executed."""
    cell = Cell("", " ".join(line), 1)
    for pair in range(pairs):
        tell(f"{line[0]}: {pair + 1} of {pairs}")
        for recorded in (pair % 2 == 0, pair % 2 != 0):
            own = {**environ, **_variables(recorded, directory)}
            made = launch_of_line(line, None, find_preload(resolve_run(own), own))
            begin = perf_counter_ns()
            child = run(
                made.argv,
                env=made.environ,
                executable=made.executable or None,
                stdout=DEVNULL,
                stderr=PIPE,
                text=True,
                check=False,
            )
            took = float(perf_counter_ns() - begin)
            if child.returncode != 0:
                why = f"exit code {child.returncode}: {child.stderr[-2000:]}"
                name = "recorded" if recorded else "plain"
                raise RunFailed(name, f"{line[0]} failed", why, "run it by hand")
            (cell.on if recorded else cell.off).append(took)
    return cell


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
    with start_captured(line) as child:
        try:
            output, _ = child.communicate(timeout=RUN_SECONDS)
        except TimeoutExpired as expired:
            end_group(child)
            raise _failed(host, program, recorded, f"no end within {RUN_SECONDS} s") from expired
        except BaseException:
            end_group(child)
            raise
    if child.returncode != 0:
        why = f"exit code {child.returncode}: {output[-2000:]}"
        raise _failed(host, program, recorded, why)
    return output


def _failed(host: Host, program: Program, recorded: bool, why: str) -> RunFailed:
    return RunFailed(
        "recorded" if recorded else "plain",
        f"{program.command[0]} failed under {host.title}",
        why,
        "run it by hand",
    )
