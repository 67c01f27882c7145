"""`headrace bench peers`: rounds with near and with far cores are told apart."""

from peers_support import HOSTS, job_of, made_attempt, made_results

from headrace.bench.comparison import Comparison
from headrace.bench.jobs import HEADRACE, LIMIT, Measurement
from headrace.bench.peers import document
from headrace.bench.peers.core_distance import distance_table, told_distances
from headrace.bench.peers.grid import Point

TILE = Point("tile-1000", 2, "mpich", "/memory")


def test_the_distance_is_read_from_the_reason() -> None:
    reason = (
        "2000 pieces of 1000 B: estimated 9 us directly, 7 us staged; cores are 290 ns a page apart"
    )
    hints = {
        "write": {"headrace_write_reason": "the view is contiguous, so nothing is gained"},
        "read": {
            "headrace_write_reason": "cores are 70 ns a page apart",
            "headrace_read_reason": reason,
        },
    }
    comparison = Comparison(job_of(TILE), HOSTS["mpich"])
    comparison.runs[HEADRACE] = [Measurement({}, hints)]
    assert told_distances(comparison) == {"read": 290}


def test_shares_are_split_by_the_distance() -> None:
    rates = {LIMIT: 1000.0, HEADRACE: 800.0}
    attempt = made_attempt(TILE, 5, rate=lambda way, *_: rates.get(way, 100.0))
    for one, distance in zip(attempt.rounds, (70, 80, 290, 300, None), strict=True):
        one.core_distances = {} if distance is None else {"read": distance}
        if distance == 290:
            one.rates[HEADRACE]["read"] = 400.0
        if distance == 300:
            one.rates[HEADRACE]["read"] = 500.0
    table = distance_table(made_results((TILE, [attempt])))
    assert table.rows == [("tile, pieces of 1,000 B", "read", "tmpfs", "80% (2)", "45% (2)")]


def test_nothing_is_said_where_no_round_tells() -> None:
    results = made_results((TILE, [made_attempt(TILE)]))
    assert distance_table(results).rows == []
    assert "far apart" not in document.section(results)
