"""Collective calls that we carry out beside others that we leave to the library: by the table that
comes with Headrace, and by all that can be carried out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hosts import Host
from running import Result, compile_c, launch

ON = {"HEADRACE_COLLECTIVES": "1", "HEADRACE_QUIET": "1", "HEADRACE_RECORD": "0"}
USES = {"measured": {}, "always": {"HEADRACE_COLL_USE": "always", "HEADRACE_COLL_AFTER": "1"}}


def run(
    host: Host, way: str, ranks: int, environment: dict[str, str], name: str = "apart"
) -> Result:
    program = compile_c(host, [f"collectives_{name}.c"], f"collectives-{name}")
    return launch(host, ranks, [program, way], True, environment)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("way", ["ahead", "attributes"])
def test_right_programs_get_right_results(
    host: Host, library: Path, way: str, ranks: int, use: str
) -> None:
    """A rank may be far ahead; functions that delete attributes may call collective operations."""
    result = run(host, way, ranks, ON | USES[use])
    assert result.code == 0, result.explain()
    assert "wrong 0\n" in result.out, result.explain()


@pytest.mark.parametrize("ranks", [2, 3])
def test_what_others_did_before_a_barrier_is_seen(host: Host, library: Path, ranks: int) -> None:
    """With ours: behind MPICH's own, MPI_Win_test may miss it."""
    result = run(host, "windows", ranks, ON | USES["always"])
    assert result.code == 0 and "wrong 0\n" in result.out, result.explain()


@pytest.mark.parametrize("use", USES)
def test_wrong_arguments_are_told_as_by_the_library(host: Host, library: Path, use: str) -> None:
    plain = run(host, "wrong", 2, {"HEADRACE_DISABLE": "1"})
    with_layer = run(host, "wrong", 2, ON | USES[use])
    assert (with_layer.code, with_layer.out) == (plain.code, plain.out), with_layer.explain()
    assert plain.out.count("\n") == 8, plain.explain()


@pytest.mark.parametrize("ranks", [2, 3])
def test_sizes_that_differ_between_ranks(host: Host, library: Path, ranks: int) -> None:
    """Whoever gets less than it expects has that, and whoever gets more is told."""
    result = run(host, "node", ranks, ON | USES["always"], "differing")
    assert result.code == 0, result.explain()
    assert "wrong 0\n" in result.out, result.explain()
