"""From figures to the costs of the model, and to a profile."""

import json
import random
import tomllib
from pathlib import Path

import pytest
from tune_support import SLOW, figure, figures, measured

from headrace.errors import HeadraceError
from headrace.tune import fit, gains, least_squares, profile
from headrace.tune.checking import check
from headrace.tune.figures import from_program, read_figures, to_text
from headrace.tune.generated.costs import COSTS
from headrace.tune.patterns import PATTERNS


def test_exact_values_are_found() -> None:
    draws = random.Random(38)
    for _ in range(200):
        truth = [draws.choice((0.0, draws.uniform(1, 1e6))), draws.uniform(1e-3, 10)]
        rows = [[1.0, float(size)] for size in (512, 4096, 65536, 1 << 20)]
        values = [sum(a * b for a, b in zip(row, truth, strict=True)) for row in rows]
        assert least_squares.fit(rows, values) == pytest.approx(truth, rel=1e-6, abs=1e-6)


def test_no_value_is_negative() -> None:
    """A larger request that takes less time: the best of no less than nothing a byte."""
    found = least_squares.fit([[1, 10], [1, 1000]], [100, 50])
    assert found[1] == 0 and 50 <= found[0] <= 100
    assert least_squares.fit([[0.0, 0.0], [0.0, 0.0]], [1, 2]) == [0, 0]


def test_relative_errors_count() -> None:
    """A small request's time counts as much as a large one's, which is 1,000 times as long."""
    rows = [[1.0, 512.0], [1.0, 4096.0], [1.0, 4 << 20]]
    first, _ = least_squares.fit(rows, [1000 + 512, 1000 + 4096, 1.2 * (1000 + (4 << 20))])
    assert 600 < first < 1400


def test_costs_of_a_known_machine_are_found() -> None:
    found = {row.cost.key: row for row in fit.rows(measured())}
    assert set(found) == {cost.key for cost in COSTS}
    for key, value in SLOW.items():
        assert found[key].value == pytest.approx(value, rel=0.02), key
        assert found[key].fitted is not None
    kept = [key for key, row in found.items() if row.fitted is None]
    assert "write.copy_piece" in kept and "common.message_byte" in kept and "common.waiting" in kept
    assert all(found[key].value == found[key].cost.value for key in kept)


@pytest.mark.parametrize(
    ("ranks", "gain", "expected"),
    [(2, 1.0, 1.0), (2, 0.7, 1.0), (2, 1.3, 1.3), (2, 1.9, 2.0), (8, 3.0, 3.0), (8, 7, 8.0)],
)
def test_ranks_that_hinder_each_other_are_seen(ranks: int, gain: float, expected: float) -> None:
    """Two ranks that do not hinder each other say nothing on a third."""
    rows = fit.rows(measured(figures(ranks=ranks, gain=gain), ranks=ranks))
    found = {row.cost.key: row for row in rows}
    for direction in ("write", "read"):
        assert found[f"{direction}.concurrency"].value == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("crossing", "least", "most"),
    [
        (0, 4 << 20, 16 << 20),
        (65_536, 10_000, 65_536),
        (1000, 1000, 1000),
        (262_144, 65_536, 262_144),
    ],
)
def test_large_pieces_begin_where_the_paths_cross(crossing: int, least: int, most: int) -> None:
    found = {row.cost.key: row for row in fit.rows(measured(figures(crossing=crossing)))}
    for direction in ("write", "read"):
        assert least <= found[f"common.large_piece_to_{direction}"].value <= most


def test_messages_are_only_shown() -> None:
    """No gain of a choice by them is measured."""
    messages = [figure("message", 2000, 8, 2), figure("message", float(1 << 20), 1 << 20, 2)]
    found = {row.cost.key: row for row in fit.rows(measured(figures() + messages, nodes=2))}
    assert found["common.message_byte"].fitted is None


@pytest.mark.parametrize(
    ("what", "times", "key", "why"),
    [
        (
            "read",
            {512: 30e3, 4096: 9e3, 65_536: 15e3, 1 << 20: 14e3, 4 << 20: 16e3},
            "read.call",
            "times off",
        ),
        (
            "append",
            {512: 2e3, 4096: 3e3, 16384: 5e3, 65536: 2e4, 1 << 20: 5e6, 4 << 20: 80e6},
            "write.call_byte",
            "times off",
        ),
    ],
)
def test_what_the_model_does_not_fit_stays_built_in(
    what: str, times: dict[int, float], key: str, why: str
) -> None:
    others = [one for one in figures() if one.what != what]
    rows = fit.rows(measured(others + [figure(what, time, size) for size, time in times.items()]))
    found = {row.cost.key: row for row in rows}
    assert found[key].fitted is None and found[key].value == found[key].cost.value
    assert why in found[key].why
    text = profile.to_toml(measured(), rows, "a.json", gains.ranges([]))
    assert found[key].why in text


def test_reads_of_memory_say_nothing_on_a_file_system() -> None:
    rows = fit.rows(measured(reads_memory=True))
    kept = {row.cost.key for row in rows if row.fitted is None and row.why}
    assert {"read.call", "read.window_byte", "common.joined_byte", "read.concurrency"} <= kept
    assert "common.large_piece_to_read" in kept
    assert not any(key.startswith("write.") for key in kept)


def test_without_figures_all_stays_built_in() -> None:
    assert all(row.fitted is None for row in fit.rows(measured([])))


def test_the_profile_says_where_each_cost_is_from() -> None:
    of = measured(mount='/da"ta')
    counts = gains.ranges([PATTERNS[0], PATTERNS[1]])
    text = profile.to_toml(of, fit.rows(of), "a.json", counts, ["a note"])
    read = tomllib.loads(text)
    assert read["profile"]["format"] == 2 and read["profile"]["date"] == "2026-11-28"
    assert read["machine"]["processor"] == "A CPU" and read["machine"]["mpi"] == "An MPI"
    assert (read["machine"]["node_ranks"], read["machine"]["nodes"]) == (2, 1)
    assert read["choices"] == {"write": "1000 to 25600", "read": "none"} and "# a note" in text
    assert read["file_system"] == {"kind": "ext4", "mount": '/da"ta'}
    tables = {f"{table}.{name}" for table in profile.TABLES for name in read[table]}
    assert tables == {cost.key for cost in COSTS}
    assert read["write"]["call"].endswith(" measured")
    assert read["write"]["copy_piece"] == "4 built in"
    assert "processor" not in tomllib.loads(profile.for_any_processor(text))["machine"]


def test_figures_come_back(tmp_path: Path) -> None:
    of = measured()
    (tmp_path / "f.json").write_text(to_text(of))
    assert read_figures(tmp_path / "f.json") == of


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"format": "headrace tune 2"}', '{"format": "headrace tune 1"}', "[" * 9999],
)
def test_other_files_are_no_figures(tmp_path: Path, text: str) -> None:
    (tmp_path / "f.json").write_text(text)
    with pytest.raises(HeadraceError, match="cannot be read"):
        read_figures(tmp_path / "f.json")


@pytest.mark.parametrize("seconds", [[], [0.0], [-1.0], [float("nan")], ["1"], [float("inf")]])
def test_times_are_positive(seconds: list) -> None:
    fields = {"what": "read", "ranks": 1, "bytes": 1, "count": 1, "gap": 0, "path": ""}
    document = {**vars(measured([])), "program": "tune", "MPI": "An MPI"}
    del document["mpi"]
    good = json.dumps({**document, "figures": [{**fields, "seconds": [1e-6]}]})
    assert from_program(good).all_of("read")[0].nanoseconds == pytest.approx(1000)
    with pytest.raises(HeadraceError, match="the figures cannot be read"):
        from_program(json.dumps({**document, "figures": [{**fields, "seconds": seconds}]}))


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"program": 1}', "[" * 99_999])
def test_what_is_no_output_of_the_program_is_told(text: str) -> None:
    with pytest.raises(HeadraceError, match="the figures cannot be read"):
        from_program(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "[profile]\nformat = 1\n",
        "[profile]\nformat = 2\n[machine]\n[file_system]\n",
        "[profile]\nformat = 2\n[machine]\n[file_system]\nkind = 'a'\n",
        "[profile]\nformat = 2\n[machine]\nnode_ranks = 2\n[file_system]\nkind = 'a'\n"
        "[write]\ncall = 'x'\n",
        "profile = 3\n",
    ],
)
def test_other_files_are_no_profiles(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(HeadraceError, match="measure anew"):
        profile.read_profile(tmp_path / "p.toml")


def test_a_profile_that_still_fits(tmp_path: Path) -> None:
    of = measured()
    rows = fit.rows(of)
    (tmp_path / "p.toml").write_text(profile.to_toml(of, rows, "p.json", gains.EVERYWHERE))
    there = profile.read_profile(tmp_path / "p.toml")
    same = {pattern: "staged" for pattern in PATTERNS}
    verdict = check(there, of, rows, same, same)
    assert verdict.fits and not verdict.changed
    faster = measured(figures({**SLOW, "write.call": 9000.0, "read.copy_byte": 0.0901}))
    verdict = check(there, faster, fit.rows(faster), same, same)
    assert verdict.fits, "no choice would be another one"
    assert [line.split()[0] for line in verdict.changed] == ["write.call"]
    # Direct calls are measured to take twice as long.
    other = {**same, PATTERNS[0]: "direct"}
    verdict = check(there, faster, fit.rows(faster), other, same)
    assert not verdict.fits and PATTERNS[0].title in verdict.chosen[0]
    # Another choice that is not surely faster is no reason to measure anew.
    assert check(there, faster, fit.rows(faster), same, other).fits


def test_a_profile_of_something_else(tmp_path: Path) -> None:
    of = measured()
    (tmp_path / "p.toml").write_text(profile.to_toml(of, fit.rows(of), "p.json", gains.EVERYWHERE))
    there = profile.read_profile(tmp_path / "p.toml")
    here = measured(processor="Another", file_system="nfs", mount="/home")
    lines = profile.misfits(there, here)
    more = measured(ranks=4)
    assert profile.misfits(there, more) == ["it is of 2 ranks of a node, here there are 4"]
    assert profile.misfits(there, measured(ranks=2)) == []
    assert len(lines) == 3 and "its processor is A CPU, here it is Another" in lines
    assert not check(there, here, [], {}, {}).fits


def test_a_profile_is_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    profile.write(path, "one")
    assert path.read_text() == "one" and path.stat().st_mode & 0o777 == 0o644
    with pytest.raises(UnicodeEncodeError):
        profile.write(path, "\ud800")
    assert path.read_text() == "one"
    assert list(tmp_path.iterdir()) == [path]
