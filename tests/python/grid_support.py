"""Faked measurements for the tests of `headrace bench grid`."""

from peers_support import IDENTITY, TITLES

from headrace.bench.grid.cases import BY_NAME
from headrace.bench.grid.settings import plan, with_settings
from headrace.bench.jobs import HEADRACE
from headrace.bench.peers.grid import Point
from headrace.bench.peers.results import Attempt, Measured, Results, Round

CORES = 2
TILE = Point("tile-1000", 2, "mpich", "/memory")
SMALL = Point("independent", 2, "openmpi", "/memory")
READ_DIRECT = "read_path=direct ind_rd_buffer_size=64k"
DIRECT = "write_path=direct read_path=direct ind_rd_buffer_size=256k"
STAGED = "write_path=staged read_path=staged buffer_size=1m buffer_count=4"


def keys_of(case: str, kind: str = "tmpfs") -> dict[str, str]:
    """label -> key of all settings of a case."""
    job = with_settings(BY_NAME[case].make(2, 4_000_000), plan(BY_NAME[case], 2, kind, CORES))
    return {way.label: way.key for way in job.ways if way.key != HEADRACE}


def search_of(case: str, rates: dict[str, list[float]], default: list[float]) -> Attempt:
    """A search whose settings have these rates, by label, in its rounds; others 100."""
    keys = keys_of(case)
    labels = {HEADRACE: "Headrace"} | {key: label for label, key in keys.items()}
    by_key = {keys[label]: values for label, values in rates.items()} | {HEADRACE: default}
    rounds = [
        Round(
            {
                key: dict.fromkeys(("write", "read"), by_key.get(key, [100.0] * 9)[i])
                for key in labels
            },
            *(0.0, 1.0),
        )
        for i in range(len(default))
    ]
    return Attempt("2026-11-29 20:00", 0.5, labels, rounds=rounds)


def measured(point: Point, pairs: dict[str, list[float]], search: Attempt) -> Measured:
    """A point whose confirming rounds have these rates, by label, both accesses."""
    keys = keys_of(point.case) | {HEADRACE: HEADRACE}
    labels = {keys[label]: label for label in pairs}
    rounds = [
        Round({keys[x]: dict.fromkeys(("write", "read"), pairs[x][i]) for x in pairs}, 0.0, 1.0)
        for i in range(len(pairs[HEADRACE]))
    ]
    attempt = Attempt(
        *("2026-11-29 20:10", 0.5, labels),
        rounds=rounds,
        paths={"write": ["staged", "it seemed cheaper"], "read": ["direct", "it is small"]},
    )
    return Measured(point, TITLES[point.mpi], "defaults", {}, [attempt], search)


def results(*found: Measured) -> Results:
    return Results(dict(IDENTITY), {"/memory": "tmpfs"}, {one.point: one for one in found})
