"""Small Darshan logs by hand: what follows from a log's sums, and what cannot be."""

import math

import pytest
from darshan_support import Made, written
from test_report_page import Checked

from headrace.advice.judging import judge
from headrace.advice.rules import collect
from headrace.analysis.darshan.spread import Spread
from headrace.darshan.log import Impossible
from headrace.report.page import page
from headrace.symbols.resolver import resolve

RULES = collect(())
SPAN = {"F_WRITE_START_TIMESTAMP": 10.0, "F_WRITE_END_TIMESTAMP": 50.0}
ENDS = {
    **{"FASTEST_RANK": 2, "FASTEST_RANK_BYTES": 100, "SLOWEST_RANK": 1, "SLOWEST_RANK_BYTES": 300},
    **{"F_FASTEST_RANK_TIME": 2.0, "F_SLOWEST_RANK_TIME": 8.0},
}


def test_files_of_single_ranks_add_up_exactly() -> None:
    made = Made()
    for rank, seconds in enumerate((10.0, 20.0, 5.0, 40.0)):
        made.use("POSIX", f"/out.{rank}", rank, **written(seconds, **SPAN))
    found = made.found()
    assert found.rank_times.times == (10_000_000_000, 20_000_000_000, 5_000_000_000, 40_000_000_000)
    assert found.metrics["io_seconds"] == pytest.approx(18.75)
    assert found.metrics["io_greatest_seconds"] == pytest.approx(40)
    assert found.metrics["io_share"] == pytest.approx(0.1875)
    # No rank waits less than 5 s for it, and after 40 s nothing of it is left to do.
    assert found.metrics["io_write_bound_lower_seconds"] == pytest.approx(5)
    assert found.metrics["io_write_bound_upper_seconds"] == pytest.approx(40)
    assert found.metrics["io_ranks"] == 4
    assert not any("estimated" in note for note in found.source.notes)
    advice = {one.rule.id: one for one in judge(RULES, found.metrics).advice}
    assert advice["io-imbalance"].lower == pytest.approx(40 - 18.75)


def test_a_file_that_all_share() -> None:
    found = Made().use("MPI-IO", "/out", -1, **written(20.0, 1000, **SPAN, **ENDS)).found()
    # 8 s and 2 s are known, of the other 10 s each of two ranks has a half.
    assert [time / 1e9 for time in found.rank_times.times] == [5, 8, 2, 5]
    assert found.metrics["io_greatest_rank_share"] == pytest.approx(0.3)
    assert found.metrics["io_write_bound_lower_seconds"] == pytest.approx(2)
    assert found.metrics["io_write_bound_upper_seconds"] == pytest.approx(20)
    assert any(
        note.startswith("estimated: each rank's time in files") for note in found.source.notes
    )


def test_other_work_of_the_fastest_rank_lowers_the_bound() -> None:
    counters = written(19.0, 1000, **SPAN, **ENDS) | {"F_META_TIME": 1.0}
    metrics = Made().use("MPI-IO", "/out", -1, **counters).found().metrics
    # The fastest rank's 2 s may have 1 s of opening.
    assert metrics["io_write_bound_lower_seconds"] == pytest.approx(1)
    assert metrics["io_bound_lower_seconds"] == pytest.approx(2)
    # It is not told when the opening was.
    assert metrics["io_open_bound_upper_seconds"] == pytest.approx(1)


@pytest.mark.parametrize("known", [[(0, 90.0), (1, 20.0)], [(7, 1.0)], [(0, 1.0), (1, 1.0)]])
def test_parts_that_cannot_be_leave_equal_ones(known: list[tuple[int, float]]) -> None:
    spread = Spread(2)
    spread.share(100.0, known)
    assert spread.values() == (50, 50) and spread.total == pytest.approx(100)


def test_many_ranks_take_no_memory() -> None:
    spread = Spread(1 << 40)
    spread.share(1e12, [(0, 5.0), (1, 1.0)])
    assert spread.total == pytest.approx(1e12) and spread.greatest == pytest.approx(5.0)


def test_what_is_below_mpi_is_not_counted_twice() -> None:
    made = Made().use("MPI-IO", "/out", 0, **written(10.0, 100))
    made.use("POSIX", "/out", 0, **written(4.0, 250) | {"READS": 1, "BYTES_READ": 150})
    made.use("STDIO", "<STDOUT>", 0, **written(1.0, 7))
    found = made.found()
    assert found.classes[0].balance.total == 11e9
    metrics = found.metrics
    assert metrics["write_amplification_ratio"] == 2.5
    assert (metrics["unasked_read_bytes"], metrics["unasked_read_ratio"]) == (150, 1.5)
    assert metrics["io_waiting_share"] == pytest.approx(0.6)
    assert metrics["io_waiting_seconds"] == pytest.approx(6 / 4)
    assert metrics["files"] == 1
    moved = {one.name: one.sums.bytes for one in found.procedures if one.sums.bytes}
    assert moved == {
        "MPI-IO writes": 100,
        "POSIX writes": 250,
        "STDIO writes": 7,
        "POSIX reads": 150,
    }


@pytest.mark.parametrize("how", ["partial", "damage"])
def test_layers_are_not_compared_if_records_are_missing(how: str) -> None:
    made = Made().use("MPI-IO", "/out", 0, **written(10.0, 100))
    made.use("POSIX", "/out", 0, **written(4.0, 250))
    made.answer["modules"]["POSIX"][how] = "unreadable" if how == "damage" else True
    found = made.found()
    assert found.run.lacks and not found.run.is_complete
    for name in ("write_amplification_ratio", "unasked_read_ratio", "io_waiting_share"):
        assert found.metrics[name] is None
    (file,) = found.files
    assert (file.store_written, file.store) == (None, None)


def test_impossible_times_are_not_counted() -> None:
    made = Made(seconds=10.0)
    for rank, seconds in enumerate((-5.0, math.nan, math.inf, 5.0)):
        made.use("POSIX", f"/out.{rank}", rank, **written(seconds))
    made.use("POSIX", "/long", 0, **written(1000.0))  # one rank, in a run of 10 s
    found = made.found()
    assert found.metrics["io_seconds"] == pytest.approx(5 / 4)
    assert "not counted: 4 times that are below 0, or no numbers" in found.source.notes


def test_counters_that_a_version_did_not_count_are_unknown() -> None:
    use = Made().use("POSIX", "/out", 0, **written(1.0) | {"READS": -1}).log().uses[0]
    assert use.count("READS") is None and use.count("READS", "WRITES") == 1
    assert use.bins("READ") is None


def test_threads_that_overlap_count_as_the_run() -> None:
    made = Made(ranks=2, seconds=10.0)
    for file in ("/a", "/b", "/c"):
        made.use("POSIX", file, 0, **written(8.0))
    found = made.found()
    assert found.metrics["io_greatest_seconds"] == pytest.approx(10)
    assert any("threads overlapped" in note for note in found.source.notes)


def targets(*times: float) -> Made:
    """Five files of each time on a target of their own."""
    made = Made(ranks=64)
    for target, seconds in enumerate(times):
        for number in range(5):
            file = f"/out.{target}.{number}"
            made.use("POSIX", file, 5 * target + number, **written(seconds))
            made.stripes(file, target)
    return made


def test_targets_by_hand() -> None:
    found = targets(2.0, 9.0, 1.0).found()
    assert [(one.index, one.files, one.median) for one in found.targets] == [
        *((1, 5, 9e9), (0, 5, 2e9), (2, 5, 1e9)),
    ]
    metrics = found.metrics
    assert (metrics["sick_target"], metrics["sick_target_ratio"]) == (1, 4.5)
    assert metrics["sick_target_seconds"] == pytest.approx(7)
    assert metrics["other_targets_median_seconds"] == pytest.approx(1.5)
    assert targets(2.0, 9.0).found().metrics["sick_target_ratio"] is None


@pytest.mark.parametrize(
    ("name", "value"), [("ranks", 0), ("ranks", 1 << 40), ("seconds", -1.0), ("seconds", math.nan)]
)
def test_jobs_that_cannot_be(name: str, value: float) -> None:
    made = Made().use("POSIX", "/out", 0, **written(1.0))
    made.answer["job"][name] = value
    with pytest.raises(Impossible):
        made.log()


@pytest.mark.parametrize("rank", [-2, 4, "x", None])
def test_ranks_that_cannot_be(rank: object) -> None:
    made = Made().use("POSIX", "/out", 0, **written(1.0))
    made.answer["modules"]["POSIX"]["rows"][0][1] = rank
    with pytest.raises(Impossible):
        made.log()


@pytest.mark.parametrize("missing", ["job", "names", "damage", "modules"])
def test_answers_in_part_are_refused(missing: str) -> None:
    made = Made().use("POSIX", "/out", 0, **written(1.0))
    del made.answer[missing]
    with pytest.raises(Impossible):
        made.log()


def test_hostile_names_stay_texts() -> None:
    evil = "</style><script>alert(1)</script>\"'&\u202egnp\x00\n{{7*7}}"
    made = Made().use("POSIX", evil, 0, **written(50.0)).stripes(evil, 3)
    made.answer["job"]["command"] = evil
    made.answer["modules"]["POSIX"]["damage"] = evil
    made.answer["modules"][evil] = {"partial": True, "rows": []}
    found = made.found()
    text = page(found, resolve([]), judge(RULES, found.metrics, found.source.absent))
    parsed = Checked(text)
    assert "script" not in parsed.tags and "\u202e" not in text and "\x00" not in text
    assert "alert(1)" in parsed.text and "49" not in parsed.text.split("{{7")[0][-20:]
    assert "Time in I/O, rank 0 at the left" in parsed.text and "None" not in parsed.text


def test_ten_thousand_files_make_a_small_page() -> None:
    made = Made(ranks=4096)
    for number in range(10_000):
        made.use("POSIX", f"/out.{number}", number % 4096, **written(0.5))
    found = made.found()
    text = page(found, resolve([]), judge(RULES, found.metrics, found.source.absent))
    assert len(text) < 200_000 and found.metrics["files"] == 10_000
