"""The same C program with and without the layer: its log, its checks and its files."""

from __future__ import annotations

import pytest
from conftest import RANKS
from hosts import Host
from native_faults import FAULTS, SKIPPED, SKIPPED_WITH_LAYER
from running import Result, compile_c, launch, tree, work_directory

SOURCES = [
    "exercise.c",
    "cases_argument.c",
    "cases_atomic.c",
    "cases_edge.c",
    "cases_error.c",
    "cases_many.c",
    "cases_modes.c",
    "cases_nonblocking.c",
    "cases_open.c",
    "cases_order.c",
    "cases_position.c",
    "cases_shared.c",
    "cases_sizes.c",
    "cases_split.c",
    "cases_threads.c",
    "cases_transfer.c",
    "cases_unsupported.c",
    "cases_view.c",
    "view_check.c",
    "harness.c",
    "harness_calls.c",
    "harness_data.c",
    "layout.c",
]


def cases_in(log: str) -> dict[str, str]:
    """The log by case: the case's line and what follows it."""
    cases: dict[str, str] = {}
    name = ""
    for line in log.splitlines():
        if line.startswith("case "):
            name = line.split()[1]
            cases[name] = ""
        if name:
            cases[name] += line + "\n"
    return cases


def failed_cases(result: Result) -> list[str]:
    return [name for name, text in cases_in(result.out).items() if " ok\n" not in text]


def files_of_cases(files: dict[str, bytes], without: set[str]) -> dict[str, bytes]:
    return {name: data for name, data in files.items() if name.split(".")[0] not in without}


def run_exercise(host: Host, ranks: int, layered: bool) -> tuple[Result, dict[str, bytes]]:
    program = compile_c(host, SOURCES, "exercise")
    directory = work_directory(f"exercise-{host.name}-{ranks}-{'layer' if layered else 'plain'}")
    skipped = SKIPPED_WITH_LAYER.get(host.family, {}) if layered else SKIPPED[host.family]
    result = launch(host, ranks, [program, "--skip", ",".join(skipped), directory], layered)
    return result, tree(directory)


@pytest.mark.parametrize("ranks", RANKS)
def test_exercise(host: Host, ranks: int, cell, library) -> None:
    cell(host.name, "c", ranks)
    plain, plain_files = run_exercise(host, ranks, layered=False)
    faults = FAULTS[host.family]
    unknown = [name for name in failed_cases(plain) if name not in faults]
    assert plain.out.endswith("end\n") or "\nend\n" in plain.out, plain.explain()
    assert not unknown, plain.explain()

    layered, layered_files = run_exercise(host, ranks, layered=True)
    assert layered.code == 0, layered.explain()
    assert "\nend\n" in layered.out, layered.explain()
    assert not failed_cases(layered), layered.explain()
    assert not layered.litter, layered.litter

    left_out = set(failed_cases(plain)) | set(faults) | set(SKIPPED[host.family])
    layer_only = {"view_holes_past_end", "error_message"}
    plain_cases, layered_cases = cases_in(plain.out), cases_in(layered.out)
    for name in set(layered_cases) - left_out - layer_only:
        assert layered_cases[name] == plain_cases[name]
    expected = files_of_cases(plain_files, left_out | layer_only)
    found = files_of_cases(layered_files, left_out | layer_only)
    assert sorted(found) == sorted(expected)
    different = [name for name in expected if expected[name] != found[name]]
    assert not different, f"files differ: {different}"
