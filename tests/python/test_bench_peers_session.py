"""`headrace bench peers`: the order of its runs, going on after a stop, noise, failures, space."""

from pathlib import Path

import pytest
from peers_support import Bench

from headrace.bench.comparison import LIMIT_TRIALS, NoSpace
from headrace.bench.jobs import HEADRACE, LIMIT, PLAIN
from headrace.bench.peers.grid import Point
from headrace.bench.peers.judgement import judge, problems
from headrace.bench.peers.load import busy_seconds
from headrace.bench.peers.progress import duration_text
from headrace.bench.peers.results import Results
from headrace.bench.peers.session import OutOfTime, Session
from headrace.errors import HeadraceError

TILE = Point("tile-1000", 2, "mpich", "/memory")
SMALL = Point("tile-8", 2, "openmpi", "/memory")
ALONE = Point("self-65536", 2, "mpich", "/memory")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bench:
    return Bench(monkeypatch, tmp_path, [TILE, SMALL])


def rounds_of(results: Results, point: Point) -> int:
    return len(results.points[point].attempts[-1].rounds)


def test_every_point_gets_its_rounds(bench: Bench) -> None:
    bench.session(rounds=3).run()
    assert [rounds_of(bench.results, point) for point in bench.points] == [3, 3]
    assert bench.saved == 6
    verdicts = judge(bench.results)
    assert {one.share.median for one in verdicts} == {0.8}
    kept = [
        one for point in bench.points for one in bench.results.points[point].attempts[-1].rounds
    ]
    assert all(one.core_distances == {"write": 90} for one in kept)
    assert not problems(bench.results)
    assert not list(bench.folder.iterdir())
    assert "0 of 2 cells left" in bench.lines[-1]


def test_ways_take_turns_in_beginning(bench: Bench) -> None:
    bench.points = [TILE]
    bench.session(rounds=3).run()
    ways = [way for _, way in bench.fake.runs]
    count = len(set(ways))
    rounds = [ways[i * count : (i + 1) * count] for i in range(4)]
    assert len(ways) == 4 * count and all(set(one) == set(rounds[0]) for one in rounds)
    _, second, third, fourth = rounds
    assert second[:2] == [HEADRACE, PLAIN] and third == second[::-1] and fourth[0] == PLAIN


def test_the_limit_tries_requests_once_and_keeps_the_best(bench: Bench) -> None:
    bench.points = [TILE]
    bench.session(rounds=2).run()
    flags = [
        flags
        for (_, way), flags in zip(bench.fake.runs, bench.fake.flags, strict=True)
        if way == LIMIT
    ]
    assert flags[0][-2:] == LIMIT_TRIALS and "--request" not in flags[0]
    kept = ("--request", str(4 << 20), "--readRequest", str(64 << 10))
    assert [one[-4:] for one in flags[1:]] == [kept, kept]


def test_goes_on_in_the_middle_of_a_cell(bench: Bench) -> None:
    bench.points = [TILE]
    bench.session(rounds=2).run()
    runs = len(bench.fake.runs)
    flags = bench.fake.flags[-runs // 3 :]
    bench.session(rounds=3).run()
    again = bench.fake.runs[runs:]
    assert rounds_of(bench.results, TILE) == 3
    assert len(again) == runs // 3, "only the third round is missing"
    assert sorted(bench.fake.flags[runs:]) == sorted(flags), "with the limit's kept requests"
    assert "goes on after round 2" in " ".join(bench.lines)
    bench.session(rounds=3).run()
    assert len(bench.fake.runs) == runs + len(again), "there is nothing left to do"


def test_stops_when_the_time_is_over(bench: Bench) -> None:
    with pytest.raises(OutOfTime):
        bench.session(until=0).run()
    assert not bench.fake.runs
    bench.session().run()
    assert [rounds_of(bench.results, point) for point in bench.points] == [3, 3]


def test_an_interrupted_round_does_not_count(bench: Bench) -> None:
    def interrupt(_job: object, _way: object, number: int) -> str:
        if number == 20:
            raise KeyboardInterrupt
        return ""

    bench.points = [TILE]
    bench.fake.fail = interrupt
    with pytest.raises(KeyboardInterrupt):
        bench.session(rounds=9).run()
    done = rounds_of(bench.results, TILE)
    assert 0 < done == bench.saved < 9
    bench.fake.fail = lambda *_: ""
    bench.session(rounds=9).run()
    assert rounds_of(bench.results, TILE) == 9


def test_noisy_cells_are_measured_again_and_the_quieter_attempt_counts(bench: Bench) -> None:
    bench.others = [0.0] * 3 + [0.4] * 3 + [0.01]
    bench.session(rounds=3, repeats=2).run()
    quiet, noisy = (bench.results.points[point] for point in bench.points)
    assert (len(quiet.attempts), len(noisy.attempts)) == (1, 2)
    assert noisy.best() is noisy.attempts[1] and not noisy.best().is_noisy


@pytest.mark.parametrize("repeats", [0, 1, 2])
def test_repeats_are_bounded(bench: Bench, repeats: int) -> None:
    bench.points = [TILE]
    bench.others = [0.5]
    bench.session(rounds=1, repeats=repeats).run()
    assert len(bench.results.points[TILE].attempts) == 1 + repeats
    assert all(one.is_noisy for one in judge(bench.results))
    bench.session(rounds=1, repeats=repeats).run()
    assert len(bench.results.points[TILE].attempts) == 1 + repeats


def test_a_peer_that_fails_in_a_round_is_left_out(bench: Bench) -> None:
    bench.points = [TILE]
    seen = 0

    def second_round(_job: object, way: object, _number: int) -> str:
        nonlocal seen
        seen += way.key == "no-cb"
        return "it crashed" if way.key == "no-cb" and seen > 2 else ""

    bench.fake.fail = second_round
    bench.session(rounds=3).run()
    attempt = bench.results.points[TILE].attempts[0]
    assert "it crashed" in attempt.failed["no-cb"] and len(attempt.rounds) == 3
    assert {one.best.label for one in judge(bench.results)} == {"plain (sieving)"}
    bench.session(rounds=4).run()
    assert len(attempt.rounds) == 4


def test_where_headrace_fails_the_others_go_on(bench: Bench) -> None:
    bench.fake.fail = lambda job, way, _: (
        "it broke" if way.key == HEADRACE and job.ways[1].key == "posix" else ""
    )
    bench.session(rounds=2).run()
    [problem] = problems(bench.results)
    assert problem.point == TILE and "it broke" in problem.text
    assert rounds_of(bench.results, SMALL) == 2
    bench.fake.fail = lambda *_: ""
    bench.session(rounds=2).run()
    assert not problems(bench.results), "a later run tries it again"


def test_settings_far_from_the_best_cost_no_rounds(bench: Bench) -> None:
    bench.points = [TILE]
    bench.fake.rates["sieving"] = 99.0
    bench.session(rounds=2).run()
    assert [way for _, way in bench.fake.runs].count("sieving") == 1
    assert "4 times slower" in bench.results.points[TILE].attempts[0].failed["sieving"]


def test_files_of_each_rank_are_compared_and_removed(bench: Bench) -> None:
    bench.points = [ALONE]
    bench.session(rounds=1).run()
    attempt = bench.results.points[ALONE].attempts[0]
    assert attempt.identical[PLAIN] and attempt.identical["posix"]
    assert not list(bench.folder.iterdir())


def test_a_failure_beside_a_full_disk_is_one_of_space(bench: Bench) -> None:
    def fill(_job: object, way: object, number: int) -> str:
        if number > 12 and way.key == PLAIN:
            bench.free = 1 << 20
            return "exit code 7"
        return ""

    bench.fake.fail = fill
    with pytest.raises(NoSpace, match="exit code 7"):
        bench.session(rounds=9).run()


@pytest.mark.parametrize(
    "why", ["cannot write to 'f' (No space left on device)", "Disk quota exceeded"]
)
def test_a_file_system_that_fills_up_stops_the_run(bench: Bench, why: str) -> None:
    bench.fake.fail = lambda _job, way, number: why if number > 12 and way.key == PLAIN else ""
    with pytest.raises(NoSpace, match=r"filled up .*, free some space"):
        bench.session(rounds=9).run()
    assert rounds_of(bench.results, TILE) == bench.saved > 0
    assert not bench.results.points[TILE].attempts[0].failed
    assert not list(bench.folder.iterdir())


def test_space_is_checked_before_anything_runs(bench: Bench) -> None:
    bench.free = 100 << 20
    with pytest.raises(NoSpace, match="not enough space in '/memory'"):
        bench.session().check()
    assert not bench.fake.runs


def test_results_of_another_job_are_refused(bench: Bench) -> None:
    bench.session(rounds=1).run()
    bench.session(rounds=1).check()
    bench.results.points[SMALL].lines[PLAIN] = "--piece 9"
    with pytest.raises(HeadraceError, match="tile-8 was measured differently"):
        bench.session(rounds=1).check()


def test_results_that_cannot_be_kept_stop_the_run(bench: Bench) -> None:
    def refuse() -> None:
        raise HeadraceError("'out' cannot be written", "No space left on device", "another")

    session: Session = bench.session()
    session.save = refuse
    with pytest.raises(HeadraceError, match="'out' cannot be written"):
        session.run()
    assert not bench.results.points[TILE].attempts[0].error


def test_time_left_is_told(bench: Bench) -> None:
    session = bench.session(rounds=3)
    assert session.progress.left() == "2 of 2 cells left"
    session.run()
    assert any("1 of 2 cells left, about" in line for line in bench.lines)
    assert [duration_text(value) for value in (5, 90, 11999)] == ["5 s", "2 min", "3 h 20 min"]


def test_busy_time_is_read_from_the_first_line() -> None:
    stat = "cpu  100 20 30 1000 500 7 8 9 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n"
    assert busy_seconds(stat, 100) == pytest.approx((100 + 20 + 30 + 7 + 8 + 9) / 100)


def test_busy_time_is_of_the_cores_that_may_be_used() -> None:
    stat = "cpu  9 9 9 9\ncpu0 100 0 0 9\ncpu1 10 1 0 9\ncpu10 5000 0 0 9\nintr 7\n"
    assert busy_seconds(stat, 100, {0, 1}) == pytest.approx(1.11)
