"""Fixtures, the library under test, and the pass table that is printed at the end."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from hosts import LANGUAGES, all_hosts, headrace_library, host_named

IN_CI = os.environ.get("CI") == "true"
RANKS = (1, 2, 3, 4, 7)
CELLS = pytest.StashKey[dict]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "deep: the long form of a test; run with --deep")
    config.stash[CELLS] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--deep", action="store_true", help="also the tests marked deep")


def leave_out_rows(items: list[pytest.Item]) -> None:
    """Leaves to a quick run the first row of each test under each MPI, and what the exerciser does
    with two ranks."""
    shown = set()
    for item in items:
        if item.path.parent != Path(__file__).parent:
            continue
        function = item.nodeid.partition("[")[0]
        values = item.callspec.params if hasattr(item, "callspec") else {}
        case = (function, str(values.get("host")))
        is_pair = function.endswith("::test_exercise") and values.get("ranks") == 2
        if case in shown and not is_pair:
            item.add_marker(pytest.mark.slow)
        shown.add(case)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    leave_out_rows(items)
    if config.getoption("--deep"):
        return
    skip = pytest.mark.skip(reason="deep: run with --deep")
    for item in items:
        if "deep" in item.keywords:
            item.add_marker(skip)


def absent(reason: str) -> None:
    """What a test needs is not there: a failure in CI, else a reason to skip."""
    if IN_CI:
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def library() -> Path:
    path = headrace_library()
    if path is None or not path.exists():
        absent(f"libheadrace.so is not built ({path or 'nothing under build/'})")
    return path


@pytest.fixture(params=[host.name for host in all_hosts()])
def host(request: pytest.FixtureRequest):
    found = host_named(request.param)
    if found.missing:
        absent(found.missing)
    return found


@pytest.fixture
def needs_root() -> None:
    if os.geteuid() != 0:
        absent("needs root")


@pytest.fixture
def cell(request: pytest.FixtureRequest):
    """`cell(host, language, ranks)` says which cells of the pass table the test speaks for."""

    def claim(host_name: str, language: str, ranks: int) -> None:
        request.node.user_properties.append(("cell", (host_name, language, ranks)))

    return claim


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    report = (yield).get_result()
    cells = item.config.stash[CELLS]
    for name, key in report.user_properties:
        if name != "cell" or report.when == "setup":
            continue
        if report.failed:
            cells[key] = "FAIL"
        elif report.when == "call" and cells.get(key) != "FAIL":
            cells[key] = "skip" if report.skipped else "pass"


def expected_cells() -> list[tuple[str, str, int]]:
    return [
        (host.name, language, ranks)
        for host in all_hosts()
        for language in host.languages()
        for ranks in RANKS
    ]


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    cells = config.stash[CELLS]
    if not cells:
        return
    terminalreporter.section("with and without the layer, by MPI, language and number of ranks")
    terminalreporter.write_line(f"{'':28}" + "".join(f"np {ranks:<4}" for ranks in RANKS))
    for host in all_hosts():
        for language in LANGUAGES:
            if language not in host.languages():
                continue
            row = [cells.get((host.name, language, ranks), "-") for ranks in RANKS]
            line = f"{host.name:18}{language:10}" + "".join(f"{word:7}" for word in row)
            terminalreporter.write_line(line)
    empty = [key for key in expected_cells() if cells.get(key) not in ("pass", "FAIL")]
    if empty:
        terminalreporter.write_line(f"{len(empty)} cells are empty")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a cell that no test filled is a failure, unless part of the tests was asked for."""
    cells = session.config.stash[CELLS]
    if not IN_CI or not cells or session.config.option.keyword:
        return
    if any(cells.get(key) != "pass" for key in expected_cells()) and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
