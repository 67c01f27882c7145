"""What all tests share."""

import json
import os
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import alone
import pytest
from hanging import end_processes, processes_below

from devtool import tiers

STARTED_BEFORE = pytest.StashKey[set[int]]()
TIER = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    choices = (*tiers.TIERS, tiers.REST)
    parser.addoption("--tier", choices=choices, help="tests/tiers.toml; else all but deep rows")
    parser.addoption("--write-rows", help="a file for how many rows of each test are in each tier")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "deep: rows of a test that only --tier full has")
    config.pluginmanager.register(alone)
    # As from a keyboard interrupt: fixtures, mounts and launched programs are cleaned up.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves the rows of the tier that was asked for; a report's case names its tier."""
    note_tiers(items)
    tier = config.getoption("--tier")
    wanted = tiers.wanted(tier) if tier else tiers.TIERS
    left_out = {
        item
        for item in items
        if item.stash[TIER] not in wanted or (tier is None and "deep" in item.keywords)
    }
    if path := config.getoption("--write-rows"):
        counts = Counter((name_of(item), item.stash[TIER]) for item in items)
        Path(path).write_text(json.dumps([[*key, count] for key, count in counts.items()]))
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


def note_tiers(items: list[pytest.Item]) -> None:
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        item.stash[TIER] = "full"
        if "deep" not in item.keywords:
            tests[name_of(item)].append(item)
    for test, rows in tests.items():
        chosen = tiers.of_rows(test, [row_values(item) for item in rows])
        for item, tier in zip(rows, chosen, strict=True):
            item.stash[TIER] = tier
    for item in items:
        item.user_properties.append(("tier", item.stash[TIER]))


def name_of(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def row_values(item: pytest.Item) -> dict[str, str]:
    values = item.callspec.params if hasattr(item, "callspec") else {}
    return {name: str(getattr(value, "name", value)) for name, value in values.items()}


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item) -> Iterator[None]:
    """A case that hangs ends with its processes, or they would go on beside the next ones."""
    item.stash[STARTED_BEFORE] = processes_below(os.getpid())
    result = yield
    fail = signal.getsignal(signal.SIGALRM)
    if not callable(fail):  # another way of ending a case was asked for
        return result

    def end(*arguments: object) -> None:
        end_processes(processes_below(os.getpid()) - item.stash[STARTED_BEFORE])
        fail(*arguments)

    signal.signal(signal.SIGALRM, end)
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """What fixtures have started is theirs to end: later cases may need it."""
    item.stash[STARTED_BEFORE] = processes_below(os.getpid())
