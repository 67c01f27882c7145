"""Predefined handles in programs that find the library's data in different ways."""

from __future__ import annotations

import pytest
from hosts import Host
from running import C_FLAGS, compile_program, launch, work_directory

SOURCES = ["handles.c", "cases_handles.c", "harness.c", "harness_calls.c", "harness_data.c"]
CASES = [
    "handles_without_file",
    "handles_with_file",
    "handles_new_file",
    "handles_requests",
    "handles_conversions",
]
FLAGS = {
    "fixed": ["-fno-pie", "-no-pie"],  # copies of data in the program
    "movable": ["-fpie", "-pie"],  # some compilers copy, some do not
    "loaded": ["-fPIC", "-shared"],  # by a program that is not linked to MPI
}


@pytest.mark.parametrize("way", FLAGS)
def test_handles(host: Host, way: str, library) -> None:
    program = compile_program(
        host.compilers["c"], SOURCES, f"handles-{way}-{host.name}", [*C_FLAGS, *FLAGS[way]]
    )
    directory = work_directory(f"handles-{way}-{host.name}")
    command = [program, directory]
    if way == "loaded":
        loader = compile_program(["gcc", "-ldl"], ["loads.c"], "loads")
        command = [loader, *command]
    result = launch(host, 2, command, layered=True)
    assert result.code == 0, result.explain()
    for case in CASES:
        assert f"case {case} ok" in result.out, result.explain()
