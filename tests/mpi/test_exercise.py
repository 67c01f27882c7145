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
    "cases_completion.c",
    "cases_datarep.c",
    "cases_datarep_types.c",
    "cases_datarep_user.c",
    "cases_edge.c",
    "cases_error.c",
    "cases_handles.c",
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
    "cases_view.c",
    "view_check.c",
    "harness.c",
    "harness_calls.c",
    "harness_data.c",
    "layout.c",
]

# Topics whose cases judge everything themselves: the plain run is there to show that they are right
# about the standard, for which few ranks are enough.
SELF_JUDGED = [
    "argument_*",
    "atomic_*",
    "datarep_*",
    "many_*",
    "modes_*",
    "nonblocking_*",
    "shared_*",
]
SELF_JUDGED += ["sizes_*", "split_*", "threads_*"]
PLAIN_RANKS = (1, 2)
# With so many, small collective reads go by way of slots, too, which they do not by themselves.
RANKS_THAT_STAGE = (3, 7)
# Cases that do nothing without the layer.
LAYER_ONLY = {"argument_closed_file", "argument_null_request", "error_message"}
LAYER_ONLY |= {"handles_without_file", "handles_with_file", "handles_conversions"}
LAYER_ONLY |= {"many_one_after_another", "nonblocking_cancel", "split_mismatched"}
LAYER_ONLY |= {"view_holes_past_end"}


def cases_in(log: str) -> dict[str, str]:
    """The log by case: the case's line and what follows it."""
    cases: dict[str, str] = {}
    name = ""
    for line in log.splitlines():
        if line == "end":
            break
        if line.startswith("case "):
            name = line.split()[1]
            cases[name] = ""
        # Other lines are messages of the library.
        if name and line.startswith(("case ", "  ")):
            cases[name] += line + "\n"
    return cases


def failed_cases(result: Result) -> list[str]:
    return [name for name, text in cases_in(result.out).items() if " ok\n" not in text]


def files_of_cases(files: dict[str, bytes], cases: set[str]) -> dict[str, bytes]:
    return {name: data for name, data in files.items() if name.split(".")[0] in cases}


def again(host: Host, ranks: int, cases: list[str]) -> list[str]:
    """Which of `cases` fail without the layer once more: a race in the library shows up now and
    then, and there is nothing to compare with. The log of one that fails twice is returned."""
    if not cases:
        return []
    program = compile_c(host, SOURCES, "exercise")
    directory = work_directory(f"exercise-{host.name}-{ranks}-again")
    result = launch(host, ranks, [program, "--only", ",".join(cases), directory], layered=False)
    log = cases_in(result.out)
    return [
        log.get(case, f"case {case} did not run\n")
        for case in cases
        if " ok\n" not in log.get(case, "")
    ]


def run_exercise(host: Host, ranks: int, layered: bool) -> tuple[Result, dict[str, bytes]]:
    program = compile_c(host, SOURCES, "exercise")
    directory = work_directory(f"exercise-{host.name}-{ranks}-{'layer' if layered else 'plain'}")
    skipped = [*(SKIPPED_WITH_LAYER.get(host.family, {}) if layered else SKIPPED[host.family])]
    if not layered and ranks not in PLAIN_RANKS:
        skipped += SELF_JUDGED
    line = [program, "--skip", ",".join(skipped), directory]
    staged = {"HEADRACE_READ_PATH": "staged"} if ranks in RANKS_THAT_STAGE else {}
    result = launch(host, ranks, line, layered, environment=staged)
    return result, tree(directory)


def test_shared_pointer_without_shared_memory(host: Host, library) -> None:
    """Every rank is a node of its own then, and asks the first one."""
    program = compile_c(host, SOURCES, "exercise")
    where = work_directory(f"exercise-{host.name}-apart")
    command = [program, "--only", "shared_*,modes_*,order_*", where]
    alone = {"HEADRACE_SHARED_MEMORY": "none"}
    result = launch(host, 3, command, layered=True, environment=alone)
    assert result.code == 0 and "\nend\n" in result.out, result.explain()
    assert not failed_cases(result), result.explain()
    assert "case shared_first_rank_waits ok" in result.out, result.explain()
    assert not result.litter, result.litter


@pytest.mark.parametrize("ranks", RANKS)
def test_exercise(host: Host, ranks: int, cell, library) -> None:
    cell(host.name, "c", ranks)
    plain, plain_files = run_exercise(host, ranks, layered=False)
    faults = FAULTS[host.family]
    unknown = [name for name in failed_cases(plain) if name not in faults]
    assert plain.out.endswith("end\n") or "\nend\n" in plain.out, plain.explain()
    unknown = again(host, ranks, unknown)
    assert not unknown, "".join(unknown)

    layered, layered_files = run_exercise(host, ranks, layered=True)
    assert layered.code == 0, layered.explain()
    assert "\nend\n" in layered.out, layered.explain()
    failed = [cases_in(layered.out)[name] for name in failed_cases(layered)]
    assert not failed, "".join(failed)
    assert not layered.litter, layered.litter

    left_out = set(failed_cases(plain)) | set(faults) | set(SKIPPED[host.family])
    plain_cases, layered_cases = cases_in(plain.out), cases_in(layered.out)
    # Libraries write messages of their own among the other topics' lines, and leave what is
    # undefined in their holes.
    compared = (set(plain_cases) & set(layered_cases)) - left_out - LAYER_ONLY
    compared = {name for name in compared if f"{name.split('_')[0]}_*" not in SELF_JUDGED}
    for name in compared:
        assert layered_cases[name] == plain_cases[name]
    expected = files_of_cases(plain_files, compared)
    found = files_of_cases(layered_files, compared)
    assert sorted(found) == sorted(expected)
    different = [name for name in expected if expected[name] != found[name]]
    assert not different, f"files differ: {different}"
