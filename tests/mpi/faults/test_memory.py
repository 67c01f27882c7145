"""Memory that the real layer does not get: at each of its allocations in turn, on one rank."""

from __future__ import annotations

import shutil

import pytest
from hosts import Host
from running import work_directory

from faults.cases import STAGED
from faults.plan import TRANSFERS, Case, read_facts
from faults.test_store import problems, run_plan

RANKS = 2
STEPS = [("open", True, STAGED), ("view", True, STAGED)]
STEPS += [(call, True, STAGED) for call in ("sync", "size", "resize", "allocate", "close")]
STEPS += [("write", True, transfer) for transfer in TRANSFERS]
STEPS += [("read", False, transfer) for transfer in TRANSFERS]


def case(what: str, step: tuple, rank: int, error: str, when: str) -> Case:
    within, writes, transfer = step
    name = f"memory-{within}-{transfer.name}-{rank}-{what}"
    rest = f"{when} rank={rank}"
    return Case(name, writes, transfer, "memory", error, rest, within=within, must_meet=False)


def counted(host: Host, library, environment: dict[str, str]) -> dict[tuple, int]:
    """By step and rank, how many allocations the layer makes."""
    directory = work_directory(f"faults-memory-count-{host.name}")
    by_step = {
        (step, rank): case("count", step, rank, "", "first=0")
        for step in STEPS
        for rank in range(RANKS)
    }
    result = run_plan(host, directory, list(by_step.values()), RANKS, library, environment)
    assert result.code == 0, result.explain()
    facts = read_facts(result.out)
    shutil.rmtree(directory)
    return {key: int(facts[one.name][key[1]]["met"]) for key, one in by_step.items()}


@pytest.mark.parametrize("lasting", [False, pytest.param(True, marks=pytest.mark.deep)])
def test_memory(host: Host, lasting: bool, library, request) -> None:
    places = counted(host, library, {})
    assert places[STEPS[0], 0] > 0, "opening takes no memory that this test could fail"
    cases = []
    for (step, rank), count in places.items():
        chosen = range(count)
        if not request.config.getoption("--deep"):
            chosen = sorted({0, count // 3, 2 * count // 3, count - 1} & set(chosen))
        when = "" if lasting else " times=1"
        cases += [case(str(k), step, rank, "ENOMEM", f"first={k}{when}") for k in chosen]
    directory = work_directory(f"faults-memory-{host.name}")
    result = run_plan(host, directory, cases, RANKS, library)
    wrong = problems(host, cases, result, RANKS)
    assert not wrong, f"{len(wrong)} problems\n" + "\n".join(wrong)
    assert result.code == 0 and result.out.endswith("end\n"), result.explain()
    assert not result.litter, result.litter
    shutil.rmtree(directory)
