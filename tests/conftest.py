"""What all tests share."""

import os
import signal
import sys
from collections.abc import Iterator

import pytest
from hanging import end_processes, processes_below

STARTED_BEFORE = pytest.StashKey[set[int]]()


def pytest_configure() -> None:
    # As from a keyboard interrupt: fixtures, mounts and launched programs are cleaned up.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


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
