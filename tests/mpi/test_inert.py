"""Where there is nothing to do the layer does nothing: same output, nothing left behind."""

from __future__ import annotations

import os
import re
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import pytest
from conftest import absent
from hosts import Host
from running import compile_c, compile_program, launch, preload, run

COMMANDS = {
    "bash": ["bash", "-c", "echo $((6 * 7)); printf '%s\n' a b | sort -r"],
    "python": [sys.executable, "-c", "import ssl, json; print(ssl.OPENSSL_VERSION)"],
    "ls": ["ls", "/"],
    "missing": ["ls", "/no/such/file"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_other_programs(name: str, library) -> None:
    plain = run(COMMANDS[name])
    layered = run(COMMANDS[name], preload([library]))
    assert (layered.code, layered.out, layered.err) == (plain.code, plain.out, plain.err)
    assert not layered.litter


def test_cost_of_being_there(library, record_property) -> None:
    """Printed, not judged: a timing on a shared machine decides nothing."""
    medians = []
    for environment in (os.environ | {}, os.environ | preload([library])):
        times = []
        for _ in range(40):
            start = time.perf_counter()
            os.waitpid(os.posix_spawn("/bin/true", ["true"], environment), 0)
            times.append(time.perf_counter() - start)
        medians.append(statistics.median(times) * 1e6)
    record_property("microseconds without and with the layer", medians)
    print(f"/bin/true: {medians[0]:.0f} us without, {medians[1]:.0f} us with the layer")


def test_the_allocator_stays_as_it_is(host: Host, library) -> None:
    """What starts with MPI frees no large block, after which the program's would lie elsewhere."""
    program = compile_c(host, ["allocations.c"], "allocations")
    lines = []
    for layered in (False, True):
        result = launch(host, 2, [program], layered)
        assert result.code == 0, result.explain()
        lines.append(sorted(re.findall(r"rank \d [01]+", result.out)))
    assert len(lines[0]) == 2 and lines[0] == lines[1]


@pytest.mark.parametrize("disabled", ["0", "1"])
def test_a_weak_question_for_mpi(library, disabled: str) -> None:
    """The names are there with a preload. The answer is as if they were not."""
    program = compile_program(["gcc"], ["weak_probe.c"], "weak-probe")
    result = run([program], preload([library]) | {"HEADRACE_DISABLE": disabled})
    assert (result.code, result.err) == (0, ""), result.explain()
    assert result.out == run([program]).out == "initialized 0 finalized 0\n"


def test_static_program(library) -> None:
    program = compile_program(["gcc", "-static"], ["hello.c"], "hello-static")
    plain, layered = run([program]), run([program], preload([library]))
    assert (layered.code, layered.out, layered.err) == (plain.code, plain.out, plain.err)


def test_setuid_program(library, needs_root) -> None:
    """As an unprivileged user. The loader itself drops a preload that is not trusted."""
    program = compile_program(["gcc"], ["hello.c"], "hello")
    with tempfile.TemporaryDirectory(prefix="setuid-", dir="/var/tmp") as name:
        copy = Path(name) / "hello"
        os.chmod(name, 0o755)
        shutil.copy(program, copy)
        copy.chmod(0o4755)
        drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        plain = run([*drop, copy])
        if "euid 0" not in plain.out:
            absent("setuid programs are not obeyed on /var/tmp")
        layered = run([*drop, "env", f"LD_PRELOAD={library}", copy])
        assert (layered.code, layered.out) == (plain.code, plain.out)
        assert all("ld.so" in line for line in layered.err.splitlines())


@pytest.mark.parametrize("argument", ["initialized", "uninitialized"])
def test_mpi_program_without_files(host: Host, argument: str, library) -> None:
    """It sees nothing, unless it runs MPI and is recorded: then lines follow its own."""
    program = compile_c(host, ["quiet.c"], "quiet")
    ranks = 2 if argument == "initialized" else 1
    results = []
    for layered, record in ((False, "0"), (True, "0"), (True, "1")):
        settings = {"HEADRACE_QUIET": "0", "HEADRACE_RECORD": record}
        result = launch(host, ranks, [program, argument], layered, settings)
        assert result.code == 0, result.explain()
        results.append((result.out, result.err))
        assert not result.litter
    assert results[0] == results[1]
    (own, error_output), (recorded, lines) = results[1:]
    assert recorded == own
    assert lines.startswith(error_output)
    added = lines[len(error_output) :].splitlines()
    assert all(line.startswith("headrace: ") for line in added), lines
    assert len(added) <= 6 and bool(added) == (argument == "initialized")


def test_preload_in_front_of_the_launcher(host: Host, library) -> None:
    """As `LD_PRELOAD=... mpiexec ...` does it: launcher, its helpers and the ranks have it."""
    program = compile_c(host, ["traced.c", "harness.c", "harness_data.c"], "traced")
    with tempfile.TemporaryDirectory(prefix="front-") as directory:
        environment = host.environment | preload([library]) | {"HEADRACE_QUIET": "1"}
        result = run([*host.launch_line(2), program, directory], environment)
    assert result.code == 0 and "ok, 3 of 3 files carried" in result.out, result.explain()
