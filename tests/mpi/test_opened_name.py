"""What a name that is given at open means later: the file that was opened."""

from __future__ import annotations

import pytest
from hosts import Host
from running import compile_c, launch, work_directory

SOURCES = ["opened_name.c", "harness.c", "harness_calls.c", "harness_data.c"]
CASES = [
    "used_after_chdir",
    "renamed",
    "replaced",
    "directory_renamed",
    "directory_removed",
    "symbolic_link",
    "named_in_messages",
    "mounted_over",
]


@pytest.mark.parametrize("memory", ["shared", "apart"])
def test_opened_name(host: Host, memory: str, library) -> None:
    """Apart: every rank is a node of its own, and asks the first one for the shared pointer."""
    program = compile_c(host, SOURCES, "opened_name")
    directory = work_directory(f"opened_name-{host.name}-{memory}")
    environment = {"HEADRACE_SHARED_MEMORY": "none"} if memory == "apart" else {}
    # MPICH 4.0 has no room for messages of ours.
    skipped = ["named_in_messages"] if host.family == "mpich4" else []
    command = [program, "--skip", ",".join(skipped), directory]
    result = launch(host, 3, command, layered=True, environment=environment)
    assert result.code == 0, result.explain()
    for case in set(CASES) - set(skipped):
        assert f"case {case} ok" in result.out, result.explain()
    assert not result.litter, result.litter


def test_symbolic_link_without_the_layer(host: Host) -> None:
    """The libraries, too, delete the link and leave its target."""
    program = compile_c(host, SOURCES, "opened_name")
    directory = work_directory(f"opened_name-{host.name}-plain")
    result = launch(host, 2, [program, "--only", "symbolic_link", directory], layered=False)
    assert result.code == 0 and "case symbolic_link ok" in result.out, result.explain()
