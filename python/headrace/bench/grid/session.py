"""Measures a cell in two steps: a search for the best setting, then it against the default."""

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from headrace import machine
from headrace.bench.comparison import Comparison
from headrace.bench.grid import racing
from headrace.bench.grid.cases import BY_NAME
from headrace.bench.grid.settings import plan, with_settings
from headrace.bench.jobs import HEADRACE, Job
from headrace.bench.peers.grid import Point
from headrace.bench.peers.load import LoadWatch
from headrace.bench.peers.progress import Progress, duration_text
from headrace.bench.peers.results import Attempt, Measured
from headrace.bench.peers.session import Session, made_round
from headrace.bench.runner import RunFailed, measure

# How often a run moves the data.
REPEATS = 5
# How many of the settings are in the second and the third round of a search, roughly.
USUALLY_LEFT = (0.8, 0.5)
# The default and the best setting of either access.
USUAL_WAYS = 3


def settings_of(point: Point, file_systems: Mapping[str, str]) -> int:
    kind = file_systems[point.directory]
    return len(plan(BY_NAME[point.case], point.ranks, kind, machine.available_cores()))


class GridProgress(Progress):
    """Counts runs of a program, as a round of the search takes many and one of the rest few."""

    def left_at(self, point: Point) -> float:
        measured = self._results.points.get(point)
        search = measured.search if measured else None
        if measured is None or search is None or not search.rounds:
            many = 1 + settings_of(point, self._results.file_systems)
            return many * (1 + sum(USUALLY_LEFT)) + USUAL_WAYS * self._rounds
        if search.error:
            return 0
        searching = (racing.ROUNDS - len(search.rounds)) * (1 + len(racing.standing(search)))
        return max(searching, 0) + self._confirming(measured)

    def _confirming(self, measured: Measured) -> float:
        if not measured.attempts:
            return USUAL_WAYS * self._rounds
        attempt = measured.attempts[0]
        if attempt.is_complete(self._rounds):
            return 0
        return (self._rounds - len(attempt.rounds)) * len(attempt.labels)

    def round_done(self, point: Point, attempt: Attempt, rounds: int) -> None:
        measured = self._results.points[point]
        if attempt is not measured.search:
            super().round_done(point, attempt, rounds)
            return
        count = len(racing.standing(attempt))
        self.tell(
            f"{self.name(point)}: search, round {len(attempt.rounds)} of {rounds}, {count} "
            f"settings go on ({self.left()})"
        )


class GridSession(Session):
    """Measures the cells of this grid."""

    progress_kind: ClassVar[type[Progress]] = GridProgress

    def job(self, point: Point) -> Job:
        """With all settings."""
        case, kind = BY_NAME[point.case], self.results.file_systems[point.directory]
        settings = plan(case, point.ranks, kind, machine.available_cores())
        return with_settings(case.make(point.ranks, self.size).steady(REPEATS), settings)

    def announce(self) -> None:
        """How long it will take, from a run of each MPI."""
        left = {point: self.progress.left_at(point) for point in self.points}
        todo = [point for point, runs in left.items() if runs > 0]
        if not todo:
            return
        paces = {}
        for point in todo:
            if point.mpi not in paces:
                paces[point.mpi] = self._pace(point)
        seconds = sum(left[point] * paces[point.mpi] for point in todo)
        text = (
            f"{len(todo)} of {len(self.points)} cells to measure, about {sum(left.values()):,.0f} "
            f"runs, about {duration_text(seconds)}"
        )
        given = max(0.0, self.until - time.monotonic())
        if given < seconds:
            part = given / seconds
            text += f"; in {duration_text(given)} about {part:.0%} of that is done"
        self.progress.tell(text)

    def _pace(self, point: Point) -> float:
        """Seconds of a run as programs find it. One that fails is told when it is measured."""
        begin = time.monotonic()
        job = replace(self.job(point), seconds=self.run_seconds)
        file = self.folders[point.directory] / "pace"
        try:
            measure(job, job.ways[-1], self.hosts[point.mpi], file, self.environ)
        except RunFailed:
            for made in job.files(file):
                made.unlink(missing_ok=True)
        return time.monotonic() - begin

    def _complete(self, measured: Measured) -> None:
        if measured.search is None or measured.search.error:
            measured.search = super()._new_attempt(measured)
        search = measured.search
        if not search.is_complete(racing.ROUNDS):
            self._measure(measured, search, racing.ROUNDS)
        if not search.error:
            super()._complete(measured)

    def _new_attempt(self, measured: Measured) -> Attempt:
        """The default and what the search has found. The search has had the first, unmeasured
        round, in which files are compared, and told the default's paths."""
        attempt = super()._new_attempt(measured)
        if measured.search is None:
            return attempt
        wanted = {HEADRACE, *racing.winners(measured.search).values()}
        labels = {key: text for key, text in measured.search.labels.items() if key in wanted}
        return replace(
            attempt,
            labels=labels,
            paths=dict(measured.search.paths),
            took_part=measured.search.took_part,
        )

    def _job_of(self, measured: Measured, attempt: Attempt) -> Job:
        job = self.job(measured.point)
        if attempt is measured.search:
            return job
        return replace(job, ways=tuple(way for way in job.ways if way.key in attempt.labels))

    def _begin(self, measured: Measured, attempt: Attempt, folder: Path) -> Comparison:
        """A search counts the round in which files are compared, too: many ways make it long."""
        is_new = not attempt.labels
        watch = LoadWatch()
        comparison = super()._begin(measured, attempt, folder)
        if is_new and attempt is measured.search:
            runs = {way.key: comparison.first[way.key] for way in comparison.ways}
            attempt.rounds.append(made_round(runs, comparison, watch))
            self._after_round(measured, attempt, comparison)
            self.save()
            self.progress.round_done(measured.point, attempt, racing.ROUNDS)
        return comparison

    def _after_round(self, measured: Measured, attempt: Attempt, comparison: Comparison) -> None:
        if attempt is measured.search:
            slow = racing.too_slow(attempt)
            attempt.dropped.update(slow)
            comparison.failed.update(slow)
