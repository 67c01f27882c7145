"""tests/tiers.toml: how much of each test runs when, and that no promise is left to chance."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
import source_tree

from devtool import costs, costs_page, estimates, testing, tiers
from devtool.groups import BUILDS, GROUPS

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
    known = estimates.Known({"groups": {"mpi": {"rest": rest}}, "tests": tests})
    parts = ["tests/a.py", "tests/b.py", "tests/new.py"]
    assert known.fitting("mpi", parts, 20) == ["tests/b.py"]
    assert known.fitting("mpi", parts, 66) == parts
    assert known.fitting("mpi", parts, -1) == []


def test_what_was_never_measured_costs_by_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimates, "_ctest_programs", lambda group: 3 if group == "sim" else 0)
    default = {"cases": 10, "seconds": 20, "cases_seconds": 40}
    tests = {
        "tests/a.py::test": {"default": {"rows": 1}, "full": {"rows": 100}},
        "tests/b.py::test": {"full": {"rows": 3000}},
        "tests/c.py::test": {"full": {"rows": 2, "seconds": 3.0}},
        BUILDS[0] + "::test": {"full": {"rows": 1}},
    }
    known = estimates.Known({"groups": {"mpi": {"default": default}}, "tests": tests})
    costs_of = {
        part: known.seconds_of_part(group, part)
        for group, part in [
            *(("mpi", f"tests/{name}.py") for name in "abc"),
            *(("wheel", BUILDS[0]), ("sim", "sim"), ("unit", "unit")),
        ]
    }
    assert costs_of == {
        "tests/a.py": 0.5 * 2 * 4 * 100,
        "tests/b.py": 0.5 * 10 * 3000,
        "tests/c.py": 0.5 * 3,
        BUILDS[0]: 600,
        "sim": 900,
        "unit": 0,
    }


def test_costs_name_all_tests() -> None:
    wrong = costs.problems_of_rows(costs.known()["tests"], costs.pytest_functions())
    assert not wrong, "\n".join(["run ./dev test --count-rows, and commit what it writes:", *wrong])


def test_a_test_that_costs_lack_or_keep_is_named() -> None:
    named = {"tests/a.py::test_old": {}, "tests/a.py::test_one": {}, "unit.of_ctest": {}}
    found = costs.problems_of_rows(named, {"tests/a.py::test_one", "tests/a.py::test_new"})
    assert found == ["tests/a.py::test_new is missing", "tests/a.py::test_old is gone"]


def test_the_page_of_costs_shows_what_was_measured() -> None:
    page = source_tree.text(costs_page.PAGE)
    assert page == costs_page.text(costs.known()), "run ./dev test --count-rows"


@pytest.fixture
def no_costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Costs of which nothing is known, in a file of this test's own."""
    monkeypatch.setattr(costs, "DATA", tmp_path / "costs.json")
    monkeypatch.setattr(costs, "_rows_of", lambda group: [])
    monkeypatch.setattr(costs_page, "PAGE", tmp_path / "page.md")
    return tmp_path / "page.md"


def test_columns_of_one_group_are_written(no_costs: Path) -> None:
    case = costs.Case("sim.one", "quick", 2.0, True)
    costs.write({("sim", "default"): ([case], 3.0, 0), ("mpi", "default"): ([], 5.0, 0)}, 60, 0)
    costs.write({("sim", "rest"): ([case, case], 7.0, 1)}, 1, 0.5, is_whole=False)
    data = costs.known()
    assert set(data["runs"]) == {"default"} and data["runs"]["default"]["prepared"] == 60
    assert data["groups"]["mpi"]["default"]["seconds"] == 5
    assert data["groups"]["sim"]["default"]["cases"] == 1
    assert data["groups"]["sim"]["rest"]["cases"] == 2
    alone = [line for line in no_costs.read_text().splitlines() if "sim alone" in line]
    assert len(alone) == 1 and alone[0].startswith("- the rest of --full, sim alone: ")
    assert alone[0].endswith("tests that failed: 1.")


@pytest.mark.parametrize(
    ("plan", "is_whole", "line"),
    [
        (testing.Plan(), True, "total 19:42 of 20:00 promised, of which installs and builds 7:30"),
        (testing.Plan(), False, "total 19:42, of which installs and builds 7:30"),
        (
            testing.Plan("quick"),
            True,
            "total 12:12 of 4:00 promised, after installs and builds 7:30",
        ),
        (testing.Plan("full"), True, "total 19:42, of which installs and builds 7:30"),
        (
            testing.Plan(minutes=60),
            True,
            "total 19:42 of 60:00 promised, of which installs and builds 7:30",
        ),
    ],
)
def test_a_run_says_what_it_took(plan: testing.Plan, is_whole: bool, line: str) -> None:
    assert testing.total_line(plan, is_whole, 1182, 450) == line


def test_the_most_valuable_of_the_rest_goes_first() -> None:
    first = tiers.data()["rest"]["first"]
    found = [(group.name, parts) for group, parts in estimates.rest_in_order(GROUPS)]
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
