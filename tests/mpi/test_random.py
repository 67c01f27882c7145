"""Random views, memory types, counts and methods against the type maps of programs/layout.c."""

from __future__ import annotations

import pytest
from hosts import Host
from running import compile_c, launch, work_directory

SOURCES = ["random.c", "harness.c", "harness_calls.c", "harness_data.c", "layout.c"]


def run_random(host: Host, ranks: int, seed: int, rounds: int) -> None:
    program = compile_c(host, SOURCES, "random")
    directory = work_directory(f"random-{host.name}-{ranks}")
    # Small collective reads go by way of slots only where they are made to.
    staged = {"HEADRACE_READ_PATH": "staged"} if ranks > 2 else {}
    line = [program, seed, rounds, directory]
    result = launch(host, ranks, line, layered=True, environment=staged)
    assert result.code == 0 and f"0 of {rounds} rounds failed" in result.out, result.explain()


@pytest.mark.parametrize(("ranks", "rounds"), [(1, 60), (2, 60), (3, 30)])
def test_random(host: Host, ranks: int, rounds: int, library) -> None:
    run_random(host, ranks, 1000 * ranks, rounds)


@pytest.mark.deep
@pytest.mark.parametrize("ranks", [1, 2, 4, 7])
def test_random_deep(host: Host, ranks: int, library) -> None:
    run_random(host, ranks, 1_000_000 * ranks, 1000 if ranks < 3 else 200)
