"""tests/tiers.toml: how much of each test runs when, and that no promise is left to chance."""

from __future__ import annotations

import itertools
import re

import pytest
import source_tree

from devtool import costs, costs_page, tiers
from devtool.groups import GROUPS

HOSTS, RANKS = ("a", "b", "c"), ("1", "2")
ROWS = [{"host": host, "ranks": ranks} for host in HOSTS for ranks in RANKS]


def rules(monkeypatch: pytest.MonkeyPatch, quick: str, default: str) -> None:
    rule = {"quick": quick, "default": default}
    alike = {"kind": [["a", "b"]], "layer": [["a", "b", "c"]]}
    monkeypatch.setattr(tiers, "data", lambda: {"pytest": {"tests/some": rule}, "alike": alike})


@pytest.mark.parametrize(
    ("default", "count"),
    [("none", 1), ("one", 1), ("layer", 2), ("kind", 2), ("each", 3), ("all", 6)],
)
def test_rows_of_a_tier(default: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rules(monkeypatch, "one", default)
    chosen = tiers.of_rows("tests/some/test_one.py::test_one", ROWS)
    assert chosen.count("quick") == 1
    assert len(ROWS) - chosen.count("full") == count


def test_each_value_is_in_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    rules(monkeypatch, "none", "each")
    for name in "abcdefgh":
        chosen = tiers.of_rows(f"tests/some/{name}", ROWS)
        rows = [row for row, tier in zip(ROWS, chosen, strict=True) if tier == "default"]
        assert {row["host"] for row in rows} == set(HOSTS)
        assert {row["ranks"] for row in rows} == set(RANKS)


def test_of_values_that_are_alike_another_is_in_a_row_of_each_test(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rules(monkeypatch, "none", "kind")
    seen = set()
    for name in "abcdefgh":
        chosen = tiers.of_rows(f"tests/some/{name}", ROWS)
        hosts = {row["host"] for row, tier in zip(ROWS, chosen, strict=True) if tier == "default"}
        assert "c" in hosts and len(hosts) == 2
        seen |= hosts
    assert seen == set(HOSTS)


def test_other_values_than_mpis_are_in_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    rules(monkeypatch, "none", "layer")
    chosen = tiers.of_rows("tests/some/test_one.py::test_one", ROWS)
    rows = [row for row, tier in zip(ROWS, chosen, strict=True) if tier == "default"]
    assert {row["ranks"] for row in rows} == set(RANKS) and len(rows) == len(RANKS)


def test_other_tests_run_always(monkeypatch: pytest.MonkeyPatch) -> None:
    rules(monkeypatch, "none", "none")
    assert tiers.of_rows("tests/other/test_one.py::test_one", ROWS) == ["quick"] * len(ROWS)


def test_rules_name_what_exists() -> None:
    assert set(tiers.data()["rest"]["order"]) == {group.name for group in GROUPS}
    named = [tiers.data()["pytest"], tiers.data()["sources"], tiers.data()["rest"]["first"]]
    for name in itertools.chain(*named):
        path, _, function = name.partition("::")
        found = list(source_tree.ROOT.glob(f"{path}*"))
        assert found, name
        assert not function or f"\ndef {function}" in source_tree.text(found[0]), name


def test_each_promise_is_tested_by_every_run() -> None:
    """Of ./dev test, and so of CI; docs/test-costs.md says by how many rows."""
    holders = costs_page.promise_holders()
    assert len(holders) > 10
    assert [name for name in holders if tiers.of_holder(name) not in tiers.TIERS[:2]] == []
    for path, _, function in (name.partition("::") for name in holders):
        deep = rf"^@pytest\.mark\.deep\n(?:@.*\n)*def {function}\("
        assert not function or not re.search(
            deep, source_tree.text(source_tree.ROOT / path), re.MULTILINE
        )


def test_what_is_not_known_to_end_in_time_is_left_out() -> None:
    tests = {"tests/a.py::test": {"full": {"seconds": 50.0}}}
    tests |= {"tests/b.py::test": {"full": {"seconds": 20.0}}}
    rest = {"cases": 3, "seconds": 35, "cases_seconds": 70}
    known = costs.Known({"groups": {"mpi": {"rest": rest}}, "tests": tests})
    parts = ["tests/a.py", "tests/b.py", "tests/new.py"]
    assert known.fitting("mpi", parts, 20) == ["tests/b.py"]
    assert known.fitting("mpi", parts, 66) == parts
    assert known.fitting("mpi", parts, -1) == []


def test_the_most_valuable_of_the_rest_goes_first() -> None:
    first = tiers.data()["rest"]["first"]
    found = [(group.name, parts) for group, parts in costs.rest_in_order(GROUPS)]
    assert found[0] == ("mpi", first)
    names = [name for name, _ in found[1:]]
    assert names == [name for name in tiers.data()["rest"]["order"] if name in names]
    parts = [part for _, parts in found for part in parts]
    assert len(parts) == len(set(parts)) and "tests/mpi/test_fuzz.py" in parts


def test_the_readme_gives_the_promised_times() -> None:
    text = source_tree.text(source_tree.ROOT / "README.md")
    assert f"in about {tiers.minutes('default')} minutes on 2 cores" in text
    assert f"--quick: {tiers.minutes('quick')}" in text


def test_ci_runs_the_readmes_command() -> None:
    """With as much of the rest as fits."""
    text = source_tree.text(source_tree.ROOT / ".ci" / "run")
    found = re.search(r"^exec \./dev test --minutes (\d+)$", text, re.MULTILINE)
    assert found and int(found[1]) == tiers.minutes("ci") <= 60
