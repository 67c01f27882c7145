"""How many ranks a launcher line puts on each node. What is expected here is what these launchers
did: Intel MPI 2021.18 by -print-rank-map, MPICH 5.0 by -prepend-pattern %h, Open MPI 5.0 by
--display map, on nodes of 2 cores. Where it binds more ranks than these have cores, it refuses or
goes on to the next node: what is expected of nodes of 6 cores follows from that."""

from pathlib import Path

import pytest

from headrace import machine
from headrace.errors import HeadraceError
from headrace.launch import order_choice
from headrace.launchers.families import HYDRA, OPENMPI, Family
from headrace.launchers.job_size import JobSize, job_size

INTEL = "Intel(R) MPI Library"
NODES = ("n0", "n1")
SLURM = {"SLURM_JOB_NODELIST": "n[0-1]", "SLURM_TASKS_PER_NODE": "3,1"}


@pytest.fixture(autouse=True)
def cores(monkeypatch: pytest.MonkeyPatch) -> None:
    set_cores(monkeypatch, 6)


def set_cores(monkeypatch: pytest.MonkeyPatch, cores: int) -> None:
    monkeypatch.setattr(machine, "available_cores", lambda: cores)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bare").write_text("n0\nn1\n")
    (tmp_path / "counted").write_text("n0:3\nn1:5\n")
    (tmp_path / "slots").write_text("n0 slots=6\nn1 slots=6\n")
    (tmp_path / "most").write_text("n0 max-slots=6\nn1 max-slots=6\n")
    (tmp_path / "repeated").write_text("n0\nn0\nn0\nn1\nn1\n")
    monkeypatch.chdir(tmp_path)


def sized(
    line: str, family: Family, version: str = "", environ: dict[str, str] | None = None
) -> JobSize:
    return job_size(line.split(), family, environ or {}, version)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        ("-n 8 --hostfile slots", (6, 2)),
        ("--hostfile repeated", (3, 2)),
        ("-n 8 --map-by slot --host n0:6,n1:6", (6, 2)),
        ("-n 8 --map-by core --host n0:6,n1:6", (6, 2)),
        ("-n 8 --map-by slot:OVERSUBSCRIBE --host n0:6,n1:6", (6, 2)),
        ("-n 8 --map-by slot --oversubscribe --host n0:6,n1:6", (6, 2)),
        ("-n 4 --map-by ppr:2:node:OVERSUBSCRIBE --host n0:1,n1:1", (2, 2)),
        ("-n 8 --rank-by node --host n0:6,n1:6", (6, 2)),
        ("-n 8 --map-by node --host n0:6,n1:6", (4, 4)),
        ("-n 5 --bynode --host n0:6,n1:6", (3, 2)),
        ("-n 4 --map-by node --host n0:3,n1:1", (3, 1)),
        ("-n 4 --host n0:2 --host n1:2", (2, 2)),
        ("-pernode --host n0:8,n1:8", (1, 1)),
        ("-npernode 2 --host n0:8,n1:8", (2, 2)),
        ("-n 3 -N 2 --host n0:8,n1:8", (2, 1)),
        ("--map-by ppr:1:node --hostfile bare", (1, 1)),
        ("-n 3 --map-by PPR:2:NODE:PE=2 --hostfile bare", (2, 1)),
    ],
)
def test_open_mpi_fills_nodes_or_deals_to_them(options: str, sizes: tuple[int, ...]) -> None:
    assert sized(f"mpirun {options} x", OPENMPI) == JobSize(sum(sizes), NODES, sizes)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "options",
    [
        "--hostfile bare",  # as many as the nodes have cores
        "--hostfile most",
        "--hostfile slots --host n1",
        "--map-by core:SPAN --host n0:6,n1:6",
        "--map-by :OVERSUBSCRIBE --host n0:8,n1:8",  # all on the first node
        "--oversubscribe --host n0:8,n1:8",
        "--map-by ppr:2:package --host n0:8,n1:8",
        "--map-by package --host n0:8,n1:8",
        "--map-by rankfile:file=f --host n0:8,n1:8",
        "-npersocket 2 --host n0:8,n1:8",
        "--rankfile f --host n0:8,n1:8",
        "--nolocal --host n0:8,n1:8",
    ],
)
def test_open_mpi_may_decide_by_cores_and_files(options: str) -> None:
    found = sized(f"mpirun -n 8 {options} x", OPENMPI)
    assert (found.ranks, found.sizes) == (8, ())
    assert found.hosts == NODES  # so nobody takes it for a job of this node
    assert sized(f"mpirun {options} x", OPENMPI).ranks == 0


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "options",
    [
        "-n 2 --map-by slot:PE=2 --host n0:2,n1:2",
        "-n 2 --map-by :PE=2 --host n0:2,n1:2",
        "-n 4 --hostfile slots",
        "-n 3 --map-by hwthread --host n0:4,n1:4",
        "-n 4 --use-hwthread-cpus --host n0:4,n1:4",
        "-n 4 --map-by slot --bind-to core --host n0:4,n1:4",
        "-n 4 --host n0:*,n1:*",
    ],
)
def test_open_mpi_binds_no_more_ranks_than_a_node_has_cores(
    options: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It then puts the others on the next node: no node is left out, and no counts are known."""
    set_cores(monkeypatch, 2)
    found = sized(f"mpirun {options} x", OPENMPI)
    assert (found.hosts, found.sizes) == (NODES, ())


def test_open_mpi_binds_ranks_of_slurm_to_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    set_cores(monkeypatch, 2)
    slurm = {**SLURM, "SLURM_TASKS_PER_NODE": "4(x2)"}
    assert sized("mpirun -n 4 x", OPENMPI, environ=slurm) == JobSize(4, NODES)
    assert sized("mpirun x", OPENMPI, environ=slurm) == JobSize(8, NODES, (4, 4))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "options",
    ["--bind-to none --hostfile slots", "--map-by slot --hostfile slots", "-N 4 --hostfile slots"],
)
def test_open_mpi_goes_by_slots_if_it_binds_none(
    options: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_cores(monkeypatch, 2)
    assert sized(f"mpirun -n 4 {options} x", OPENMPI) == JobSize(4, ("n0",), (4,))


def test_hosts_with_as_many_ranks_as_cores_tell_no_number() -> None:
    assert sized("mpirun --host n0:*,n1:* x", OPENMPI) == JobSize()


def test_open_mpi_exceeds_slots_by_rules_of_its_own() -> None:
    line = "mpirun -n 5 --map-by slot:OVERSUBSCRIBE --host n0:2,n1:2 x"
    assert sized(line, OPENMPI) == JobSize(5, NODES)
    one = "mpirun -n 5 --oversubscribe --host n0:2 x"
    assert sized(one, OPENMPI) == JobSize(5, ("n0",), (5,))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        ("-hosts n0,n1 -ppn 2 -n 8", (4, 4)),
        ("-hosts n0,n1 -ppn 3", (3, 3)),
        ("-f counted -ppn 2 -n 8", (4, 4)),
        ("-f bare -grr 3 -n 8", (5, 3)),
        ("-f bare -rr -n 8", (4, 4)),
        ("-hosts-group n[0-1] -ppn 2 -n 4", (2, 2)),
        ("-machinefile counted -n 8", (3, 5)),
        ("-machinefile counted -ppn 1", (3, 5)),
        ("-machinefile bare -n 8", (4, 4)),
    ],
)
def test_intel_takes_counts_from_a_machine_file_or_one_for_all(
    options: str, sizes: tuple[int, ...]
) -> None:
    assert sized(f"mpiexec {options} x", HYDRA, INTEL) == JobSize(sum(sizes), NODES, sizes)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "options",
    [
        "-hosts n0,n1",
        "-hosts n0:3,n1:5",
        "-f counted",
        "-hosts n0,n0,n1 -ppn 1",
        "-host n0 -host n1",
    ],
)
def test_intel_fills_the_cores_of_nodes_without_a_count(options: str) -> None:
    assert sized(f"mpiexec {options} -n 8 x", HYDRA, INTEL) == JobSize(8, NODES)


@pytest.mark.usefixtures("folder")
def test_intel_has_variables_of_its_own() -> None:
    line = "mpiexec -n 4 x"
    places = {"I_MPI_HYDRA_HOST_FILE": "bare"} | SLURM | {"SLURM_JOB_NODELIST": "m[0-1]"}
    even = JobSize(4, NODES, (2, 2))
    assert sized(line, HYDRA, INTEL, places) == JobSize(4, NODES)
    assert sized(line, HYDRA, INTEL, places | {"I_MPI_PERHOST": "all"}) == JobSize(4, NODES)
    assert sized(line, HYDRA, INTEL, places | {"I_MPI_PERHOST": "1"}) == even
    group = {"I_MPI_HYDRA_HOSTS_GROUP": "n[0-1]", "I_MPI_PERHOST": "1"}
    assert sized(line, HYDRA, INTEL, group) == even
    assert sized(line, HYDRA, INTEL, SLURM) == JobSize(4, NODES, (3, 1))
    assert sized("mpiexec -n 4 -ppn 1 x", HYDRA, INTEL, SLURM) == even
    # MPICH reads none of them.
    assert sized(line, HYDRA, environ=SLURM | {"I_MPI_PERHOST": "1"}).sizes == (3, 1)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        ("-hosts n0,n1 -n 8", (4, 4)),
        ("-hosts n0:3,n1:5 -ppn 2 -n 8", (4, 4)),
        ("-hosts n0,n0,n1 -ppn 1 -n 4", (2, 2)),
        ("-f counted", (3, 5)),
        ("-f counted -n 10", (5, 5)),
        ("-f bare", (1, 1)),
    ],
)
def test_mpich_takes_counts_and_begins_anew(options: str, sizes: tuple[int, ...]) -> None:
    assert sized(f"mpiexec {options} x", HYDRA) == JobSize(sum(sizes), NODES, sizes)


@pytest.mark.parametrize(
    ("line", "family"),
    [
        ("mpiexec -n 2 -host n0 ./a : -n 2 -host n1 ./b", HYDRA),
        ("mpirun -n 2 --host n0:2 ./a : -n 2 --host n1:2 ./b", OPENMPI),
    ],
)
def test_nodes_of_several_programs_are_not_those_of_the_first(line: str, family: Family) -> None:
    for version in ("", INTEL):
        assert sized(line, family, version) == JobSize(4, NODES)


def test_an_order_needs_the_ranks_of_each_node(tmp_path: Path) -> None:
    size = sized("mpiexec -n 8 -hosts n0,n1 x", HYDRA, INTEL)
    with pytest.raises(
        HeadraceError, match=r"the ranks of each.*for Intel MPI -ppn 4, or -machine"
    ):
        order_choice.wanted("0", "", tmp_path, size)
