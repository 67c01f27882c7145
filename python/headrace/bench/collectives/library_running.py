"""Measures a library's algorithms, each in launches of its own, which alternate: libraries read
such variables when MPI starts."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from headrace.algorithms.generated.table import KNOBS
from headrace.algorithms.knob import ALL_SIZES, Choice
from headrace.algorithms.standing import said, stands, stands_for
from headrace.algorithms.table import names_of
from headrace.algorithms.variables import library_named, setting
from headrace.bench.collectives.findings import LIBRARIES
from headrace.bench.collectives.library_choice import (
    algorithm_at,
    candidates,
    confirmed,
    without_losers,
    worth_another_try,
)
from headrace.bench.collectives.library_times import AlgorithmCell, LibraryJob
from headrace.bench.collectives.running import LIMIT_SECONDS, measure, measure_plain
from headrace.bench.collectives.starting import OnThisNode
from headrace.bench.runner import Host
from headrace.bench.turns import turns
from headrace.errors import HeadraceError
from headrace.launch.cache import write
from headrace.statistics import rounds_needed

Tell = Callable[[str], None]
Key = tuple[str, int]  # operation, bytes of a rank's block
Times = dict[Key, tuple[float, int]]  # seconds of a call, wrong elements

# Launches of each algorithm that tell what may win, and the share of the time that they may take.
SCREENINGS = 3
SHARE_TO_SCREEN = 0.6
# Pairs of launches that confirm it, at most; at least as many as an interval needs.
MOST_PAIRS = 40
# What a launch measures of each size. Its time is that of one of the shortest batches: what else
# the machine does makes others many times as long.
BATCH_FLAGS = ("--batches", "12", "--batchTime", "0.25")
SHORTEST = 3
NOTHING: tuple[Choice, ...] = ()
# A launch that tries whether a job ends at all takes one or two; then it hangs.
TRIAL_SECONDS = 60


class LibrarySession:
    """One MPI with one number of ranks. flags: sizes, as the program takes them. folder: an empty
    directory, which others clean up."""

    def __init__(
        self,
        host: Host,
        ranks: int,
        flags: Sequence[str],
        folder: Path,
        environ: Mapping[str, str],
        tell: Tell,
    ):
        self._host = host
        self._ranks = ranks
        self._start = OnThisNode(host, ranks)
        self._flags = flags
        self._folder = folder
        self._environ = environ
        self._tell = tell
        self._document: dict[str, Any] = {}
        self.library = LIBRARIES[host.name]

    def screen(self, seconds: float) -> list[AlgorithmCell]:
        """All algorithms, a few launches each, in `seconds` at most but one launch at least. What
        does not start with this version of the library is left out."""
        begin = time.monotonic()
        ways = [NOTHING, *self._usable(self._settings())]
        # Of the library's own choice all; else those that have an algorithm there.
        operations = [names_of([one for way in ways for one in way]), *map(names_of, ways[1:])]
        rounds: list[list[Times]] = []
        while len(rounds) < SCREENINGS:
            spent = time.monotonic() - begin
            if rounds and spent + spent / len(rounds) > seconds:
                break
            rounds.append(self._round(ways, operations, len(rounds), "round"))
        return _paired(ways, rounds)

    def confirm(self, chosen: Sequence[Choice], seconds: float) -> list[AlgorithmCell]:
        """What was chosen, all at once, against the library's own choice."""
        begin = time.monotonic()
        ways = [NOTHING, tuple(chosen)]
        operations = [names_of(chosen)] * 2
        rounds: list[list[Times]] = []
        while len(rounds) < MOST_PAIRS:
            spent = time.monotonic() - begin
            enough = len(rounds) >= rounds_needed()
            if enough and spent + spent / len(rounds) > seconds:
                break
            rounds.append(self._round(ways, operations, len(rounds), "pair"))
        return _paired(ways, rounds)

    def job(
        self,
        screened: list[AlgorithmCell],
        confirmed_cells: list[AlgorithmCell],
        batches: Sequence[str],
    ) -> LibraryJob:
        """What was measured, and Headrace against the library with what is taken of it. batches:
        how many, as the program takes it."""
        self._tell(f"{self._host.title}: Headrace against the library's algorithms")
        job = measure(
            self._start,
            [*self._flags, *batches],
            self._environ,
            True,
            self._variables(confirmed(self.library, confirmed_cells)),
        )
        return LibraryJob(
            **self._start.setup(self._document),
            version=self._host.mpi.version,
            screened=screened,
            confirmed=confirmed_cells,
            headrace=job.cells,
        )

    def _settings(self) -> list[tuple[Choice, ...]]:
        """As many as an operation has algorithms, with one of each operation in each: operations do
        not get in each other's way, and so take one launch together."""
        knobs = [knob for knob in KNOBS if knob.library == self.library]
        names = [(knob.operation, list(knob.algorithms)) for knob in knobs]
        return [
            tuple(
                Choice(operation, algorithms[number], *ALL_SIZES, 1.0)
                for operation, algorithms in names
                if number < len(algorithms)
            )
            for number in range(max((len(each) for _, each in names), default=0))
        ]

    def _usable(self, settings: Sequence[tuple[Choice, ...]]) -> list[tuple[Choice, ...]]:
        """Without what keeps a job from starting or ending."""
        usable = []
        for number, choices in enumerate(settings, 1):
            self._tell(f"{self._host.title}: trying algorithms, {number} of {len(settings)}")
            if not self._works(choices):
                choices = tuple(one for one in choices if self._told_to_work(one))
            if choices:
                usable.append(choices)
        return usable

    def _told_to_work(self, choice: Choice) -> bool:
        works = self._works([choice])
        if not works:
            name = f"{choice.algorithm} of {choice.operation}"
            self._tell(f"{self._host.title}: {name} is left out, jobs fail")
        return works

    def _works(self, choices: Sequence[Choice]) -> bool:
        smallest = ["--least", "8", "--most", "8", "--batches", "1", "--batchTime", "0.01"]
        try:
            self._launch(choices, names_of(choices), smallest, TRIAL_SECONDS)
        except HeadraceError:
            return False
        return True

    def _round(
        self,
        ways: Sequence[Sequence[Choice]],
        operations: Sequence[Sequence[str]],
        number: int,
        title: str,
    ) -> list[Times]:
        found: dict[int, Times] = {}
        for way in turns(len(ways), number):
            step = f"{title} {number + 1}, launch {len(found) + 1} of {len(ways)}"
            self._tell(f"{self._host.title}: {step}")
            flags = [*self._flags, *BATCH_FLAGS]
            found[way] = self._launch(ways[way], operations[way], flags)
        return [found[way] for way in range(len(ways))]

    def _launch(
        self,
        choices: Sequence[Choice],
        operations: Sequence[str],
        flags: Sequence[str],
        seconds: int = LIMIT_SECONDS,
    ) -> Times:
        self._document = measure_plain(
            self._start,
            [*flags, "--operations", ",".join(operations)],
            self._environ,
            self._variables(choices),
            seconds,
        )
        return {
            (cell["operation"], cell["bytes"]): (_time(cell["plain"]), cell["wrong"])
            for cell in self._document["cells"]
        }

    def _variables(self, choices: Sequence[Choice]) -> Mapping[str, str]:
        made = setting(self.library, choices, self._ranks, self._folder)
        if made.file is not None:
            write(made.file)
        return made.variables


def _time(batches: Sequence[float]) -> float:
    return sorted(batches)[:SHORTEST][-1]


def _paired(
    ways: Sequence[Sequence[Choice]], rounds: Sequence[Sequence[Times]]
) -> list[AlgorithmCell]:
    """Each way but the first against the first, the library's own choice, by rounds."""
    cells = []
    for number, choices in enumerate(ways[1:], 1):
        for operation, size in rounds[0][number]:
            key = operation, size
            if any(key not in times[0] or key not in times[number] for times in rounds):
                continue  # the machine had less memory for a time
            own = [times[0][key] for times in rounds]
            chosen = [times[number][key] for times in rounds]
            cells.append(
                AlgorithmCell(
                    operation,
                    size,
                    algorithm_at(choices, operation, size),
                    sum(wrong for _, wrong in chosen),
                    [seconds for seconds, _ in own],
                    [seconds for seconds, _ in chosen],
                )
            )
    return cells


def require_own_choice(host: Host, environ: Mapping[str, str]) -> None:
    """Raises the error for algorithms that the environment sets: they would be taken for the
    library's own choice."""
    library = LIBRARIES[host.name]
    of = library_named(library)
    names = said(of, environ, (), {})
    knobs = (knob for knob in KNOBS if knob.library == library)
    user = stands(of, names) or next(filter(None, (stands_for(of, k, names) for k in knobs)), None)
    if user is not None:
        raise HeadraceError(
            "the library's algorithms cannot be measured",
            f"{user.name} in {user.where} sets some",
            "unset it",
        )


def measure_library(
    host: Host,
    all_ranks: Sequence[int],
    sizes: Sequence[str],
    batches: Sequence[str],
    folder: Path,
    environ: Mapping[str, str],
    seconds: float,
    tell: Tell,
) -> list[LibraryJob]:
    """One MPI with each number of ranks. sizes, batches: flags of the program, those for the
    comparison with Headrace. seconds: for each, without that."""
    jobs = []
    screened: dict[int, list[AlgorithmCell]] = {}
    for ranks in sorted(set(all_ranks)):
        begin = time.monotonic()
        session = LibrarySession(host, ranks, sizes, folder, environ, tell)
        screened[ranks] = session.screen(seconds * SHARE_TO_SCREEN)
        chosen = candidates(session.library, screened, ranks)
        left = seconds - (time.monotonic() - begin)
        cells = session.confirm(chosen, left / 2) if chosen else []
        again = worth_another_try(session.library, cells)
        if again:
            left_over = without_losers(session.library, screened[ranks], cells)
            others = candidates(session.library, {**screened, ranks: left_over}, ranks)
            others = [one for one in others if one.operation in again]
            cells = [cell for cell in cells if cell.operation not in names_of(others)]
            left = seconds - (time.monotonic() - begin)
            cells += session.confirm(others, left) if others else []
        jobs.append(session.job(screened[ranks], cells, batches))
    return jobs
