"""Public Darshan logs: the report's figures are those of PyDarshan's own tables, and it says what
is wrong with the runs."""

import json
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest
from cli_support import ROOT
from darshan_support import (
    AMPLIFIED,
    FEW_FILES,
    LOGS,
    NOT_AMPLIFIED,
    ONE_SICK_TARGET,
    PREFIX,
    found_in,
    log_of,
    needs_pydarshan,
    truth,
)
from record_support import small_job
from schema_support import check

from headrace.advice.judging import Judgement, judge
from headrace.advice.rules import collect
from headrace.analysis.analyse import analyse
from headrace.analysis.darshan.analyse import analyse as analyse_log
from headrace.record.reader import read
from headrace.report.document import document
from headrace.report.terminal import first_lines
from headrace.symbols.resolver import resolve

pytestmark = needs_pydarshan
RULES = collect(())
SCHEMA = json.loads((ROOT / "docs" / "reference" / "report.schema.json").read_text())


def judged(name: str) -> Judgement:
    found = found_in(name)
    return judge(RULES, found.metrics, found.source.absent)


def said(name: str) -> set[str]:
    return {one.rule.id for one in judged(name).advice}


def data(name: str) -> dict:
    return json.loads(json.dumps(document(found_in(name), resolve([]), judged(name))))


@pytest.mark.parametrize("name", LOGS)
def test_sums_are_those_of_pydarshan(name: str) -> None:
    log, expected = log_of(name), truth(name)
    assert log.elapsed == pytest.approx(expected["seconds"] * 1e9)
    for interface in PREFIX:
        uses = [use for use in log.uses if use.interface == interface]
        table = expected.get(interface)
        assert len(uses) == (0 if table is None else len(table))
        if table is None:
            continue
        for counter in ("BYTES_READ", "BYTES_WRITTEN"):
            assert sum(use.counters[counter] for use in uses) == int(table[counter].sum())
        longest = [expected["seconds"] + 1] * len(table)
        longest = [one * (log.ranks if rank < 0 else 1)
                   for one, rank in zip(longest, table["rank"], strict=True)]  # fmt: skip
        for counter in ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME"):
            true = [
                float(one) for one, most in zip(table[counter], longest, strict=True)
                if 0 <= one <= most
            ]  # fmt: skip
            ours = sum(use.times.get(counter, 0) for use in uses)
            assert ours == pytest.approx(sum(true) * 1e9, abs=len(true))
    assert dict(log.stripes) == expected.get("LUSTRE", {})


@pytest.mark.parametrize("name", LOGS)
def test_every_log_has_a_report(name: str) -> None:
    made = data(name)
    check(made, SCHEMA)
    assert made["run"]["source"] == "Darshan log"
    assert len(first_lines(found_in(name), judged(name))) <= 12


def test_the_sick_target_is_named() -> None:
    posix, stripes = truth(ONE_SICK_TARGET)["POSIX"], truth(ONE_SICK_TARGET)["LUSTRE"]
    by_target: dict[int, list[float]] = {}
    for file, read_time, write in zip(
        posix["name"], posix["F_READ_TIME"], posix["F_WRITE_TIME"], strict=True
    ):
        (target,) = stripes[file]
        by_target.setdefault(target, []).append(read_time + write)
    medians = {target: median(times) for target, times in by_target.items()}
    longest = {target: max(times) for target, times in by_target.items()}
    sick = max(medians, key=medians.get)
    assert (sick, len(medians)) == (14, 24)
    elsewhere = max(time for target, time in longest.items() if target != sick)

    first = judged(ONE_SICK_TARGET).advice[0]
    assert (first.rule.id, first.is_hint) == ("sick-target", False)
    assert first.upper == pytest.approx(longest[sick] - elsewhere)
    assert first.upper == pytest.approx(761.5, abs=0.1)
    assert "target 14, with 85 files" in first.evidence[0]
    assert "its median file takes 509.6" in first.evidence[1]
    for one in data(ONE_SICK_TARGET)["io"]["targets"]:
        assert one["median_file_seconds"] == pytest.approx(medians[one["index"]])
        assert one["longest_file_seconds"] == pytest.approx(longest[one["index"]])
        assert one["files"] == len(by_target[one["index"]])
    lines = first_lines(found_in(ONE_SICK_TARGET), judged(ONE_SICK_TARGET))
    assert any("One storage target is slow: gains at most 761." in line for line in lines)


def test_files_of_single_ranks_are_a_family() -> None:
    posix = truth(ONE_SICK_TARGET)["POSIX"]
    own = posix[posix["name"].str.contains("ior-posix.out.")]
    (family,) = data(ONE_SICK_TARGET)["io"]["families"]
    assert family["name"].endswith("/ior-posix.out.{00000000..00002047}")
    assert family["files"] == len(own) == 2048 and family["ranks"] == own["rank"].nunique()
    assert family["bytes_written"] == {
        "total": own["BYTES_WRITTEN"].sum(),
        "least": own["BYTES_WRITTEN"].min(),
        "greatest": own["BYTES_WRITTEN"].max(),
    }


def test_a_healthy_file_system_is_not_blamed() -> None:
    log = log_of(ONE_SICK_TARGET)
    healthy = [use for use in log.uses if log.stripes.get(use.file) != (14,)]
    found = analyse_log(replace(log, uses=tuple(healthy)))
    assert found.metrics["sick_target_ratio"] < 1.5
    assert "sick-target" not in {one.rule.id for one in judge(RULES, found.metrics).advice}


def test_few_files_do_not_tell_of_targets() -> None:
    (one,) = [one for one in judged(FEW_FILES).unjudged if one.rule.id == "sick-target"]
    assert one.reasons == ("the log has not five files on each of three storage targets",)


def layers() -> tuple[dict[str, float], dict[str, float]]:
    """The HDF5 file of the amplified run: sums by MPI-IO and by POSIX."""
    mpi, posix = truth(AMPLIFIED)["MPI-IO"], truth(AMPLIFIED)["POSIX"]
    (name,) = set(mpi["name"])
    numbers = [column for column in mpi.columns if column in posix.columns and column != "name"]
    below = posix[posix["name"] == name]
    return tuple({one: float(table[one].sum()) for one in numbers} for table in (mpi, below))


def test_files_are_those_of_the_record() -> None:
    """The parts that a Darshan log has of what a record tells, too."""
    posix = truth(ONE_SICK_TARGET)["POSIX"]
    files = [one for one in data(ONE_SICK_TARGET)["io"]["files"] if one["posix"]]
    assert len(files) == posix["name"].nunique()
    for name, column in (
        ("writes", "WRITES"),
        ("seeks", "SEEKS"),
        ("sequential_writes", "SEQ_WRITES"),
        ("consecutive_reads", "CONSEC_READS"),
        ("unaligned", "FILE_NOT_ALIGNED"),
    ):
        assert sum(one["posix"][name] for one in files) == posix[column].sum()
    greatest = posix.groupby("name")["MAX_BYTE_WRITTEN"].max()
    for one in files:
        if one["posix"]["writes"]:
            assert one["posix"]["furthest_written"] == greatest[one["name"]] + 1
        assert one["interface"] == "POSIX" and one["posix"]["mapped_bytes"] is None
    assert data(ONE_SICK_TARGET)["io"]["flow"] is None


def test_amplification_by_reading_and_writing_back() -> None:
    asked, moved = layers()
    assert asked["BYTES_READ"] == 0 < moved["BYTES_READ"]
    metrics = found_in(AMPLIFIED).metrics
    ratio = moved["BYTES_WRITTEN"] / asked["BYTES_WRITTEN"]
    assert ratio > 4
    assert metrics["write_amplification_ratio"] == pytest.approx(ratio)
    assert metrics["unasked_read_bytes"] == moved["BYTES_READ"]
    (file,) = [one for one in data(AMPLIFIED)["io"]["files"] if one["interface"] == "MPI-IO"]
    assert file["bytes_written"] == asked["BYTES_WRITTEN"] and file["bytes_read"] == 0
    assert file["store_bytes_written"] == moved["BYTES_WRITTEN"]
    assert file["store_bytes_read"] == moved["BYTES_READ"]
    assert {"read-modify-write", "write-amplification"} <= said(AMPLIFIED)
    assert not {"read-modify-write", "write-amplification"} & said(NOT_AMPLIFIED)
    assert found_in(NOT_AMPLIFIED).metrics["write_amplification_ratio"] == 1


def test_ranks_that_wait_for_each_other() -> None:
    spent = [sum(one[f"F_{kind}_TIME"] for kind in ("READ", "WRITE", "META")) for one in layers()]
    metrics = found_in(AMPLIFIED).metrics
    assert metrics["io_waiting_share"] == pytest.approx(1 - spent[1] / spent[0])
    assert metrics["io_waiting_share"] > 0.9
    assert metrics["io_waiting_seconds"] == pytest.approx((spent[0] - spent[1]) / 16)
    first = judged(AMPLIFIED).advice[0]
    assert (first.rule.id, first.is_hint) == ("ranks-wait-in-io", False)
    assert first.lower <= first.own <= first.upper <= metrics["run_seconds"]
    assert "ranks-wait-in-io" not in said(NOT_AMPLIFIED)
    assert found_in(NOT_AMPLIFIED).metrics["io_waiting_share"] < 0.01


def test_times_of_the_ranks() -> None:
    posix = truth(ONE_SICK_TARGET)["POSIX"]
    found = found_in(ONE_SICK_TARGET)
    own = posix[["F_READ_TIME", "F_WRITE_TIME", "F_META_TIME"]].sum(axis=1)
    slowest = int(posix["rank"][own.idxmax()])
    times = found.rank_times.times
    assert len(times) == 2048 and max(times) == times[slowest]
    # Beside these each rank has read three files that all share, for 0.2 s at most.
    assert max(times) / 1e9 == pytest.approx(float(own.max()), abs=0.3)
    mpi = truth(NOT_AMPLIFIED)["MPI-IO"].iloc[0]
    shared = found_in(NOT_AMPLIFIED).rank_times.times
    assert shared[int(mpi["SLOWEST_RANK"])] / 1e9 == pytest.approx(mpi["F_SLOWEST_RANK_TIME"])
    assert shared[int(mpi["FASTEST_RANK"])] / 1e9 == pytest.approx(mpi["F_FASTEST_RANK_TIME"])


def test_what_a_log_does_not_know_is_null(tmp_path: Path) -> None:
    made = data(ONE_SICK_TARGET)
    assert made["efficiency"] is None and made["run"]["nodes"] is None
    assert made["time"]["outside_mpi"] is None and made["time"]["in_mpi"] is None
    for name in ("matrix", "paths", "wait_seconds"):
        assert made["mpi"][name] is None
    for name in ("regions", "decisions", "placement", "settings", "variables"):
        assert made[name] is None
    for name in ("folded_calls", "recorder_seconds", "off_seconds"):
        assert made["quality"][name] is None
    assert {one["failed"] for one in made["mpi"]["procedures"]} == {None}
    of_a_record = analyse(read(small_job().write(tmp_path))).metrics
    metrics = made["metrics"]
    assert metrics.keys() == of_a_record.keys()
    for name in ("in_mpi_share", "load_balance_share", "barrier_calls", "off_cpu_share", "nodes"):
        assert metrics[name] is None


def test_rules_that_need_more_say_so() -> None:
    reasons = {one["id"]: one["reasons"] for one in data(ONE_SICK_TARGET)["not_judged"]}
    assert reasons["barriers"] == ["a Darshan log does not have MPI communication"]
    assert reasons["load-imbalance"] == ["a Darshan log does not have how long ranks computed"]
    assert reasons["write-amplification"][0].startswith("the log has no file that was opened by")
    assert all(reasons.values())
    for texts in reasons.values():
        assert not any("was not measured" in text or "the record" in text for text in texts)
