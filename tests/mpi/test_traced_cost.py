"""What tracing takes is in no function's time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hosts import Host
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

MEASURED = re.compile(r"^ns (\S+) (\S+) (\S+) (\S+)", re.MULTILINE)


def program(host: Host) -> Path:
    built = made_library("slots")
    compiler = [*host.compilers["c"], f"-l:{built.name}"]
    flags = [*CODE, f"-L{built.parent}"]
    return compile_program(compiler, ["traced_cost.c"], f"traced-cost-{host.name}", flags)


@pytest.mark.parametrize("way", WAYS)
def test_a_caller_of_many_small_functions(host: Host, library, way: str) -> None:
    """As it is without tracing, by the program's own clock. A call is a million of instructions,
    between which 500 others are traced."""
    directory = work_directory(f"traced-cost-{host.name}-{way}")
    names = functions_of(made_library(way))
    result = launch(host, 1, [program(host)], True, planned(host, way, directory, names))
    assert result.code == 0, result.explain()
    traced, counted = traced_and_counted(result.out, directory, way, names)
    require_same(traced, counted, way)
    print(result.out, traced["traced_steps"], traced["traced_step"])
    assert False
