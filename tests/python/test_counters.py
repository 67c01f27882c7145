"""What is worked out from counts: against figures that others printed, and worked out by hand."""

import json

import pytest
from cli_support import ROOT
from record_support import MILLISECOND, Job
from schema_support import check

from headrace.counters.counts import Count
from headrace.counters.metrics import ALL, METRICS, metrics_for, peak_of, worked_out
from headrace.counters.summary import Counters, Spread, counters
from headrace.record.reader import read
from headrace.report.counter_tables import counter_document, counter_tables
from headrace.report.profile_document import profile_document

# "Sample CrayPAT HWPC Data" of a talk on a Cray XT5 (December 2009), function rhsf_ on 2,048 ranks:
# counts of a rank, and below what CrayPat printed of them. Its processors do 4 operations a cycle.
PRINTED_COUNTS = {
    "l1d_load_misses": 7569486532,
    "dtlb_load_misses": 117992047,
    "l1d_loads": 484310815400,
    "flops_all": 458044890200,
    "cycles": 1103418882813,
    "task_clock": 525.438e9,
}
PRINTED_WALL = 556.742885
PRINTED_IMBALANCE = 14.817686, 2.6, 2048
PRINTED = {
    "flop_rate": (871.740e6, 0.001e6),
    "flop_rate_wall": (822.722e6, 0.001e6),
    "peak_share": (0.104, 0.0005),
    "flops_a_cycle": (0.42, 0.005),
    "flops_a_reference": (0.95, 0.005),
    "tlb_references_a_miss": (4104.61, 0.005),
    "tlb_uses": (8.017, 0.0005),
    "l1d_hit_ratio": (0.984, 0.0005),
    "l1d_miss_ratio": (0.016, 0.0005),
    "l1d_references_a_miss": (63.98, 0.005),
    "l1d_uses": (7.998, 0.0005),
}
PRINTED_AGGREGATE = 1785323.32e6

# By hand: round counts, and what follows from them.
BY_HAND = [
    ({"instructions": 300, "cycles": 200}, "ipc", 1.5),
    ({"cycles": 3_000, "task_clock": 1_000}, "frequency", 3e9),
    (
        {"flops_1": 1, "flops_2": 10, "flops_4": 100, "flops_8": 1000, "flops_16": 10_000},
        "flops",
        168_421,
    ),
    (
        {"flops_1": 21, "flops_2": 0, "flops_4": 0, "flops_8": 8, "flops_16": 0},
        "vector_share",
        64 / 85,
    ),
    ({"l2_refs": 100, "l2_misses": 25}, "l2_hit_ratio", 0.75),
    ({"l2_refs": 100, "l2_misses": 25}, "l2_references_a_miss", 4),
    ({"l3_loads": 80, "l3_load_misses": 8}, "l3_hit_ratio", 0.9),
    ({"l3_loads": 80, "l3_load_misses": 8}, "l3_references_a_miss", 10),
    ({"itlb_load_misses": 5, "instructions": 2_000}, "itlb_misses_a_thousand", 2.5),
    ({"l3_load_misses": 3, "l3_store_misses": 2, "wall": 10}, "memory_bandwidth", 32),
    ({"l3_load_misses": 5, "wall": 10}, "memory_bandwidth", 32),
    ({"stalled_frontend": 10, "cycles": 40}, "frontend_stalls", 0.25),
    ({"stalled_backend": 30, "cycles": 40}, "backend_stalls", 0.75),
    ({"branches": 20, "instructions": 100}, "branch_share", 0.2),
    ({"l1d_loads": 30, "instructions": 100}, "load_share", 0.3),
    ({"l1d_stores": 10, "instructions": 100}, "store_share", 0.1),
    ({"branch_misses": 3, "branches": 60}, "branch_miss_ratio", 0.05),
    ({"task_clock": 3e9, "wall": 2}, "cores_used", 1.5),
    ({"minor_faults": 50, "wall": 2}, "minor_fault_rate", 25),
    ({"voluntary_switches": 6, "involuntary_switches": 4, "wall": 5}, "switch_rate", 2),
]


def value_of(counts: dict, name: str) -> float | None:
    return worked_out(metrics_for(counts), counts)[name]


def test_figures_that_were_printed() -> None:
    known = {**PRINTED_COUNTS, "wall": PRINTED_WALL, "flops_per_cycle": 4}
    found = worked_out(metrics_for(PRINTED_COUNTS), known)
    assert set(found) == set(PRINTED) | {"flops", "frequency", "cores_used"}
    for name, (printed, rounding) in PRINTED.items():
        assert found[name] == pytest.approx(printed, abs=rounding), name
    ranks = PRINTED_IMBALANCE[2]
    assert found["flop_rate"] * ranks == pytest.approx(PRINTED_AGGREGATE, rel=2e-6)


def test_imbalance_as_it_was_printed() -> None:
    above, percent, ranks = PRINTED_IMBALANCE
    others = (PRINTED_WALL * ranks - (PRINTED_WALL + above)) / (ranks - 1)
    spread = Spread({rank: others if rank else PRINTED_WALL + above for rank in range(ranks)})
    assert spread.mean == pytest.approx(PRINTED_WALL)
    assert spread.imbalance_percent == pytest.approx(percent, abs=0.05)
    assert spread.greatest_rank == 0


@pytest.mark.parametrize(("counts", "name", "value"), BY_HAND)
def test_figures_by_hand(counts: dict, name: str, value: float) -> None:
    assert value_of(counts, name) == pytest.approx(value)


def test_every_metric_is_tested() -> None:
    tested = {name for _, name, _ in BY_HAND} | set(PRINTED)
    assert tested == {metric.name for metric in ALL} and len(ALL) == len(METRICS)


@pytest.mark.parametrize("metric", ALL, ids=[f"{one.name}-{at}" for at, one in enumerate(ALL)])
def test_what_is_not_known_stays_unknown(metric) -> None:
    names = metric.formula.names
    for missing in names:
        known = {name: None if name == missing else 2.0 for name in names}
        assert metric.formula.value(known) is None
    zero = worked_out([metric], dict.fromkeys(names, 0.0))[metric.name]
    constant = {"l1d_uses", "tlb_uses"}  # what they divide is never 0, but not known
    assert zero is None or "/" not in metric.formula.text or metric.name in constant


def test_peaks_of_processors() -> None:
    assert peak_of("AuthenticAMD 25 1") == 16
    assert peak_of("AuthenticAMD 23 1") == 8
    assert peak_of("GenuineIntel 6 79") == 16
    for unknown in ("GenuineIntel 6 85", "GenuineIntel 7 79", "AuthenticAMD", "", "a b c", "a 1 ²"):
        assert peak_of(unknown) is None


@pytest.mark.parametrize(
    ("count", "value", "scaled"),
    [
        (Count("x", 0, 100, 8, 8, 1), 100, False),
        (Count("x", 0, 100, 8, 2, 1), 400, True),
        (Count("x", 0, 0, 8, 0, 1), None, False),
        (Count("x", 0, 7, 0, 0, 1), 7, False),
        (Count("x", 0, 0, 0, 0, 0), None, False),
        (Count("x", 2, 0, 0, 0, 1), None, False),
        (Count("x", 9999, 5, 5, 5, 5), None, False),
    ],
)
def test_events_that_took_turns_are_scaled(count: Count, value: float | None, scaled: bool) -> None:
    assert count.value == value and count.is_scaled is scaled
    assert bool(count.why_not) == (value is None)


def counted(tmp_path, *ranks: dict[str, tuple[int, ...]], **facts: str) -> Counters | None:
    """A record of ranks with (error, count, enabled, running) by event, two seconds long."""
    job = Job(facts={"ranks": str(len(ranks)), "nodes": "1", **facts})
    node = job.node()
    node.add("settings", name="HEADRACE_COUNTERS", value="summary", origin="environment")
    for rank, events in enumerate(ranks):
        node.add("ranks", rank=rank, host="n0", state=1, run=2000 * MILLISECOND, threads=1)
        for name, (error, count, enabled, running) in events.items():
            node.add(
                "counters", rank=rank, event=name, error=error, count=count, enabled=enabled,
                running=running, wall=2000 * MILLISECOND,
            )  # fmt: skip
    return counters(read(job.write(tmp_path)))


def test_a_record_in_the_report(tmp_path) -> None:
    one = {"cycles": (0, 100, 5, 5), "instructions": (0, 200, 8, 4), "flops": (61, 0, 0, 0)}
    two = {"cycles": (0, 0, 5, 5), "instructions": (0, 900, 5, 5), "flops": (61, 0, 0, 0)}
    found = counted(tmp_path, one, two, processor="GenuineIntel 6 85")
    assert found is not None and found.group == "summary"
    cycles, instructions, flops = found.events
    assert instructions.spread.values == {0: 400, 1: 900} and instructions.is_scaled
    assert cycles.spread.least == 0 and not cycles.is_scaled
    assert flops.why_not and flops.spread.mean is None and not flops.spread.known
    values = {row.metric.name: row for row in found.metrics}
    assert values["ipc"].spread.values == {0: 4, 1: None} and values["ipc"].spread.mean == 4
    assert values["peak_share"].why_not == "the peak of this processor is not known"
    assert "flops" in values["flops_a_cycle"].why_not
    rows = [row for table in counter_tables(found) for row in table.rows]
    assert ("instructions ~", "400", "650", "900", "1", "55.6 %") in rows
    assert any(row[:2] == ("flops", "not known") for row in rows)
    schema = json.loads((ROOT / "docs" / "reference" / "report.schema.json").read_text())
    document = counter_document(found)
    check(document, schema["properties"]["profile"]["properties"]["counters"])
    check(profile_document(None, (), None, found), schema["properties"]["profile"])
    json.dumps(document, allow_nan=False)


def test_a_metric_of_fewer_events_takes_the_place_of_one_that_is_not_known(tmp_path) -> None:
    """Memory traffic: many processors do not count stores that miss the last level."""
    loads = {"l3_load_misses": (0, 10**9, 5, 5)}
    without = counted(tmp_path, loads | {"l3_store_misses": (2, 0, 0, 0)})
    (row,) = (row for row in without.metrics if row.metric.name == "memory_bandwidth")
    assert row.spread.values == {0: 32e9} and "reads" in row.metric.title
    both = counted(tmp_path, loads | {"l3_store_misses": (0, 10**9, 5, 5)})
    (row,) = (row for row in both.metrics if row.metric.name == "memory_bandwidth")
    assert row.spread.values == {0: 64e9} and "traffic" in row.metric.title
    none = counted(tmp_path, dict.fromkeys(("l3_load_misses", "l3_store_misses"), (2, 0, 0, 0)))
    (row,) = (row for row in none.metrics if row.metric.name == "memory_bandwidth")
    assert "l3_load_misses" in row.why_not


def test_a_record_without_counts(tmp_path) -> None:
    assert counted(tmp_path, {}) is None
    assert counter_tables(None) == [] and counter_document(None) is None
    assert profile_document(None, ()) is None
