"""What `headrace run` sets for a job's size changes what it is there to change (spec/limits.toml).
The other rows of the table say that they were not tried."""

from __future__ import annotations

import os
import re
import shlex
import sys

import pytest
from conftest import absent
from hosts import AS_ROOT, REPOSITORY, YIELD, Host, host_named
from running import Result, compile_c, run, work_directory

VARIABLES = ["FI_UNIVERSE_SIZE", "UCX_NUM_PPN"]
KIB, MIB = 1, 1024


def run_line(host: Host, ranks: int, program: list, *options: str) -> list[str]:
    line = [sys.executable, "-m", "headrace", "run", *options, *host.launch_line(ranks), *program]
    return [str(word) for word in line]


def environment_of(host: Host) -> dict[str, str]:
    own = {"PYTHONPATH": str(REPOSITORY / "python"), "HEADRACE_SUMMARY": "0"}
    return {**host.environment, **YIELD, **AS_ROOT, **own}


def present(name: str) -> Host:
    host = host_named(name)
    if host.missing:
        absent(host.missing)
    return host


def address_space(result: Result) -> int:
    assert result.code == 0, result.explain()
    return int(re.search(r"address space (\d+) kB", result.out)[1])


def test_libfabrics_queues_follow_the_ranks(library) -> None:
    host = present("mpich")
    program = [compile_c(host, ["memory_shown.c"], "memory_shown"), *VARIABLES]
    network = {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp;ofi_rxm"}
    own = environment_of(host) | network
    ours = run(run_line(host, 2, program), own)
    without = run(run_line(host, 2, program, "--no-limits"), own)
    users = run(run_line(host, 2, program), own | {"FI_UNIVERSE_SIZE": "65536"})
    assert "FI_UNIVERSE_SIZE is 2\n" in ours.out, ours.explain()
    assert "FI_UNIVERSE_SIZE is not set\n" in without.out
    assert "FI_UNIVERSE_SIZE is 65536\n" in users.out
    # libfabric takes 1,024 ranks where nothing is said: 12 MB more.
    assert address_space(without) - address_space(ours) > 8 * MIB
    assert address_space(users) - address_space(without) > 500 * MIB


def test_what_intel_mpi_sets_itself_is_left_alone(library) -> None:
    host = present("intel")
    program = [compile_c(host, ["memory_shown.c"], "memory_shown"), *VARIABLES]
    own = environment_of(host)
    plain = run([*host.launch_line(2), *program], own)
    under = run(run_line(host, 2, program), own)
    for result in (plain, under):
        assert result.code == 0, result.explain()
    lines = [[line for line in one.out.splitlines() if " is " in line] for one in (plain, under)]
    assert lines[0] == lines[1], (plain.explain(), under.explain())
    users = run(run_line(host, 2, program), own | {"FI_UNIVERSE_SIZE": "77"})
    assert "FI_UNIVERSE_SIZE is 77\n" in users.out, users.explain()


@pytest.mark.parametrize("size", ["64m", "1g"])
def test_nobody_dies_of_a_small_shared_memory(size: str, library) -> None:
    """Ranks of Open MPI 5 that all talk: each has 16 MiB of shared memory."""
    if os.geteuid() != 0:
        absent("another /dev/shm needs root")
    host = present("openmpi")
    ranks = 8
    messages = work_directory(f"small-shared-memory-{size}") / "messages"
    pairs = [(one, other) for one in range(ranks) for other in range(ranks) if one != other]
    messages.write_text("".join(f"{one} {other} 3000\n" for one, other in pairs))
    program = [compile_c(host, ["exchanged.c"], "exchanged"), messages, 100]
    inner = shlex.join(run_line(host, ranks, program))
    script = f"mount -t tmpfs -o size={size} tmpfs /dev/shm && exec {inner}"
    result = run(["unshare", "-m", "sh", "-c", script], environment_of(host))
    assert result.code == 0, result.explain()
    assert result.out.count(" sent 2100000 received 2100000 ") == ranks, result.explain()
    told = "headrace: /dev/shm has 64 MiB free (Open MPI may need 128 MiB there"
    assert (told in result.err) == (size == "64m"), result.explain()


def test_many_communicators_use_up_mpichs_shared_memory(library) -> None:
    """--explain names the variable; beyond its limit communicators go without."""
    host = present("mpich")
    program = [compile_c(host, ["many_communicators.c"], "many_communicators")]
    own = environment_of(host)

    def shared(limit: str) -> int:
        low = {
            "MPIR_CVAR_COLL_SHM_LIMIT_PER_NODE": limit,
            "MPIR_CVAR_COLLECTIVE_FALLBACK": "silent",
        }
        result = run(run_line(host, 2, program), own | (low if limit else {}))
        assert result.code == 0, result.explain()
        found = re.search(r"shared (\d+) kB, wrong 0", result.out)
        assert found, result.explain()
        return int(found[1])

    usual, little = shared(""), shared("1000")
    assert usual > 3 * little, (usual, little)
    assert shared("65536") == usual
    explained = run(run_line(host, 2, program, "--explain"), own)
    assert "MPIR_CVAR_COLL_SHM_LIMIT_PER_NODE=65536" in explained.err, explained.explain()
