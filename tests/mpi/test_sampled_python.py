"""Functions of Python in the profile: against what they measured of themselves."""

from __future__ import annotations

import pytest
from hosts import Host
from measuring import measuring
from running import PROGRAMS, Result, launch, work_directory
from test_profile import NEAR, branches, measured, own_seconds, sampled
from test_recorder import report_of

PROGRAM = PROGRAMS / "sampled_functions.py"
SOURCES = ("best", "timer", "wall")


# So that few samples are lost if the machine is busy and Headrace's thread comes late.
SMALL = {"HEADRACE_SAMPLING_RATE": "250", "HEADRACE_SAMPLING_STACK": "4k"}


def run(
    host: Host, source: str, *words: str, ranks: int = 1, **settings: str
) -> tuple[dict, Result]:
    if not host.python:
        pytest.skip("this MPI has no mpi4py here")
    directory = work_directory(f"sampled-python-{host.name}-{source}-{'-'.join(words)}")
    line = [host.python, PROGRAM, *words]
    result = launch(host, ranks, line, True, sampled(directory, source) | settings)
    assert result.code == 0, result.explain()
    (record,) = directory.glob("*.hrc")
    return report_of(record), result


@pytest.mark.parametrize("source", ("best", "timer"))
def test_shares_are_what_functions_measured(host: Host, library, source: str) -> None:
    report, result = run(host, source, "0.7", ranks=2, **SMALL)
    took = measured(result.out)
    assert len(took) == 6, result.explain()
    own = {name: own_seconds(report, name) for name in took}
    with measuring():
        for name, time in took.items():
            assert own[name] / sum(own.values()) == pytest.approx(
                time / sum(took.values()), abs=NEAR
            ), name


def test_paths_run_from_module_to_function(host: Host, library) -> None:
    report, _ = run(host, "timer", "0.3", **SMALL)
    paths = {path for path, time in branches(report) if time > 0}
    # Of 80 calls the innermost are seen, and no path is longer for that.
    deep = [path for path in paths if path[-1] == "deepest"]
    assert all(path.count("deepest") <= 32 for path in deep)
    # A busy machine may leave a function without a sample.
    with measuring():
        assert deep, paths
        assert any(path[:3] == ("<module>", "known", "timed") for path in paths), paths
        ways = {path[-3:] for path in paths}
        assert ("known", "timed", "straight") in ways
        assert ("known", "timed", "Solver.method") in ways
        by_lambda = {path[-1] for path in paths if "known.<locals>.<lambda>" in path}
        assert {"generated", "called_back"} <= by_lambda, by_lambda
        assert any("in_a_thread" in path and "Thread.run" in path for path in paths)


def test_lines_are_those_that_run(host: Host, library) -> None:
    report, _ = run(host, "timer", "0.3")
    text = PROGRAM.read_text().split("\n")
    loop = text.index("        found = (found * 31 + number) % 65537") + 1
    lines = {
        one["line"]: one["seconds"]
        for one in report["profile"]["lines"]
        if one["function"] == "straight"
    }
    assert lines and set(lines) <= {loop - 2, loop - 1, loop, loop + 1}
    assert max(lines, key=lines.__getitem__) == loop


def test_perf_sees_the_interpreter_alone(host: Host, library) -> None:
    report, _ = run(host, "perf", "0.2")
    names = {one["name"] for one in report["profile"]["functions"]}
    if not names:
        pytest.skip("the kernel refuses perf_event")
    assert not names & {"straight", "called_back"}
    assert "_PyEval_EvalFrameDefault" in names


@pytest.mark.parametrize("source", SOURCES)
def test_python_is_unharmed(host: Host, library, source: str) -> None:
    """Where frames and code come and go, and threads, as fast as they can."""
    _, result = run(host, source, "1.5", "strange")
    assert "ok" in result.out.split(), result.explain()
