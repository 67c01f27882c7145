"""Memory that the real layer does not get: at each of its allocations in turn, on one rank."""

from __future__ import annotations

import shutil
from typing import NamedTuple

import pytest
from hosts import Host
from running import work_directory

from faults.cases import STAGED
from faults.plan import TRANSFERS, Case, Transfer, read_facts
from faults.test_store import check_plan, run_plan

RANKS = 2


class Step(NamedTuple):
    """Around what memory fails. rest: further words of the plan."""

    name: str
    writes: bool = True
    transfer: Transfer = STAGED
    rest: str = ""


STEPS = [Step("open"), Step("open", rest=" fresh=1"), Step("view"), Step("hints")]
STEPS += [Step(call) for call in ("sync", "size", "resize", "allocate", "close")]
STEPS += [Step("write", True, transfer) for transfer in TRANSFERS]
STEPS += [Step("read", False, transfer) for transfer in TRANSFERS]


def case(what: str, step: Step, rank: int, error: str, when: str) -> Case:
    name = f"memory-{step.name}-{step.transfer.name}-{rank}-{what}{step.rest.replace(' ', '-')}"
    rest = f"{when} rank={rank}{step.rest}"
    return Case(
        name.replace("=", ""),
        step.writes,
        step.transfer,
        "memory",
        error,
        rest,
        within=step.name,
        must_meet=False,
    )


def counted(host: Host, library) -> dict[tuple[Step, int], int]:
    """By step and rank, how many allocations the layer makes."""
    directory = work_directory(f"faults-memory-count-{host.name}")
    by_step = {
        (step, rank): case("count", step, rank, "", "first=0")
        for step in STEPS
        for rank in range(RANKS)
    }
    result = run_plan(host, directory, list(by_step.values()), RANKS, library)
    assert result.code == 0, result.explain()
    facts = read_facts(result.out)
    shutil.rmtree(directory)
    return {key: int(facts[one.name][key[1]]["met"]) for key, one in by_step.items()}


WAYS = [pytest.param(lasting, True, marks=pytest.mark.deep) for lasting in (False, True)]


@pytest.mark.parametrize(("lasting", "everywhere"), [(False, False), *WAYS])
def test_memory(host: Host, lasting: bool, everywhere: bool, library) -> None:
    places = counted(host, library)
    assert places[STEPS[0], 0] > 0, "opening takes no memory that this test could fail"
    cases = []
    for (step, rank), count in places.items():
        chosen = range(count)
        if not everywhere:
            chosen = sorted({0, count // 3, 2 * count // 3, count - 1} & set(chosen))
        when = "" if lasting else " times=1"
        cases += [case(str(k), step, rank, "ENOMEM", f"first={k}{when}") for k in chosen]
    check_plan(host, f"faults-memory-{host.name}", cases, RANKS, library)
