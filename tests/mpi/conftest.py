"""Fixtures, the library under test, and the pass table that is printed at the end."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from hosts import LANGUAGES, all_hosts, headrace_library, host_named

from devtool import tiers

IN_CI = os.environ.get("CI") == "true"
RANKS = (1, 2, 3, 4, 7)
CELLS: dict[tuple[str, str, int], str] = {}
# What fills the table: a part runs in the default tier, and what is left goes first in the rest.
FILLING = set(tiers.data()["rest"]["first"])
FILES: set[str] = set()  # of which a test ran


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cells", type=Path, help="a file of cells: what earlier tiers filled")


def pytest_configure(config: pytest.Config) -> None:
    """The default tier begins a table, the rest goes on with it."""
    path = config.getoption("--cells")
    if path is not None and path.exists() and config.getoption("--tier") == "rest":
        CELLS.update({tuple(key): word for key, word in json.loads(path.read_text())})


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


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Called where the table is printed, also if other processes run the tests."""
    FILES.add(report.nodeid.partition("::")[0])
    for name, key in report.user_properties:
        if name != "cell" or report.when == "setup":
            continue
        if report.failed:
            CELLS[tuple(key)] = "FAIL"
        elif report.when == "call" and CELLS.get(tuple(key)) != "FAIL":
            CELLS[tuple(key)] = "skip" if report.skipped else "pass"


def expected_cells() -> list[tuple[str, str, int]]:
    return [
        (host.name, language, ranks)
        for host in all_hosts()
        for language in host.languages()
        for ranks in RANKS
    ]


def pytest_terminal_summary(terminalreporter) -> None:
    if not CELLS:
        return
    terminalreporter.section("with and without the layer, by MPI, language and number of ranks")
    terminalreporter.write_line(f"{'':28}" + "".join(f"np {ranks:<4}" for ranks in RANKS))
    for host in all_hosts():
        for language in LANGUAGES:
            if language not in host.languages():
                continue
            row = [CELLS.get((host.name, language, ranks), "-") for ranks in RANKS]
            line = f"{host.name:18}{language:10}" + "".join(f"{word:7}" for word in row)
            terminalreporter.write_line(line)
    empty = [key for key in expected_cells() if CELLS.get(key) not in ("pass", "FAIL")]
    if empty:
        terminalreporter.write_line(f"{len(empty)} cells are empty")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a cell that no test filled is a failure, unless part of the tests was asked for."""
    config = session.config
    if hasattr(config, "workerinput"):
        return
    if (path := config.getoption("--cells")) is not None:
        path.write_text(json.dumps([[key, word] for key, word in CELLS.items()]))
    part = config.option.keyword or config.getoption("--tier") in ("quick", "default")
    if not IN_CI or part or not FILES >= FILLING:
        return
    if any(CELLS.get(key) != "pass" for key in expected_cells()) and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
