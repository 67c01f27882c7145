"""A failing store under the real library: every call and error, in one job for each MPI."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hosts import Host
from running import Result, compile_c, launch, shared_object, work_directory

from faults import table
from faults.cases import STORE_CASES
from faults.plan import SOURCES, Case, judge, read_facts


def run_plan(
    host: Host,
    directory: Path,
    cases: list[Case],
    ranks: int,
    library: Path,
    environment: dict[str, str] | None = None,
    **options,
) -> Result:
    (directory / "plan").write_text("".join(case.line() + "\n" for case in cases))
    program = compile_c(host, SOURCES, "fault_job")
    objects = [library, shared_object("store_fault.c")]
    if host.family.startswith("mpich") and ranks <= 2:
        objects.append(shared_object("yield_shim.c"))  # the job consists of meetings
    command = [program, directory, directory / "plan"]
    return launch(host, ranks, command, True, environment, objects=objects, **options)


def problems(
    host: Host,
    cases: list[Case],
    result: Result,
    ranks: int,
    name_row: Callable[[Case], str] = Case.row,
) -> list[str]:
    """What is wrong; the cases' entries in the table are in the rows that `name_row` tells."""
    facts = read_facts(result.out)
    wrong = []
    for case in cases:
        found = list(judge(case, facts.get(case.name, []), ranks))
        table.note(name_row(case), host.name, not found)
        wrong += [f"{case.name}: {text}\n  {facts.get(case.name)}" for text in found]
    return wrong


def check_plan(host: Host, name: str, cases: list[Case], ranks: int, library: Path) -> None:
    """Runs the cases in one job and requires that each holds and nothing is left."""
    directory = work_directory(name)
    result = run_plan(host, directory, cases, ranks, library)
    wrong = problems(host, cases, result, ranks)
    assert not wrong, f"{len(wrong)} problems\n" + "\n".join(wrong)
    assert result.code == 0 and result.out.endswith("end\n"), result.explain()
    assert not result.litter, result.litter
    shutil.rmtree(directory)


@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=pytest.mark.deep)])
def test_store(host: Host, ranks: int, library) -> None:
    check_plan(host, f"faults-store-{ranks}-{host.name}", STORE_CASES, ranks, library)
