"""Measures the points of the grid one after the other, and goes on where an earlier run stopped."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from os import getloadavg
from pathlib import Path
from typing import ClassVar

from headrace.bench.comparison import Comparison, add_round, check_space, start
from headrace.bench.hand_set import with_hand_set
from headrace.bench.jobs import PLAIN, RUN_SECONDS, Job, Measurement
from headrace.bench.peers.core_distance import told_distances
from headrace.bench.peers.grid import BY_NAME, Point, hand_set_keys
from headrace.bench.peers.load import LoadWatch
from headrace.bench.peers.progress import Progress
from headrace.bench.peers.results import Attempt, Measured, Results, Round
from headrace.bench.runner import Host, RunFailed, fair_settings
from headrace.errors import HeadraceError

# An expert's setting that is this many times slower than the best one, in every access, cannot
# become the best: it is left out of the rounds.
HOPELESS = 4


class OutOfTime(Exception):
    """The time given is over. Not an error."""


@dataclass
class Session:
    """What is measured and how long. folders: where files are made, by the point's directory; hosts
    by MPI; rounds: of each point; repeats: how often a noisy one is measured again; save: keeps the
    results, called after each round; run_seconds: after which a run counts as hanging."""

    points: Sequence[Point]
    hosts: Mapping[str, Host]
    folders: Mapping[str, Path]
    size: int
    rounds: int
    repeats: int
    environ: Mapping[str, str]
    results: Results
    save: Callable[[], None]
    progress: Progress
    until: float = float("inf")
    run_seconds: int = RUN_SECONDS
    progress_kind: ClassVar[type[Progress]] = Progress
    _last: float = field(default=0.0, init=False)

    def run(self) -> None:
        """All points, then those again during which the machine was busy; what failed in an earlier
        run is tried again. Raises OutOfTime."""
        for point in self.points:
            measured = self.results.points.setdefault(point, self._measured(point))
            measured.attempts = [attempt for attempt in measured.attempts if not attempt.error]
            self._complete(measured)
        for turn in range(self.repeats):
            for point in self.noisy():
                measured = self.results.points[point]
                if len(measured.attempts) <= turn + 1:
                    measured.attempts.append(self._new_attempt(measured))
                    self._measure(measured, measured.attempts[-1], self.rounds)

    def _complete(self, measured: Measured) -> None:
        """Whatever a point still lacks."""
        if not measured.attempts:
            measured.attempts.append(self._new_attempt(measured))
        if not measured.attempts[-1].is_complete(self.rounds):
            self._measure(measured, measured.attempts[-1], self.rounds)

    def _new_attempt(self, _measured: Measured) -> Attempt:
        return Attempt(datetime.now(UTC).strftime("%Y-%m-%d %H:%M"), getloadavg()[0])

    def noisy(self) -> list[Point]:
        """Points whose attempt that counts had a noisy background."""
        best = {point: self.results.points[point].best() for point in self.points}
        return [point for point, one in best.items() if one and one.is_noisy and not one.error]

    def job(self, point: Point) -> Job:
        job = BY_NAME[point.case].make(point.ranks, self.size)
        return with_hand_set(job).under(self.hosts[point.mpi].mpi.kind)

    def announce(self) -> None:
        """Says what is ahead before anything is measured."""

    def check(self) -> None:
        """Raises unless all jobs can be made, their files fit, and results of other jobs, which do
        not belong together with these, are not there."""
        for point in self.points:
            job = self.job(point)
            check_space(job, Path(point.directory))
            earlier = self.results.points.get(point)
            now = self._measured(point)
            if earlier and (earlier.title, earlier.settings, earlier.lines) != (
                now.title,
                now.settings,
                now.lines,
            ):
                raise HeadraceError(
                    f"{self.progress.name(point)} was measured differently",
                    f"then {earlier.title}, {earlier.settings}, '{earlier.lines.get(PLAIN)}', now "
                    f"{now.title}, {now.settings}, '{now.lines.get(PLAIN)}'",
                    "give a new name to --json",
                )

    def _measured(self, point: Point) -> Measured:
        job, host = self.job(point), self.hosts[point.mpi]
        lines = {way.key: " ".join(job.told(way)) for way in job.ways}
        settings = fair_settings(host, point.ranks, bind=job.is_steady)
        return Measured(point, host.title, settings, lines)

    def _measure(self, measured: Measured, attempt: Attempt, rounds: int) -> None:
        """Goes on with an attempt up to so many rounds."""
        point = measured.point
        folder = self.folders[point.directory]
        self.progress.begin(point, attempt)
        try:
            comparison = self._begin(measured, attempt, folder)
            while len(attempt.rounds) < rounds:
                with self._in_time():
                    self._round(comparison, attempt, folder)
                self._after_round(measured, attempt, comparison)
                self.save()
                self.progress.round_done(point, attempt, rounds)
        except RunFailed as error:
            attempt.error = str(error)
            self.progress.failed(point, attempt.error)
            self.save()

    def _job_of(self, measured: Measured, _attempt: Attempt) -> Job:
        """The job with the ways that an attempt compares."""
        return self.job(measured.point)

    def _after_round(self, measured: Measured, attempt: Attempt, comparison: Comparison) -> None:
        """What follows from a round, before it is kept."""

    def _begin(self, measured: Measured, attempt: Attempt, folder: Path) -> Comparison:
        """The comparison with the rounds there are, after its first, unmeasured round."""
        host = self.hosts[measured.point.mpi]
        job = replace(self._job_of(measured, attempt), seconds=self.run_seconds)
        if attempt.labels:
            return _restored(job.with_requests(attempt.requests), host, attempt)
        with self._in_time():
            comparison = start(job, host, folder, self.environ, self.progress.step)
        _leave_out_hopeless(comparison)
        _note_begin(attempt, comparison)
        return comparison

    def _round(self, comparison: Comparison, attempt: Attempt, folder: Path) -> None:
        """A round; a peer that fails in it is left out from here on, and of the rounds so far."""
        watch = LoadWatch()
        failed = add_round(comparison, folder, self.environ, self.progress.step)
        if failed:
            attempt.failed[failed] = comparison.failed[failed]
            return
        runs = {way.key: comparison.runs[way.key][-1] for way in comparison.ways}
        attempt.rounds.append(made_round(runs, comparison, watch))
        for key, run in runs.items():
            _note_damage(attempt, key, run)

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        """Does not begin what is not expected to end in time."""
        begin = time.monotonic()
        if begin + self._last > self.until:
            raise OutOfTime
        yield
        self._last = time.monotonic() - begin


def made_round(runs: Mapping[str, Measurement], comparison: Comparison, watch: LoadWatch) -> Round:
    """A round of these runs, by way, which `watch` has watched."""
    rates = {key: run.bandwidth for key, run in runs.items()}
    return Round(rates, watch.others(), watch.elapsed(), told_distances(comparison))


def _note_begin(attempt: Attempt, comparison: Comparison) -> None:
    job = comparison.job
    attempt.labels = {way.key: way.label for way in job.ways}
    attempt.hand_set = hand_set_keys(job.ways)
    attempt.failed = dict(comparison.failed)
    attempt.identical = dict(comparison.identical)
    limit = (run.requests for run in comparison.first.values() if run.requests)
    attempt.requests = next(limit, {})
    attempt.paths = {access: list(comparison.path(access)) for access in job.accesses}
    attempt.took_part = comparison.took_part()
    for key, run in comparison.first.items():
        _note_damage(attempt, key, run)


def _note_damage(attempt: Attempt, way: str, run: Measurement) -> None:
    attempt.damaged[way] = max(attempt.damaged.get(way, 0), run.wrong + run.overwritten)


def _restored(job: Job, host: Host, attempt: Attempt) -> Comparison:
    """As it was after the last round that is there."""
    result = Comparison(job, host, failed={**attempt.failed, **attempt.dropped})
    for way in job.ways:
        kept = [one.rates[way.key] for one in attempt.rounds if way.key in one.rates]
        result.runs[way.key] = [Measurement(rates) for rates in kept]
    return result


def _leave_out_hopeless(comparison: Comparison) -> None:
    """Says of an expert's settings that are far from the best one why they are left out."""
    ways = hand_set_keys(comparison.ways)
    rates = {key: comparison.first[key].bandwidth for key in ways}
    accesses = comparison.job.accesses
    best = {access: max((rates[key][access] for key in ways), default=0.0) for access in accesses}
    for key in ways:
        if all(rates[key][access] * HOPELESS < best[access] for access in accesses):
            comparison.failed[key] = f"more than {HOPELESS} times slower than the best setting"
