"""Limits that grow with the job: the table, what is set, and that a user's value stays."""

import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from cli_support import ROOT, Command, clean_environment, mpi_path

from headrace.launch import limits
from headrace.launch.generated.limits import LIMITS
from headrace.launch.limiting import MIB, moved_segments
from headrace.launch.limits import Job, decide, evaluate, variables
from headrace.mpi.environment import runtime_environment
from headrace.mpi.installed import Mpi, find_all
from headrace.mpi.kinds import KINDS


def set_for(job: Job, environ: dict[str, str] | None = None, line: str = "") -> dict[str, str]:
    return variables(decide(job, environ or {}, line.split()))


def test_every_row_can_be_used() -> None:
    rows = tomllib.loads((ROOT / "spec" / "limits.toml").read_text())["limits"]
    assert [row["variable"] for row in rows] == [row.variable for row in LIMITS]
    assert len({row.variable for row in LIMITS}) == len(LIMITS) > 4
    for row, source in zip(LIMITS, rows, strict=True):
        assert set(row.mpis) <= set(KINDS)
        assert row.action in ("set", "tell")
        assert not row.on or row.on in limits.NETWORKS
        if row.most:
            assert 0 < row.least < row.most
            assert evaluate(row.value, {"ranks": 4096, "per_node": 64}) is not None
        if row.action == "set":
            assert source["tried"] != "not tried"


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (Job("mpich", 512, 64), {"FI_UNIVERSE_SIZE": "512", "UCX_NUM_PPN": "64"}),
        (Job("mpich", 512, 0), {"FI_UNIVERSE_SIZE": "512"}),
        (Job("openmpi", 100_000, 128), {"FI_UNIVERSE_SIZE": "100000"}),
        (Job("intel", 512, 64), {}),
        (Job("", 512, 64), {}),
        (Job("mpich", 0, 0), {}),
        (Job("mpich", 5_000_000, 0), {"FI_UNIVERSE_SIZE": "1048576"}),
    ],
)
def test_what_is_set(job: Job, expected: dict[str, str]) -> None:
    assert set_for(job) == expected


def test_values_of_the_user_stay() -> None:
    job = Job("mpich", 512, 64)
    environ = {"FI_UNIVERSE_SIZE": "4096"}
    assert set_for(job, environ) == {"UCX_NUM_PPN": "64"}
    assert set_for(job, {}, "mpiexec -genv UCX_NUM_PPN 1 -n 512 x") == {"FI_UNIVERSE_SIZE": "512"}
    assert set_for(job, {}, "mpiexec -genv UCX_NUM_PPN=1 -n 512 x") == {"FI_UNIVERSE_SIZE": "512"}
    for line in ("--export=ALL,UCX_NUM_PPN=1 x", "--mca mca_base_env_list A=1;UCX_NUM_PPN x"):
        assert set_for(job, {}, line) == {"FI_UNIVERSE_SIZE": "512"}
    told = [str(one) for one in decide(job, environ)]
    assert any(line.startswith("FI_UNIVERSE_SIZE=4096: kept as you set it") for line in told)


def test_advice_needs_the_network() -> None:
    job = Job("mpich", 512, 64)
    without = {one.limit.variable for one in decide(job, {})}
    found = decide(job, {}, present=["cxi"])
    assert {one.limit.variable for one in found} - without == {
        "FI_CXI_DEFAULT_CQ_SIZE",
        "FI_CXI_RX_MATCH_MODE",
    }
    assert not any(one.is_set for one in found if one.limit.on)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [("ranks", 100), ("max(32, 2 * ranks)", 200), ("min(7, per_node + 1) // 2", 3), ("5", 5)],
)
def test_formulas(formula: str, expected: int) -> None:
    assert evaluate(formula, {"ranks": 100, "per_node": 8}) == expected


@pytest.mark.parametrize("formula", ["ranks ** 9", "'a'", "[1]", "ranks.real"])
def test_formulas_do_nothing_else(formula: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        evaluate(formula, {"ranks": 100, "per_node": 8})


def test_shared_memory_goes_where_there_is_room(tmp_path: Path) -> None:
    rooms = {Path("/dev/shm"): 64 * MIB, tmp_path: 512 * MIB}

    def free(place: Path) -> int:
        return rooms.get(place, 0)

    environ = {"TMPDIR": str(tmp_path)}
    assert moved_segments(64 * MIB, free, environ) is None
    place, told = moved_segments(128 * MIB, free, environ)
    assert place == tmp_path
    assert "64 MiB free" in told and "128 MiB" in told
    place, told = moved_segments(1024 * MIB, free, environ)
    assert place is None
    assert "start fewer ranks" in told


# With real launchers.

MPIS = find_all({**clean_environment(), "HEADRACE_MPI_PATH": mpi_path()})
NAMES = ("FI_UNIVERSE_SIZE", "UCX_NUM_PPN", "OMPI_MCA_btl_sm_backing_directory")
PROGRAM = f"import os; print(*(os.environ.get(name) for name in {NAMES}))"


@pytest.fixture(params=MPIS, ids=lambda mpi: f"{mpi.kind}-{mpi.version}")
def mpi(request: pytest.FixtureRequest) -> Mpi:
    return request.param


def line_of(mpi: Mpi, ranks: int) -> list[str]:
    root = ["--allow-run-as-root"] if mpi.kind == "openmpi" and os.geteuid() == 0 else []
    room = ["--map-by", ":OVERSUBSCRIBE"] if mpi.kind == "openmpi" else []
    return [str(mpi.launcher), *root, *room, "-n", str(ranks)]


def seen_by_ranks(done: subprocess.CompletedProcess[str], ranks: int) -> list[str | None]:
    lines = [line.split() for line in done.stdout.splitlines() if len(line.split()) == len(NAMES)]
    assert done.returncode == 0 and len(lines) == ranks, (done.stdout, done.stderr)
    assert all(line == lines[0] for line in lines)
    return [None if word == "None" else word for word in lines[0]]


def test_ranks_find_the_limits(headrace: Command, mpi: Mpi) -> None:
    expected = {"mpich": ["3", "3", None], "openmpi": ["3", None, None]}
    line = [*line_of(mpi, 3), sys.executable, "-c", PROGRAM]
    done = headrace("run", *line, **runtime_environment(mpi, headrace.environ))
    found = seen_by_ranks(done, 3)
    if mpi.kind in expected:
        assert found == expected[mpi.kind]
    done = headrace("run", "--no-limits", *line, **runtime_environment(mpi, headrace.environ))
    assert mpi.kind == "intel" or seen_by_ranks(done, 3)[0] is None
    own = {"FI_UNIVERSE_SIZE": "77", **runtime_environment(mpi, headrace.environ)}
    done = headrace("run", "--explain", *line, **own)
    assert seen_by_ranks(done, 3)[0] == "77"
    if mpi.kind in expected:
        assert "headrace: FI_UNIVERSE_SIZE=77: kept as you set it" in done.stderr


def test_a_small_shared_memory_is_told_before_the_launch(headrace: Command, mpi: Mpi) -> None:
    if mpi.kind != "openmpi" or not mpi.version.startswith("5"):
        pytest.skip("only Open MPI 5 has 16 MiB for each rank there")
    if os.geteuid() != 0:
        pytest.skip("another /dev/shm needs root")
    inner = [sys.executable, "-m", "headrace", "run", *line_of(mpi, 8)]
    inner += [sys.executable, "-c", PROGRAM]
    script = f"mount -t tmpfs -o size=64m tmpfs /dev/shm && exec {shlex.join(inner)}"
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script],
        env={**headrace.environ, **runtime_environment(mpi, headrace.environ)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert seen_by_ranks(done, 8)[2] in ("/tmp", os.environ.get("TMPDIR"))
    assert "headrace: /dev/shm has 64 MiB free (Open MPI may need" in done.stderr
