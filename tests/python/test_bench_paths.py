"""`headrace bench paths`: its ways, judgement, crossings, tables and figure; a small real run."""

import json
from pathlib import Path

import pytest
from bench_support import bench_command
from peers_support import IDENTITY, SIZE, TITLES, Bench, attempt_at

from headrace.bench.jobs import HEADRACE
from headrace.bench.paths import figure, output
from headrace.bench.paths.grid import (
    ACCESSES,
    BY_NAME,
    CASES,
    DIRECT,
    FORCED,
    STAGED,
    WAYS,
    PathSession,
    forced_way,
)
from headrace.bench.paths.judgement import (
    Choice,
    crossings,
    curves,
    estimates_of,
    judge,
    losing_first,
)
from headrace.bench.peers.grid import Point
from headrace.bench.peers.results import Measured, Results

TOLD = "6400000 pieces of 10 B: estimated 2000 us directly, 500 us staged"


def result(case: str, direct: float, staged: float, model: float, taken: str) -> Measured:
    """A cell with these rates in every round. The access that is not forced has other ones."""
    point = Point(case, 2, "mpich", "/memory")
    forced = {DIRECT: direct, STAGED: staged}

    def rate(way: str, access: str, _number: int) -> float:
        if way == HEADRACE:
            return model
        of, path = way.split("-")
        return forced[path] if of == access else 7

    job = PathSession.job(_session(), point)
    attempt = attempt_at(
        job,
        rate=rate,
        paths={access: [taken, TOLD] for access in job.accesses},
    )
    return Measured(point, TITLES["mpich"], "defaults", {}, [attempt])


def _session() -> PathSession:
    return PathSession([], {}, {}, SIZE, 1, 0, {}, Results({}), lambda: None, None)


def results(*measured: Measured) -> Results:
    points = {one.point: one for one in measured}
    return Results(dict(IDENTITY), {"/memory": "tmpfs"}, points)


def write(*measured: Measured) -> list[Choice]:
    return [one for one in judge(results(*measured)) if one.access == "write"]


def test_every_case_is_done_by_both_paths_and_the_model() -> None:
    for case in CASES:
        job = PathSession.job(_session(), Point(case.name, 2, "mpich", "/memory"))
        assert job.ways == WAYS and 0 < job.largest_file <= 6 * SIZE
    by_key = {way.key: dict(way.variables) for way in WAYS}
    assert by_key["write-direct"] == {
        "HEADRACE_WRITE_PATH": "direct",
        "HEADRACE_READ_PATH": "automatic",
    }
    assert by_key["read-staged"] == {
        "HEADRACE_WRITE_PATH": "automatic",
        "HEADRACE_READ_PATH": "staged",
    }
    assert len(by_key) == 5
    assert set(by_key[HEADRACE].values()) == {"automatic"}
    assert all(way.preload for way in WAYS)


def test_a_session_measures_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bench = Bench(monkeypatch, tmp_path, [Point("call-2x64", 2, "mpich", "/memory")])
    bench.fake.rates |= {forced_way(one, DIRECT): 400 for one in ACCESSES}
    bench.fake.rates |= {forced_way(one, STAGED): 1000 for one in ACCESSES}
    bench.session(rounds=6, kind=PathSession).run()
    ours, *others = (way for _, way in bench.fake.runs[:5])
    assert ours == HEADRACE and others == [way.key for way in WAYS[:-1]]
    one, _ = judge(bench.results)
    assert (one.taken, one.best, one.winner) == (STAGED, STAGED, STAGED)
    assert one.ratio.median == pytest.approx(0.8) and one.is_lost


def test_the_model_is_judged_by_the_better_path() -> None:
    good = result("tile-8", 100, 1000, 980, STAGED)
    bad = result("tile-1000", 1000, 1000, 890, STAGED)
    worse = result("lattice", 1000, 500, 500, STAGED)
    choices = write(good, bad, worse)
    assert [one.winner for one in choices] == [STAGED, "", DIRECT]
    assert [one.case.name for one in losing_first(choices)] == ["lattice", "tile-1000", "tile-8"]
    lost, sure = output.summary(choices)
    assert "in 2 of 3 cells, surely in 2" in lost
    assert "Staging wins 1 cells and was taken in 3; going directly wins 1" in sure
    rows = output.cell_table(choices).rows
    assert rows[0][-2:] == ("direct", "0.50 [0.50, 0.50] LOST")
    assert rows[2][-2:] == ("staged", "0.98 [0.98, 0.98]")


def test_too_few_rounds_win_nothing() -> None:
    measured = result("tile-8", 100, 1000, 980, STAGED)
    del measured.attempts[0].rounds[2:]
    assert [one.winner for one in write(measured)] == [""]


def test_estimates_are_read_from_the_reason() -> None:
    assert estimates_of(TOLD) == {DIRECT: 2000, STAGED: 500}
    assert estimates_of("pieces of 4.0 MiB in the view are large enough") == {}


def test_crossings_lie_between_sizes() -> None:
    assert crossings([(100, 2.0), (10_000, 0.5)]) == [1000]
    assert crossings([(100, 4.0), (10_000, 0.5)]) == [pytest.approx(2154, abs=1)]
    assert crossings([(10, 0.5), (100, 2.0), (1000, 0.5)]) == [32, 316]
    assert crossings([(10, 2.0), (100, 3.0)]) == [] == crossings([])


def test_crossings_measured_and_estimated() -> None:
    small = result("tile-1000", 500, 1000, 1000, STAGED)
    large = result("tile-100000", 1000, 500, 1000, DIRECT)
    [curve] = [one for one in curves(judge(results(large, small))) if one.access == "write"]
    assert curve.measured_crossings() == [10_000]
    assert curve.estimated_crossings() == [] and curve.without_estimate() == 0
    assert curve.measured(DIRECT)[1] == (100_000, pytest.approx(1e9 / 1000 / 2**20))
    moved = BY_NAME["tile-1000"].make(2, SIZE).largest_file
    assert curve.estimated(STAGED, SIZE)[0] == (1000, pytest.approx(500_000 / moved))
    for access in ("write", "read"):
        large.attempts[0].paths[access] = [DIRECT, "pieces are large enough"]
    row = output.crossing_table(judge(results(small, large))).rows[0]
    assert row[-2:] == ("10,000 B", "between 1,000 B and 100,000 B, by the view")


def test_the_section_and_the_figure(tmp_path: Path) -> None:
    found = results(
        result("tile-8", 100, 1000, 980, STAGED), result("tile-1000000", 1000, 900, 990, DIRECT)
    )
    text = output.section(found, "paths.svg")
    assert "](paths.svg)" in text and "7 rounds" in text
    assert "| tile, pieces of 8 B | write | 2 | tmpfs |" in text
    pytest.importorskip("matplotlib")
    files = figure.draw(judge(found), SIZE, tmp_path / "picture")
    assert [file.name for file in files] == ["picture.svg", "picture.png"]
    assert "staged, estimated" in files[0].read_text()


def test_a_small_run(tmp_path: Path) -> None:
    bench = bench_command(tmp_path)
    line = ("bench", "paths", "--cells", "tile-1000", "--size", "200000", "--dir", ".")
    run = bench(*line, "--rounds", "1", "--repeats", "0", "--json", "out", "--markdown", "page.md")
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.startswith("The model loses more than 10%")
    [point] = json.loads((tmp_path / "out").read_text())["points"]
    [attempt] = point["attempts"]
    assert attempt["took_part"] and attempt["identical"] == {
        forced_way(access, path): True for access in ACCESSES for path in FORCED
    }
    assert estimates_of(attempt["paths"]["write"][1])
    assert output.BEGIN in (tmp_path / "page.md").read_text()
    shown = bench("bench", "paths", "--from", "out")
    assert shown.stdout == run.stdout
    other = bench("bench", "peers", "--from", "out")
    assert (
        other.returncode == 2 and "give a file that 'headrace bench peers --json'" in other.stderr
    )
