"""Faked measurements for the tests of `headrace bench peers`: nothing is started or timed."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest

from headrace.bench import comparison
from headrace.bench.jobs import HEADRACE, LIMIT, PLAIN, Job, Measurement, Way
from headrace.bench.peers import session as session_module
from headrace.bench.peers.grid import BY_NAME, Point, hand_set_keys
from headrace.bench.peers.results import Attempt, Measured, Results, Round
from headrace.bench.peers.session import Session
from headrace.bench.runner import Host, RunFailed
from headrace.mpi.installed import Mpi

SIZE = 64_000_000
TITLES = {"mpich": "MPICH 5.0.2", "openmpi": "Open MPI 5.0.11"}
HOSTS = {
    "mpich": Host("mpich", Mpi("mpich", Path("libmpi.so.12"), "5.0.2"), {}),
    "openmpi": Host("openmpi", Mpi("openmpi", Path("libmpi.so.40"), "5.0.11"), {}),
}
IDENTITY = {
    "machine": {"name": "here", "processor": "a processor", "cores": 2, "GiB": 8, "kernel": "6"},
    "headrace": "0.1.0",
    "library": "0123456789abcdef",
    "size": SIZE,
    "settings": {},
}

# MiB/s by way, where nothing else is said: the limit, Headrace at 80 % of it, peers far below.
RATES = {LIMIT: 1000.0, HEADRACE: 800.0, PLAIN: 100.0, "posix": 500.0, "no-cb": 400.0}
OTHER_RATE = 200.0
HINTS = {
    "headrace_write_taken": "staged",
    "headrace_write_reason": "estimated; cores are 90 ns a page apart",
}


def made_attempt(
    point: Point,
    rounds: int = 7,
    others: float = 0.0,
    rate: Callable[[str, str, int], float] | None = None,
    **more: object,
) -> Attempt:
    """An attempt as if it had been measured. rate: by way, access and number of the round."""
    return attempt_at(job_of(point), rounds, others, rate, **more)


def attempt_at(
    job: Job,
    rounds: int = 7,
    others: float = 0.0,
    rate: Callable[[str, str, int], float] | None = None,
    **more: object,
) -> Attempt:
    """The same of any job."""
    labels = {way.key: way.label for way in job.ways}
    rate = rate or (lambda way, _access, _number: RATES.get(way, OTHER_RATE))
    made = [
        Round(
            {key: {access: rate(key, access, i) for access in job.accesses} for key in labels},
            others,
            1.5,
        )
        for i in range(rounds)
    ]
    return Attempt("2026-11-22 07:00", 0.5, labels, hand_set_keys(job.ways), rounds=made, **more)


def job_of(point: Point) -> Job:
    job = BY_NAME[point.case].make(point.ranks, SIZE)
    return session_module.with_hand_set(job).under(point.mpi)


def made_results(*entries: tuple[Point, Sequence[Attempt]]) -> Results:
    results = Results(dict(IDENTITY), {"/disk": "ext4", "/memory": "tmpfs"})
    for point, attempts in entries:
        title = TITLES.get(point.mpi, point.mpi)
        results.points[point] = Measured(point, title, "defaults", {PLAIN: "-w"}, list(attempts))
    return results


@dataclass
class FakeRuns:
    """Stands for the programs. fail: says why a run fails, if it does; accesses: those that flags
    leave, None for all of the job; runs: what was run."""

    fail: Callable[[Job, Way, int], str] = lambda _job, _way, _number: ""
    rates: dict[str, float] = field(default_factory=lambda: dict(RATES))
    accesses: tuple[str, ...] | None = None
    runs: list[tuple[str, str]] = field(default_factory=list)
    flags: list[tuple[str, ...]] = field(default_factory=list)

    def measure(
        self, job: Job, way: Way, _host: Host, file: Path, _environ: object, keep: bool = False
    ) -> Measurement:
        self.runs.append((job.key, way.key))
        self.flags.append(way.flags)
        why = self.fail(job, way, len(self.runs))
        if why:
            raise RunFailed(way.key, f"{job.program} failed", why, "run it by hand")
        if keep:
            for name in job.files(file):
                name.write_text("the same")
        rate = self.rates.get(way.key, OTHER_RATE)
        hints = dict(HINTS) if way.preload else {}
        accesses = job.accesses if self.accesses is None else self.accesses
        return Measurement(
            {access: rate for access in accesses},
            {access: hints for access in accesses},
            requests={"write": 4 << 20, "read": 64 << 10} if way.is_limit else {},
        )


class Usage(NamedTuple):
    total: int
    used: int
    free: int


class Bench:
    """A session on faked runs, whose results survive it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path, points: Sequence[Point]):
        self.fake = FakeRuns()
        self.results = made_results()
        self.points = points
        self.folder = folder / "files"
        self.folder.mkdir()
        self.lines: list[str] = []
        self.saved = 0
        self.others = [0.0]  # of the rounds to come; the last one holds on
        self.free = 1 << 40
        monkeypatch.setattr(comparison, "measure", self.fake.measure)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 41, 1 << 40, self.free))
        monkeypatch.setattr(session_module.LoadWatch, "others", lambda _watch: self._others())

    def _others(self) -> float:
        return self.others.pop(0) if len(self.others) > 1 else self.others[0]

    def _save(self) -> None:
        self.saved += 1

    def session(
        self,
        rounds: int = 3,
        repeats: int = 0,
        until: float = float("inf"),
        kind: type[Session] = Session,
    ) -> Session:
        names = {point: point.case for point in self.points}
        progress = kind.progress_kind(self.lines.append, self.points, self.results, rounds, names)
        folders = {point.directory: self.folder for point in self.points}
        for place in folders:
            self.results.file_systems.setdefault(place, "tmpfs")
        return kind(
            *(self.points, HOSTS, folders, SIZE, rounds, repeats, {}),
            *(self.results, self._save, progress, until),
        )
