"""What tracing takes is in no function's time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hosts import Host
from measuring import measuring
from running import compile_program, launch, work_directory
from test_traced import (
    CODE,
    WAYS,
    functions_of,
    made_library,
    planned,
    require_same,
    traced_and_counted,
)

from headrace.record.reader import read

MEASURED = re.compile(r"^ns (\S+) (\S+) ([^,\s]+)", re.MULTILINE)


def program(host: Host) -> Path:
    built = made_library("slots")
    compiler = [*host.compilers["c"], f"-l:{built.name}"]
    flags = [*CODE, f"-L{built.parent}"]
    return compile_program(compiler, ["traced_cost.c"], f"traced-cost-{host.name}", flags)


@pytest.mark.parametrize("way", WAYS)
def test_a_caller_of_many_small_functions(host: Host, library, way: str) -> None:
    """Its time is as it is without tracing, by the program's own clock, though tracing the 500
    calls that each of its calls makes takes about as long."""
    directory = work_directory(f"traced-cost-{host.name}-{way}")
    names = functions_of(made_library(way))
    result = launch(host, 1, [program(host)], True, planned(host, way, directory, names))
    assert result.code == 0, result.explain()
    traced, counted = traced_and_counted(result.out, directory, way, names)
    require_same(traced, counted, way)
    least, mean, waited = map(float, MEASURED.search(result.out).groups())
    steps, step = traced["traced_steps"], traced["traced_step"]
    assert steps.own + step.time == pytest.approx(steps.time, abs=10)
    own = steps.own / steps.calls
    # A call through a slot takes up to 17 ns more on some processors than when it was measured.
    most = 1.25 if way == "slots" else 1.15
    with measuring():
        # The thread may have to wait for a core within its own code as well.
        assert 0.88 * least < own < most * mean + waited
        # What tracing takes was measured while the processor may have been slower, and is as much
        # again: of a single call too much may be taken off, but never twice as much.
        assert 0.6 * least < least_of(directory, steps.calls) < most * least


def least_of(directory: Path, calls: int) -> int:
    """Nanoseconds of the shortest call of the function that has so many."""
    (record,) = directory.glob("*.hrc")
    (node,) = read(record).nodes
    (least,) = (own for number, own in node["traced"].rows("calls", "least") if number == calls)
    return least
