"""A plugin of pytest: where processes make cases side by side, a case that is made again has the
machine to itself."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

MACHINE = pytest.StashKey["Machine"]()


class Machine:
    """A lock that cases share, and that one which wants to be alone has for itself. `directory`:
    one for all processes that make cases."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        # Who wants to be alone keeps the gate closed. Else new cases would go on coming in.
        self._gate: IO[str] = (directory / "gate").open("w")
        self._cases: IO[str] = (directory / "cases").open("w")

    def enter(self, alone: bool) -> None:
        """Begins a case. It waits while another one is alone; `alone`: until all have ended."""
        fcntl.flock(self._gate, fcntl.LOCK_EX)
        fcntl.flock(self._cases, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(self._gate, fcntl.LOCK_UN)

    def leave(self) -> None:
        """Ends the case, or its wait in `enter`. A process that dies leaves too."""
        fcntl.flock(self._cases, fcntl.LOCK_UN)
        fcntl.flock(self._gate, fcntl.LOCK_UN)


def pytest_configure(config: pytest.Config) -> None:
    # Only a process of xdist's: a pytest that a case starts must not wait for that case.
    if hasattr(config, "workerinput"):
        config.stash[MACHINE] = Machine(config.rootpath / ".dev" / "alone")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    if machine := item.config.stash.get(MACHINE, None):
        machine.enter(alone=getattr(item, "execution_count", 1) > 1)
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    try:
        return (yield)
    finally:
        if machine := item.config.stash.get(MACHINE, None):
            machine.leave()
