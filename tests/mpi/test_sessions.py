"""Programs that use MPI by sessions, alone and beside MPI_Init (MPI 4.0, section 11.3)."""

from __future__ import annotations

import re

import pytest
from hosts import Host, host_named
from running import Result, compile_c, compile_program, launch, work_directory

# What carries the files of a program by sessions alone: MPICH opens none before MPI_Init.
ALONE = {"openmpi5": "engine", "intel": "engine"}
ORDERS = {
    "one": "begin0 use0 use0 end0 left",
    "one-after-another": "begin0 use0 begin1 end0 use1 begin2 end1 use2 end2 left",
    "at-once": "begin0 begin1 use0 use1 use0 end1 use0 end0 left",
    "beside-init": "init begin0 use0 end0 world begin1 use1 end1 finalize",
    "init-later": "begin0 use0 init world use0 finalize end0",
    "after-finalize": "init begin0 world finalize use0 end0",
    "open-over-finalize": "init begin0 open0 use0 world finalize use0 close0 end0",
    "init-over-open": "begin0 open0 use0 init world finalize use0 close0 use0 end0",
    "left-open": "begin0 open0 use0 end0",
}


def uses(result: Result) -> list[str]:
    return sorted(re.findall(r"rank \d+ use\d \w+", result.out))


def carrier_after(host: Host, steps: list[str]) -> str:
    """What is to carry a file used after `steps`."""
    is_open = "open0" in steps and "close0" not in steps
    if is_open and (host.family in ALONE or "init" in steps[: steps.index("open0")]):
        steps = steps[: steps.index("open0")]
    if "finalize" in steps:
        return "plain"
    if "init" in steps:
        return "engine"
    return ALONE.get(host.family, "refused")


@pytest.mark.parametrize("order", list(ORDERS))
@pytest.mark.parametrize("ranks", [1, 2, pytest.param(4, marks=pytest.mark.deep)])
def test_sessions(host: Host, ranks: int, order: str, library) -> None:
    if host.family == "openmpi4":
        pytest.skip("Open MPI 4 has no sessions")
    program = compile_c(host, ["sessions.c"], "sessions")
    steps = ORDERS[order].split()

    def job(layered: bool, environment: dict | None = None) -> Result:
        folder = work_directory(f"sessions-{host.name}-{ranks}-{order}")
        return launch(host, ranks, [program, folder, *steps], layered, environment)

    plain = job(False)
    if plain.code != 0:
        pytest.skip(f"{host.name} itself ends with {plain.code}")
    result = job(True)
    assert result.code == 0 and "WRONG" not in result.out, result.explain()
    assert not result.litter, result.litter
    wanted = sorted(
        f"rank {rank} {'use3' if step == 'world' else step} {carrier_after(host, steps[:i])}"
        for i, step in enumerate(steps)
        if step == "world" or step.startswith("use")
        for rank in range(ranks)
    )
    assert uses(result) == wanted, result.explain()
    without = [use.replace("engine", "plain") for use in wanted]
    assert uses(plain) == sorted(without), plain.explain()
    disabled = job(True, {"HEADRACE_DISABLE": "1"})
    assert disabled.code == 0 and uses(disabled) == uses(plain), disabled.explain()


@pytest.mark.parametrize("order", ["init-later", "open-over-finalize", "left-open"])
def test_summary(order: str, library) -> None:
    """Once, at the end of all: Open MPI goes on with sessions after MPI_Finalize."""
    host = host_named("openmpi")
    program = compile_c(host, ["sessions.c"], "sessions")
    folder = work_directory(f"sessions-summary-{order}")
    command = [program, folder, *ORDERS[order].split()]
    result = launch(host, 2, command, layered=True, environment={"HEADRACE_QUIET": "0"})
    assert result.code == 0, result.explain()
    told = re.findall(r"rank 0 opened (\d) file", result.err)
    wanted = [] if order == "left-open" else ["3" if order == "init-later" else "2"]
    assert told == wanted, result.explain()  # of the files that were closed


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_who_asks_for_a_record_is_told_that_there_is_none(name: str, library) -> None:
    host = host_named(name)
    program = compile_c(host, ["sessions.c"], "sessions")
    for order, record, lines in (("one", "1", 1), ("one", "auto", 0), ("after-finalize", "1", 0)):
        folder = work_directory(f"sessions-record-{name}-{order}-{record}")
        settings = {"HEADRACE_QUIET": "0", "HEADRACE_RECORD": record}
        settings["HEADRACE_LOGPATH"] = str(folder / "records")
        result = launch(host, 2, [program, folder, *ORDERS[order].split()], True, settings)
        assert result.code == 0, result.explain()
        assert result.err.count("nothing is recorded (") == lines, result.explain()
        assert bool(list(folder.glob("records/*.hrc"))) == ("init" in ORDERS[order])


@pytest.mark.parametrize("ranks", [1, 2, pytest.param(4, marks=pytest.mark.deep)])
def test_fortran(host: Host, ranks: int, library) -> None:
    if "mpif.h" not in host.compilers or host.family == "openmpi4":
        pytest.skip("no Fortran, or no sessions")
    if host.family == "mpich4":
        pytest.skip("its bindings convert the handle that a refused open did not give")
    program = compile_program(host.compilers["mpif.h"], ["sessions.F90"], f"sessions-f-{host.name}")
    found = {}
    for layered in (False, True):
        folder = work_directory(f"sessions-f-{host.name}-{ranks}")
        result = launch(host, ranks, [program, folder], layered)
        if not layered and result.code != 0:
            pytest.skip(f"{host.name} itself ends with {result.code}")
        assert result.code == 0, result.explain()
        found[layered] = sorted(re.findall(r"rank \d+ \w+", result.out))
    carrier = ALONE.get(host.family, "refused")
    assert found[True] == [f"rank {rank} {carrier}" for rank in range(ranks)]
    assert found[False] == [line.replace("engine", "plain") for line in found[True]]


NO_END = 124  # the code of a job that did not end in its time


@pytest.mark.parametrize("ranks", [1, 2])
def test_library_that_ends_and_begins(ranks: int, library) -> None:
    """Only Open MPI opens files and begins anew. Its UCX transport does not, so it is left out. Its
    second MPI_Session_init may wait for ever, also without the layer (in 1 of 30 runs)."""
    host = host_named("openmpi")
    program = compile_c(host, ["sessions_anew.c"], "sessions-anew")
    folder = work_directory(f"sessions-anew-{ranks}")
    plain_transport = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_osc": "^ucx"}
    for _ in range(5):
        result = launch(
            host, ranks, [program, folder], layered=True, environment=plain_transport, timeout=20
        )
        assert "WRONG" not in result.out, result.explain()
        if result.code != NO_END:
            break
    wanted = sorted(f"rank {rank} used {turn}" for rank in range(ranks) for turn in range(2))
    assert sorted(result.out.splitlines()) == wanted, result.explain()
