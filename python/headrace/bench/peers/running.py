"""A session from what is asked for, for all commands that measure a grid."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from headrace.bench.peers import results as storage
from headrace.bench.peers.grid import Case, Point
from headrace.bench.peers.holding import held
from headrace.bench.peers.identity import identity, usual_directories
from headrace.bench.peers.results import Results
from headrace.bench.peers.session import OutOfTime, Session
from headrace.bench.runner import Host, find_wanted
from headrace.bench.workspace import file_system, surroundings, workspace
from headrace.errors import HeadraceError, say


@dataclass(frozen=True)
class Request:
    """The options that say what is measured, and how long."""

    directories: tuple[Path, ...]
    ranks: tuple[int, ...]
    wanted: tuple[str, ...]
    rounds: int
    repeats: int
    minutes: float | None
    run_seconds: int
    size: int
    json_file: Path | None
    earlier: Path | None


def list_cells(cases: Sequence[Case]) -> None:
    for case in cases:
        print(f"{case.name:16} {case.title}")


def find_results(
    request: Request,
    cases: Sequence[Case],
    kind: type[Session],
    form: str,
    show: Callable[[Results], None],
) -> Results:
    """What an earlier run kept, or what is measured now. form: of the file; show: shows what there
    is where measuring ends by an error."""
    if request.earlier is not None:
        return storage.load(request.earlier, form)
    # The directory that is there is the one that counts, by whichever name.
    places = [folder.resolve() for folder in request.directories]
    places = places or usual_directories(Path(tempfile.gettempdir()))
    hosts = {host.name: host for host in find_wanted(request.wanted, os.environ, say)}
    points = [
        Point(case.name, count, mpi, str(place))
        for count in request.ranks
        for place in dict.fromkeys(places)
        for mpi in hosts
        for case in cases
    ]
    with held(request.json_file):
        found = _open(request, form)
        with _session(points, hosts, found, request, kind) as session:
            _run(session, request.json_file, show)
    return found


def _open(request: Request, form: str) -> Results:
    """The results so far: those of the file, where there is one."""
    now = identity(request.size, os.environ)
    json_file = request.json_file
    if json_file is None or not json_file.exists():
        found = Results(now, form=form)
    else:
        found = storage.load(json_file, form)
        storage.check_identity(found, now, json_file)
    if json_file is not None:
        storage.save(found, json_file)  # if that fails, then now
    return found


@contextmanager
def _session(
    points: Sequence[Point],
    hosts: Mapping[str, Host],
    found: Results,
    request: Request,
    kind: type[Session],
) -> Iterator[Session]:
    """The session, with directories for its files as long as it lasts. Raises before anything is
    measured where a job cannot be made or its files do not fit."""
    with ExitStack() as stack:
        folders = {}
        for place in dict.fromkeys(point.directory for point in points):
            folders[place] = stack.enter_context(workspace(Path(place)))
            found.file_systems[place] = file_system(Path(place))
            say(f"files in {surroundings(Path(place))}")
        names = {point: _name(point, hosts, found) for point in points}
        minutes = request.minutes

        def save() -> None:
            if request.json_file is not None:
                storage.save(found, request.json_file)

        session = kind(
            points,
            hosts,
            folders,
            request.size,
            request.rounds,
            request.repeats,
            os.environ,
            found,
            save,
            kind.progress_kind(say, points, found, request.rounds, names),
            time.monotonic() + 60 * minutes if minutes is not None else float("inf"),
            request.run_seconds,
        )
        session.check()
        yield session


def _name(point: Point, hosts: Mapping[str, Host], found: Results) -> str:
    kind = found.file_systems[point.directory]
    return f"{point.case}, {point.ranks} ranks, {kind}, {hosts[point.mpi].title}"


def _run(session: Session, json_file: Path | None, show: Callable[[Results], None]) -> None:
    """Measures; says where the results are when it ends before all are there."""
    kept = f"; what was measured is in '{json_file}', the same line goes on" if json_file else ""
    try:
        session.announce()
        session.run()
    except OutOfTime:
        say(f"the time is over, {session.progress.left()}{kept}")
    except KeyboardInterrupt:
        say(f"stopped, {session.progress.left()}{kept}")
        raise
    except HeadraceError:
        show(session.results)
        say(f"stopped, {session.progress.left()}{kept}")
        raise
