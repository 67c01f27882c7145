"""Faults are tried under three MPIs, in the tier full under all; the table of them is printed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from conftest import absent
from hosts import all_hosts, host_named

from faults import table

USUAL = ("mpich", "openmpi", "intel")


@pytest.fixture(
    params=[
        pytest.param(host.name, marks=() if host.name in USUAL else pytest.mark.deep)
        for host in all_hosts()
    ]
)
def host(request: pytest.FixtureRequest):
    found = host_named(request.param)
    if found.missing:
        absent(found.missing)
    return found


@pytest.fixture
def place():
    """A directory that an unprivileged user can write to, and whose programs it may run."""
    path = Path("/var/tmp") / f"mpi-faults-{os.getpid()}"
    path.mkdir(mode=0o777)
    path.chmod(0o777)
    yield path
    shutil.rmtree(path)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A process that runs a part of the tests tells the one that prints the table."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["faults"] = table.dump()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node) -> None:
    table.add(getattr(node, "workeroutput", {}).get("faults", []))


def pytest_terminal_summary(terminalreporter) -> None:
    if not table.TRIED:
        return
    terminalreporter.section("faults and what holds, by MPI: cases")
    for line in table.lines():
        terminalreporter.write_line(line)
