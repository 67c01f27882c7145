"""`headrace bench grid`: its settings, the search, judgement, tables and figure."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from grid_support import (
    CORES,
    DIRECT,
    READ_DIRECT,
    SMALL,
    STAGED,
    TILE,
    keys_of,
    measured,
    results,
    search_of,
)

from headrace.bench.grid import figure, output, racing
from headrace.bench.grid.cases import BY_NAME, CASES, INDEPENDENT
from headrace.bench.grid.judgement import Cell, aims, judge, losing_first
from headrace.bench.grid.settings import acting, is_opt_in, plan, variables, with_settings
from headrace.bench.jobs import HEADRACE, Job, read_measurement, tile_job
from headrace.bench.peers import results as storage
from headrace.bench.peers.grid import Point
from headrace.bench.peers.judgement import problems
from headrace.errors import HeadraceError


def test_every_case_has_its_job_and_settings_without_repeats() -> None:
    for case in CASES:
        for kind in ("ext4", "fuse.glusterfs"):
            settings = plan(case, 2, kind, CORES)
            assert len(settings) == len(set(settings)) >= 3
            job: Job = with_settings(case.make(2, 32_000_000), settings)
            keys = [way.key for way in job.ways]
            assert len(set(keys)) == len(keys) and keys[-1] == HEADRACE
            assert all(way.preload for way in job.ways) and not job.ways[-1].variables
            assert all(dict(way.variables) for way in job.ways[:-1])
            assert {way.flags for way in job.ways} == {job.ways[0].flags}
            assert 0 < job.largest_file <= 6 * 32_000_000


def test_each_access_meets_the_product_of_what_acts_in_it() -> None:
    words = plan(BY_NAME["ior-1000000"], 2, "ext4", CORES)
    of = [dict(word.split("=", 1) for word in one) for one in words]
    direct = [
        (one.get("romio_ds_read"), one["realign_reads"]) for one in of if "realign_reads" in one
    ]
    assert set(direct) == {(sieve, on) for sieve in (None, "disable") for on in ("always", "never")}
    assert {one["write_turns"] for one in of if "write_turns" in one} == {"always", "never"}
    staged = [(one["buffer_size"], one["buffer_count"]) for one in of if "buffer_size" in one]
    assert len(staged) == len(set(staged)) == 12
    few = plan(BY_NAME["tile-1000"], 2, "ext4", CORES)
    assert not any("realign" in word or "turns" in word for one in few for word in one)
    assert any("write_path=direct" in one for one in few)


def test_ranks_beyond_the_cores_get_more_buffers_and_nodes_get_aggregators() -> None:
    crowded = {word for one in plan(BY_NAME["lattice"], 4, "ext4", CORES) for word in one}
    assert "buffer_count=32" in crowded and "buffer_count=2" not in crowded
    shared = {word for one in plan(BY_NAME["lattice"], 8, "fuse.ceph-fuse", CORES) for word in one}
    assert {
        "cb_nodes=1",
        "cb_nodes=4",
        "cb_nodes=8",
        "cb_align=0",
        "write_path=exchanged",
    } <= shared
    assert not any("cb_nodes" in word for word in crowded)


def test_independent_calls_have_settings_of_their_own() -> None:
    for case in CASES:
        if case.group == INDEPENDENT:
            labels = [" ".join(words) for words in plan(case, 2, "ext4", CORES)]
            assert {is_opt_in(label) for label in labels} == {True, False}
            assert not any("path" in label for label in labels)


def test_settings_become_variables() -> None:
    words = ("read_path=direct", "romio_ds_read=disable", "cb_nodes=2")
    assert dict(variables(words)) == {
        "HEADRACE_READ_PATH": "direct",
        "HEADRACE_HINTS": "*:romio_ds_read=disable:cb_nodes=2",
    }
    assert variables(("iobuf=*:size=1m:count=4",)) == (("HEADRACE_IOBUF", "*:size=1m:count=4"),)
    label = "write_path=direct read_path=direct ind_rd_buffer_size=1m"
    assert acting(label, "write") == "write_path=direct" and acting(label, "read") == label


def test_the_fastest_of_repetitions_counts(tmp_path: Path) -> None:
    row = {"access": "write", "bytes": 3 << 20, "hintsBeforeClose": {}}
    rows = [{**row, "totalTime": seconds} for seconds in (3.0, 1.0, 2.0)]
    (tmp_path / "out").write_text(json.dumps({"results": rows}))
    job = replace(tile_job(2), accesses=("write",))
    assert read_measurement(job.steady(3), tmp_path / "out").bandwidth == {"write": 3.0}
    assert read_measurement(job, tmp_path / "out").bandwidth == {"write": 1.5}
    assert job.steady(3).flags[-2:] == ("-i", "3")


def test_what_is_far_behind_drops_out_of_the_search() -> None:
    search = search_of("tile-1000", {DIRECT: [300], STAGED: [210]}, [10])
    slow = racing.too_slow(search)
    keys = keys_of("tile-1000")
    assert keys[DIRECT] not in slow and keys[STAGED] not in slow and HEADRACE not in slow
    assert len(slow) == len(keys) - 2 and "1.5 times slower" in min(slow.values())
    search.dropped.update(slow)
    search.rounds.append(search.rounds[0])
    assert list(racing.too_slow(search)) == [keys[STAGED]]
    search.rounds.append(search.rounds[0])
    assert not racing.too_slow(search)


def test_who_is_near_in_one_access_stays() -> None:
    search = search_of("tile-1000", {}, [100])
    key = keys_of("tile-1000")[STAGED]
    search.rounds[0].rates[key] = {"write": 1.0, "read": 100.0}
    assert not racing.too_slow(search)
    search.rounds[0].rates[key] = {"write": 1.0, "read": 1.0}
    assert list(racing.too_slow(search)) == [key]


def test_what_acts_on_reads_only_wins_no_writes() -> None:
    search = search_of("tile-1000", {READ_DIRECT: [900.0] * 3, STAGED: [200.0] * 3}, [100] * 3)
    found = {access: key for (access, _), key in racing.winners(search).items()}
    keys = keys_of("tile-1000")
    assert found == {"write": keys[STAGED], "read": keys[READ_DIRECT]}


def test_buffers_do_not_drive_others_out() -> None:
    opt_in = next(label for label in keys_of("independent") if is_opt_in(label))
    search = search_of("independent", {opt_in: [1000]}, [100])
    slow = racing.too_slow(search)
    assert slow and all(is_opt_in(search.labels[key]) for key in slow)
    found = racing.winners(search)
    assert found["write", True] == keys_of("independent")[opt_in]
    assert not is_opt_in(search.labels[found["write", False]])


def test_the_winner_has_the_highest_median_and_not_one_lucky_round() -> None:
    rates = {DIRECT: [900.0, 100, 100], STAGED: [200.0, 210, 220]}
    search = search_of("tile-1000", rates, [100] * 3)
    assert set(racing.winners(search).values()) == {keys_of("tile-1000")[STAGED]}
    search.failed[keys_of("tile-1000")[STAGED]] = "it crashed"
    assert keys_of("tile-1000")[STAGED] not in racing.winners(search).values()


def test_only_pairs_after_the_search_make_the_ratio() -> None:
    """The search shows the default at a half of the best; fresh pairs show that it was luck."""
    search = search_of("tile-1000", {STAGED: [200, 200, 200]}, [100] * 3)
    pairs = {HEADRACE: [100.0, 98, 102] * 3, STAGED: [100.0, 100, 100] * 3}
    write, read = judge(results(measured(TILE, pairs, search)))
    assert (write.best.searched, write.best.ratio.median) == (0.5, 1.0)
    assert write.best.fastest == 1.02
    assert not write.is_lost and write.taken == "staged"
    assert write.best.label == "write_path=staged buffer_size=1m buffer_count=4"
    assert read.best.label == STAGED


def cells() -> list[Cell]:
    """Three points: one fine, one that may be lost by noise, one that is surely lost."""
    lucky = measured(
        TILE,
        {HEADRACE: [100.0] * 9, STAGED: [100.0] * 9},
        search_of("tile-1000", {STAGED: [200] * 3}, [100] * 3),
    )
    unsure = measured(
        Point("lattice", 2, "mpich", "/memory"),
        {HEADRACE: [70.0, 80, 88, 89, 85, 95, 99, 100, 101], STAGED: [100.0] * 9},
        search_of("lattice", {STAGED: [200] * 3}, [100] * 3),
    )
    style = "access_style=sequential"
    opt_in = next(label for label in keys_of("independent") if is_opt_in(label))
    lost = measured(
        SMALL,
        {HEADRACE: [75.0] * 9, style: [100.0] * 9, opt_in: [300.0] * 9},
        search_of("independent", {style: [110] * 3, opt_in: [200] * 3}, [100] * 3),
    )
    return judge(results(lucky, unsure, lost))


def test_losing_cells_come_first_and_the_aims_are_judged() -> None:
    found = losing_first(cells())
    assert [one.point.case for one in found[:4]] == ["independent"] * 2 + ["lattice"] * 2
    assert found[0].is_surely_lost and found[2].is_lost and not found[2].is_surely_lost
    reached = aims(found)
    assert (reached.count, reached.lost, reached.surely, reached.surely_near) == (6, 4, 2, 2)
    assert reached.lowest.best.ratio.median == 0.75 and not reached.are_met
    good = [one for one in found if one.point == TILE]
    assert aims(good).are_met and aims(good).part == 1
    text = " ".join(output.summary(found))
    assert (
        "in 2 of 6 cells (33.3%; wanted: 95%). By the intervals it surely is in 2, and surely is "
        "not in 2." in text
    )
    assert "The lowest cell reaches 0.75" in text and "NOT met" in text
    rows = output.cell_table(found).rows
    assert rows[0][-1].endswith("surely LOST") and rows[2][-1].endswith("] LOST")
    buffers = output.opt_in_table(found)
    assert [row[-1] for row in buffers.rows] == ["0.25 [0.25, 0.25]"] * 2
    assert "took staged (it seemed cheaper)" in output.reasons(found)[0]


def test_a_setting_that_asks_for_the_same_shows_the_noise() -> None:
    direct = next(label for label in keys_of("lattice") if label.startswith("write_path=direct"))
    found = measured(
        Point("lattice", 2, "mpich", "/memory"),
        {HEADRACE: [80.0] * 9, direct: [100.0] * 9},
        search_of("lattice", {direct: [200] * 3}, [100] * 3),
    )
    found.attempts[0].paths = {"write": ["direct", "x"], "read": ["direct", "x"]}
    write, read = judge(results(found))
    assert write.is_same and not read.is_same, direct
    assert output.summary([write, read])[-1].startswith("In 1 cells the best setting only asks")
    found.attempts[0].paths["write"][0] = "staged"
    assert not any(one.is_same for one in judge(results(found)))


def test_a_winner_that_failed_in_its_pairs_makes_no_cell_but_a_problem() -> None:
    search = search_of("tile-1000", {STAGED: [200] * 3}, [100] * 3)
    found = measured(TILE, {HEADRACE: [100.0] * 3, STAGED: [100.0] * 3}, search)
    found.attempts[0].failed[keys_of("tile-1000")[STAGED]] = "it crashed"
    assert not judge(results(found))
    [problem] = problems(results(found), output.ways(results(found)))
    assert "it crashed" in problem.text


def test_wrong_data_of_any_setting_is_a_problem() -> None:
    search = search_of("tile-1000", {}, [100] * 3)
    key = keys_of("tile-1000")[DIRECT]
    search.damaged[key] = 7
    search.dropped[keys_of("tile-1000")[STAGED]] = "more than 1.5 times slower"
    found = results(measured(TILE, {HEADRACE: [100.0] * 3, STAGED: [100.0] * 3}, search))
    [problem] = problems(found, output.ways(found))
    assert f"7 bytes were wrong with {DIRECT}" in problem.text


def test_the_section_and_the_figure(tmp_path: Path) -> None:
    search = search_of("tile-1000", {STAGED: [200] * 3}, [100] * 3)
    found = results(measured(TILE, {HEADRACE: [100.0] * 9, STAGED: [100.0] * 9}, search))
    text = output.section(found, "grid.svg")
    assert "](grid.svg)" in text and "9 pairs" in text and "The aims are met." in text
    pytest.importorskip("matplotlib")
    files = figure.draw(cells(), tmp_path / "picture")
    assert [file.name for file in files] == ["picture.svg", "picture.png"]
    assert "independent" in files[0].read_text()
    with pytest.raises(HeadraceError, match="no cell was measured"):
        figure.draw([], tmp_path / "picture")


def test_results_are_kept_with_their_search(tmp_path: Path) -> None:
    search = search_of("tile-1000", {STAGED: [200] * 3}, [100] * 3)
    found = results(measured(TILE, {HEADRACE: [100.0] * 9, STAGED: [100.0] * 9}, search))
    storage.save(found, tmp_path / "out")
    assert storage.load(tmp_path / "out", found.form) == found
    document = json.loads((tmp_path / "out").read_text())
    del document["points"][0]["search"]["rounds"][1]["rates"][keys_of("tile-1000")[STAGED]]
    (tmp_path / "out").write_text(json.dumps(document))
    with pytest.raises(HeadraceError, match="a way is missing in a round"):
        storage.load(tmp_path / "out", found.form)
