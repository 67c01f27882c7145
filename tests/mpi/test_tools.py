"""Another PMPI and preload tool (programs/tool.c, as Darshan is one) before and after the layer."""

from __future__ import annotations

import re

import pytest
from hosts import Host
from running import compile_c, compile_program, launch, work_directory
from test_exercise import SOURCES, failed_cases

FLAGS = ["-shared", "-fPIC", "-O1", "-Wall"]


@pytest.mark.parametrize("first", ["tool", "layer"])
def test_tool(host: Host, first: str, library) -> None:
    tool = compile_program([*host.compilers["c"], "-ldl"], ["tool.c"], f"tool-{host.name}", FLAGS)
    program = compile_c(host, ["traced.c", "harness.c", "harness_data.c"], "traced")
    directory = work_directory(f"tool-{host.name}-{first}")
    objects = [tool, library] if first == "tool" else [library, tool]
    result = launch(host, 2, [program, directory], layered=True, objects=objects)
    assert result.code == 0, result.explain()
    assert result.out == "ok, 3 of 3 files carried\n", result.explain()
    counts = re.findall(r"tool: rank (\d) init (\d+) open (\d+) write (\d+) read (\d+)", result.err)
    print(f"{host.name}, {first} first: rank, init, open, write, read: {counts}")
    assert len(counts) == 2, result.explain()
    if first == "tool":
        assert sorted(counts) == [(str(rank), "1", "3", "6", "6") for rank in range(2)]


@pytest.mark.parametrize("first", ["tool", "layer"])
def test_tool_that_looks_the_library_up(host: Host, first: str, library) -> None:
    """Its calls of procedures with large counts would give the library a file that is ours."""
    compiler = [*host.compilers["c"], "-ldl"]
    tool = compile_program(compiler, ["lookup_tool.c"], f"lookup_tool-{host.name}", FLAGS)
    program = compile_c(host, SOURCES, "exercise")
    directory = work_directory(f"lookup_tool-{host.name}-{first}")
    objects = [tool, library] if first == "tool" else [library, tool]
    command = [program, "--only", "transfer_at_all,transfer_iat,view_nested", directory]
    result = launch(host, 2, command, layered=True, objects=objects)
    assert result.code == 0 and result.out.endswith("end\n"), result.explain()
    assert result.out.count(" ok\n") == 3 and not failed_cases(result), result.explain()
