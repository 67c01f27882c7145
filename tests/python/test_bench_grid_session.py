"""`headrace bench grid`: search and confirmation, going on after a stop; a small real run."""

import json
from pathlib import Path
from statistics import median

import pytest
from bench_support import bench_command
from grid_support import DIRECT, SMALL, STAGED, TILE, keys_of
from peers_support import IDENTITY, Bench

from headrace.bench.grid import output, racing
from headrace.bench.grid import session as session_module
from headrace.bench.grid.judgement import judge
from headrace.bench.grid.session import GridSession
from headrace.bench.jobs import HEADRACE
from headrace.bench.peers.judgement import problems
from headrace.bench.peers.results import Results
from headrace.bench.peers.session import OutOfTime


def test_ranks_of_a_cell_have_cores_of_their_own(bench: Bench) -> None:
    session = bench.session(kind=GridSession)
    assert all(session.job(point).is_steady for point in bench.points)
    session.run()
    assert {one.settings for one in bench.results.points.values()} == {"a core for each rank"}


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bench:
    bench = Bench(monkeypatch, tmp_path, [TILE, SMALL])
    monkeypatch.setattr(session_module, "measure", bench.fake.measure)
    keys = keys_of("tile-1000") | keys_of("independent")
    bench.fake.rates = dict.fromkeys(keys.values(), 100.0) | {HEADRACE: 240.0}
    bench.fake.rates |= {keys[STAGED]: 300.0, keys[DIRECT]: 220.0}
    return bench


def runs_of(bench: Bench, way: str) -> int:
    return [one for _, one in bench.fake.runs].count(way)


def test_a_session_searches_and_confirms(bench: Bench) -> None:
    bench.session(rounds=6, kind=GridSession).run()
    keys = keys_of("tile-1000")
    # The round that compares files, two more of the search, and the pairs.
    assert runs_of(bench, keys[STAGED]) == racing.ROUNDS + 6
    assert runs_of(bench, keys[DIRECT]) == 2, "it drops out after the second round"
    slow = set(keys.values()) - {keys[STAGED], keys[DIRECT]}
    assert {runs_of(bench, key) for key in slow} == {1}
    found = judge(bench.results)
    assert {one.best.ratio.median for one in found if one.point == TILE} == {0.8}
    assert len(found) == 4 and not problems(bench.results, output.ways(bench.results))
    assert "0 of 2 cells left" in bench.lines[-1]
    assert any("search, round 1 of 3, 2 settings go on" in line for line in bench.lines)
    assert not list(bench.folder.iterdir())


def test_nothing_that_is_there_is_measured_again(bench: Bench) -> None:
    """Stopped after any number of runs, it goes on to the same as without a stop."""
    whole = bench.session(rounds=6, kind=GridSession)
    whole.run()
    total = len(bench.fake.runs)
    whole.run()
    assert len(bench.fake.runs) == total
    expected = [one.best.label for one in judge(bench.results)]
    bench.results = Results(dict(IDENTITY), {"/memory": "tmpfs"})
    bench.fake.runs.clear()
    lost = 0
    for stop in range(5, 2 * total, 11):
        before = len(bench.fake.runs)

        def interrupt(_job: object, _way: object, number: int, last: int = before + stop) -> str:
            if number == last:
                raise KeyboardInterrupt
            return ""

        bench.fake.fail = interrupt
        try:
            bench.session(rounds=6, kind=GridSession).run()
            break
        except KeyboardInterrupt:
            lost += 1
    assert lost >= 3
    assert [one.best.label for one in judge(bench.results)] == expected
    counts = {len(one.search.rounds) for one in bench.results.points.values() if one.search}
    assert counts == {racing.ROUNDS}


def test_the_time_it_takes_is_told_first(bench: Bench) -> None:
    session = bench.session(rounds=6, kind=GridSession)
    session.announce()
    [line] = bench.lines
    assert line.startswith("2 of 2 cells to measure, about ") and "runs, about" in line
    runs = len(bench.fake.runs)
    assert runs == 2, "one of each MPI"
    session.run()
    foretold = int(line.split("about ")[1].split(" runs")[0].replace(",", ""))
    assert foretold / 2 < len(bench.fake.runs) - runs < foretold * 2
    bench.lines.clear()
    bench.session(rounds=6, kind=GridSession).announce()
    assert not bench.lines, "nothing is left"


def test_a_time_that_is_too_short_is_told(bench: Bench) -> None:
    session = bench.session(rounds=6, kind=GridSession, until=0)
    session.announce()
    assert "of that is done" in bench.lines[-1]
    with pytest.raises(OutOfTime):
        session.run()


def test_a_search_that_failed_is_tried_again(bench: Bench) -> None:
    bench.fake.fail = lambda _job, way, _number: "it broke" if way.key == HEADRACE else ""
    bench.session(rounds=6, kind=GridSession).run()
    assert len(problems(bench.results, output.ways(bench.results))) == 2
    assert not judge(bench.results)
    bench.fake.fail = lambda *_: ""
    bench.session(rounds=6, kind=GridSession).run()
    assert len(judge(bench.results)) == 4
    assert not problems(bench.results, output.ways(bench.results))


def test_a_small_run(tmp_path: Path) -> None:
    bench = bench_command(tmp_path)
    line = ("bench", "grid", "--patterns", "independent-turns", "--mpi", "mpich", "--dir", ".")
    line = (*line, "--size", "100000", "--rounds", "1", "--repeats", "0", "--json", "out")
    run = bench(*line, "--markdown", "page.md")
    assert run.returncode == 0, run.stdout + run.stderr
    assert "1 of 1 cells to measure, about" in run.stderr
    assert run.stdout.startswith("The default is within 10% of the best of 8 settings in ")
    [point] = json.loads((tmp_path / "out").read_text())["points"]
    search, [attempt] = point["search"], point["attempts"]
    assert attempt["took_part"] and len(search["identical"]) == 8
    assert all(search["identical"].values()) and not any(search["damaged"].values())
    assert len(search["rounds"]) == racing.ROUNDS and len(attempt["rounds"]) == 1
    both = attempt["rounds"][0]["rates"]
    assert all(median(rates.values()) > 0 for rates in both.values())
    assert output.BEGIN in (tmp_path / "page.md").read_text()
    assert {path.name for path in tmp_path.iterdir()} == {"out", "page.md"}
    again = bench(*line)
    assert again.returncode == 0 and again.stdout == run.stdout
    assert "to measure" not in again.stderr
