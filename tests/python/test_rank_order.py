"""Rank orders on launcher lines: the size of a job, and what each launcher is given."""

import os
from pathlib import Path

import numpy as np
import pytest
from record_support import Job

from headrace.errors import HeadraceError
from headrace.launch import order_choice, rank_order
from headrace.launch.ordered_line import Ordered
from headrace.launch.rank_order import rank_map
from headrace.launchers.families import ALPS, HYDRA, INHERIT, OPENMPI, PALS, SLURM, Family
from headrace.launchers.job_size import JobSize, job_size, nodes_named
from headrace.launchers.slurm import expanded
from headrace.place import order_file, orders

REVERSED = np.arange(7, -1, -1)
NODES = JobSize(8, ("n0", "n1", "n2"), (2, 4, 2))
WITH_RANKMAP = "HYDRA build details\n -rankmap {rank map}"
OLD_HYDRA = "HYDRA build details"
INTEL = "Intel(R) MPI Library"


def sized(line: str, family: Family, environ: dict[str, str] | None = None) -> JobSize:
    return job_size(line.split(), family, environ or {})


@pytest.mark.parametrize(
    ("line", "family", "hosts", "sizes"),
    [
        ("mpiexec -hosts a,b -ppn 2 -n 4 x", HYDRA, ("a", "b"), (2, 2)),
        ("mpiexec -hosts a:3,b:1 -n 4 x", HYDRA, ("a", "b"), (3, 1)),
        ("mpiexec -hosts a,b -n 5 x", HYDRA, ("a", "b"), (3, 2)),
        ("mpiexec -hosts a,b,c -ppn 2 -n 3 x", HYDRA, ("a", "b"), (2, 1)),
        ("mpiexec -hosts a,b -ppn 2 -n 1 x : -n 3 y", HYDRA, ("a", "b"), (2, 2)),
        ("mpirun --host a:2,b:2 -n 4 x", OPENMPI, ("a", "b"), (2, 2)),
        ("mpirun -H a,a,b,a -n 4 x", OPENMPI, ("a", "b"), (3, 1)),
        ("mpirun -H a,b --map-by ppr:3:node x", OPENMPI, ("a", "b"), (3, 3)),
        ("mpirun -H a,b -N 2 -np 4 x", OPENMPI, ("a", "b"), (2, 2)),
        ("aprun -n 5 -N 2 x", ALPS, ("", "", ""), (2, 2, 1)),
        ("mpiexec -n 5 --ppn 2 --cpu-bind none x", PALS, ("", "", ""), (2, 2, 1)),
    ],
)
def test_the_size_of_a_job(
    line: str, family: Family, hosts: tuple[str, ...], sizes: tuple[int, ...]
) -> None:
    assert sized(line, family) == JobSize(sum(sizes), hosts, sizes)


@pytest.mark.parametrize(
    ("line", "family", "nodes"),
    [
        ("srun -N 4 -n 16", SLURM, 4),
        ("srun --nodes=2-8 app", SLURM, 2),
        ("srun -N3 -w n[0-2]", SLURM, 3),
        ("srun -N 1 -N 4 -n 16", SLURM, 4),
        ("srun --nodelist n[0-2],m1 -n 4", SLURM, 4),
        ("srun -n 16", SLURM, 0),
        ("mpiexec -hosts a,b -ppn 2 -n 4", HYDRA, 2),
        ("mpiexec -n 4 app", HYDRA, 0),
        ("mpirun --host a:2,b:2 -n 4", OPENMPI, 2),
    ],
)
def test_a_line_names_its_nodes(line: str, family: Family, nodes: int) -> None:
    assert nodes_named(line.split(), family) == nodes


def test_a_host_file_names_its_nodes(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("a:2\nb:2\nc:2\n")
    assert nodes_named(["mpiexec", "-f", str(tmp_path / "hosts"), "-n", "2"], HYDRA) == 3


def test_schedulers_tell_the_nodes(tmp_path: Path) -> None:
    slurm = {"SLURM_JOB_NODELIST": "n[01-03],m", "SLURM_TASKS_PER_NODE": "2(x3),1"}
    expected = JobSize(7, ("n01", "n02", "n03", "m"), (2, 2, 2, 1))
    assert sized("srun -n 7 x", SLURM, slurm) == expected
    assert sized("srun x", SLURM, slurm | {"SLURM_NTASKS": "7"}) == expected
    assert sized("mpiexec -n 7 x", HYDRA, slurm) == expected
    nodes = tmp_path / "nodes"
    nodes.write_text("a\na\nb\nb\n")
    pbs = {"PBS_NODEFILE": str(nodes)}
    assert sized("mpiexec -n 4 x", HYDRA, pbs) == JobSize(4, ("a", "b"), (2, 2))
    lsf = {"LSB_MCPU_HOSTS": "a 3 b 1"}
    assert sized("mpiexec -n 4 x", HYDRA, lsf) == JobSize(4, ("a", "b"), (3, 1))


@pytest.mark.parametrize(
    ("line", "sizes"),
    [
        ("srun x", (3, 1, 2, 2)),
        ("srun -n 5 x", (2, 1, 1, 1)),
        ("srun -n 7 x", (2, 1, 2, 2)),
        ("srun -n 10 -O x", (4, 2, 2, 2)),
        ("srun -n 3000 -O x", (751, 749, 750, 750)),
        ("srun -n 3 -N 1 x", (3,)),
        ("srun -n 3 -N 2 x", ()),  # which two, Slurm says
        ("srun -n 3 -N 2 -w a1,a3 x", (1, 2)),
        ("srun -n 4 -m plane=2 x", ()),
        ("srun -n 2 x : -n 2 y", ()),
    ],
)
def test_slurm_deals_tasks_to_nodes(line: str, sizes: tuple[int, ...]) -> None:
    """The first five as srun of Slurm 22.05 did it."""
    cpus = "3,1,2(x2)"
    allocation = {"SLURM_JOB_NODELIST": "a[0-3]", "SLURM_NTASKS": "8", "SLURM_JOB_NUM_NODES": "4"}
    allocation |= {"SLURM_JOB_CPUS_PER_NODE": cpus, "SLURM_TASKS_PER_NODE": cpus}
    assert sized(line, SLURM, allocation).sizes == sizes


def test_tasks_of_a_line_without_a_count() -> None:
    """As many as nodes; CPUS_PER_NODE is what a whole node has."""
    slurm = {"SLURM_JOB_NODELIST": "a[0-1]", "SLURM_JOB_NUM_NODES": "2"}
    slurm |= {"SLURM_JOB_CPUS_PER_NODE": "128(x2)", "SLURM_TASKS_PER_NODE": "128(x2)"}
    assert sized("srun x", SLURM, slurm) == JobSize(2, ("a0", "a1"), (1, 1))
    assert sized("srun --ntasks-per-node=8 x", SLURM, slurm) == JobSize(16, ("a0", "a1"), (8, 8))
    assert sized("srun -c 4 x", SLURM, slurm) == JobSize(0)
    assert sized("srun -N 1 x", SLURM, {}) == JobSize(1, ("",), (1,))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n1", ["n1"]),
        ("n[1-2,07],m3", ["n1", "n2", "n07", "m3"]),
        ("n[08-11]-ib", ["n08-ib", "n09-ib", "n10-ib", "n11-ib"]),
        ("n[x-2]", []),
        ("n[\u00b2]", []),
        (f"n[{'9' * 5000}]", []),
        ("n[0-1],[", []),
        ("n[0-1]a[2]", []),
        ("[" * 100_000, []),
        ("", []),
    ],
)
def test_lists_of_slurm(text: str, expected: list[str]) -> None:
    assert expanded(text) == expected


def test_lists_that_name_too_many_nodes_are_an_error() -> None:
    for text in ("n[0-99999999999]", ",".join(["n[0-9999999]"] * 2)):
        with pytest.raises(HeadraceError, match="makes more than"):
            expanded(text)


def test_a_program_without_a_count_leaves_the_size_unknown() -> None:
    assert sized("mpiexec -hosts a,b -n 2 x : y", HYDRA) == JobSize()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n0:2\n# n9\n\nn1:2 binding=user\n", (2, 2)),
        ("n0 slots=2 max_slots=4\nn1 slots=2\n", (2, 2)),
        ("n0:2\nn1\nn1\n", (2, 2)),
    ],
)
def test_host_files(text: str, expected: tuple[int, ...], tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text(text)
    assert sized(f"mpiexec -f {path} -n 4 x", HYDRA).sizes == expected


def test_hosts_that_are_named_apart_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("n0:1\nn1:1\n\nn0:1\n")
    with pytest.raises(HeadraceError, match=r"line 4 names 'n0' again .*line 1 has it"):
        sized(f"mpiexec -f {path} -n 3 x", HYDRA)
    assert sized(f"mpirun --hostfile {path} -n 3 x", OPENMPI).sizes == (2, 1)
    path.write_text("n0:1\n=2\n")
    with pytest.raises(HeadraceError, match="line 2 has '=2'"):
        sized(f"mpiexec -f {path} -n 3 x", HYDRA)


def applied(
    line: str,
    family: Family,
    order: np.ndarray = REVERSED,
    version: str = WITH_RANKMAP,
    environ: dict[str, str] | None = None,
) -> Ordered:
    return rank_order.apply(
        line.split(),
        family,
        order,
        NODES,
        version=version,
        folder=Path("/orders"),
        environ=environ or {},
    )


def test_hydra_gets_the_node_of_each_rank() -> None:
    found = applied("mpiexec -f hosts -n 8 ./x -f", HYDRA)
    assert " ".join(found.line) == "mpiexec -rankmap (2,1,2),(1,1,4),(0,1,2) -f hosts -n 8 ./x -f"
    assert found.file is None


@pytest.mark.parametrize("seed", range(20))
def test_rank_maps_are_read_back(seed: int) -> None:
    generator = np.random.default_rng(seed)
    order = orders.numbered("012"[seed % 3], [3, 3, 3, 2])
    if seed > 2:
        order = generator.permutation(order)
    nodes = orders.nodes(order, [3, 3, 3, 2]).tolist()
    assert read_rank_map(rank_map(nodes)) == nodes


def read_rank_map(text: str) -> list[int]:
    """By hydra's own words: node ids, or (start_id, num_nodes, num_ranks)."""
    found: list[int] = []
    for word in text.replace("),", ") ").replace(",(", " (").split():
        if word.startswith("("):
            start, nodes, ranks = map(int, word.strip("()").split(","))
            found += [start + node for node in range(nodes) for _ in range(ranks)]
        else:
            found += map(int, word.split(","))
    return found


def test_intel_gets_a_machine_file() -> None:
    found = applied("mpiexec -f hosts -ppn 3 -n 8 ./x", HYDRA, version=INTEL)
    path, text = found.file
    assert found.line == ["mpiexec", "-machinefile", str(path), "-n", "8", "./x"]
    assert text == "n2:2\nn1:4\nn0:2\n"


def test_openmpi_gets_hosts_in_sequence() -> None:
    found = applied("mpirun --hostfile h --map-by ppr:2:node:OVERSUBSCRIBE -n 8 ./x", OPENMPI)
    path, text = found.file
    expected = ["--hostfile", str(path), "--map-by", "seq:OVERSUBSCRIBE", "-n", "8", "./x"]
    assert found.line[1:] == expected
    assert text.split() == ["n2", "n2", "n1", "n1", "n1", "n1", "n0", "n0"]


def test_openmpi_gets_nothing_that_seq_does_not_have() -> None:
    for value in ("node:PE=4", "ppr:2:node:PE=2:OVERSUBSCRIBE", "slot:ORDERED"):
        with pytest.raises(HeadraceError, match=f"{value} takes no rank order .* has no"):
            applied(f"mpirun --map-by {value} -n 8 ./x", OPENMPI)
    found = applied("mpirun --map-by ppr:2:node:OVERSUBSCRIBE:hwtcpus -n 8 ./x", OPENMPI)
    assert found.line[3:5] == ["--map-by", "seq:OVERSUBSCRIBE:hwtcpus"]
    found = applied("mpirun -pernode --bynode --rank-by slot -H a -H b -n 8 ./x", OPENMPI)
    assert found.line[3:] == ["--map-by", "seq", "-n", "8", "./x"]


def test_slurm_gets_a_host_file() -> None:
    found = applied("srun -n 8 -m block ./x", SLURM)
    path, text = found.file
    assert found.line == ["srun", "-m", "arbitrary", "-n", "8", "./x"]
    together = applied("srun -n8 -lvm block ./x", SLURM)
    assert together.line == ["srun", "-m", "arbitrary", "-n8", "-lv", "./x"]
    assert found.variables == {"SLURM_HOSTFILE": str(path)}
    # Slurm reads names with commas or new lines between them; repeated, or as name*count.
    assert text.replace(",", "\n").split() == [
        NODES.hosts[node] for node in orders.nodes(REVERSED, NODES.sizes)
    ]


@pytest.mark.parametrize(
    ("family", "environ"), [(ALPS, {}), (PALS, {}), (SLURM, {"CRAY_MPICH_VERSION": "8.1"})]
)
def test_crays_mpi_gets_the_order_itself(family: Family, environ: dict[str, str]) -> None:
    found = applied("aprun -n 8 ./x", family, environ=environ)
    path, text = found.file
    assert found.line == ["aprun", "-n", "8", "./x"]
    assert found.variables == {
        "MPICH_RANK_REORDER_METHOD": "3",
        "MPICH_RANK_REORDER_FILE": str(path),
    }
    assert order_file.parse(text).tolist() == REVERSED.tolist()
    folded = applied("aprun -n 8 ./x", family, orders.numbered("2", NODES.sizes), environ=environ)
    assert (folded.variables, folded.file) == ({"MPICH_RANK_REORDER_METHOD": "2"}, None)


@pytest.mark.parametrize(
    ("line", "family", "version", "expected"),
    [
        ("mpiexec -n 8 x", HYDRA, OLD_HYDRA, "has no option -rankmap"),
        ("launch -n 8 x", INHERIT, "", "knows no option of it"),
        ("mpirun -n 4 x : -n 4 y", OPENMPI, "", "for several programs"),
        ("srun -n 4 x : -n 4 y", SLURM, "", "for several programs"),
    ],
)
def test_launchers_that_take_no_order(
    line: str, family: Family, version: str, expected: str
) -> None:
    with pytest.raises(HeadraceError, match=expected):
        applied(line, family, version=version)


def test_what_is_told_before_the_run() -> None:
    assert rank_order.told(REVERSED, NODES) == [
        "n0: ranks 7,6",
        "n1: ranks 5-2",
        "n2: ranks 1,0",
    ]
    many = JobSize(200, ("n",) * 100, (2,) * 100)
    assert rank_order.told(np.arange(200), many)[-1] == "and 36 more nodes"


def test_orders_need_nodes(tmp_path: Path) -> None:
    with pytest.raises(HeadraceError, match="tells the nodes"):
        order_choice.wanted("0", "", tmp_path, JobSize(8))
    with pytest.raises(HeadraceError, match="has no record of a run with 8 ranks"):
        order_choice.wanted("auto", "", tmp_path, NODES)
    with pytest.raises(HeadraceError, match="none of 0, 1, 2, 3 and auto, and no file"):
        order_choice.wanted("7", "", tmp_path, NODES)
    (tmp_path / "order").write_text("0-6\n")
    with pytest.raises(HeadraceError, match="line 1, the last, is reached without rank 7"):
        order_choice.wanted("3", str(tmp_path / "order"), tmp_path, NODES)


def recorded(folder: Path, ranks: int, name: str) -> Path:
    """The record of a ring whose neighbours are four apart, two ranks a node."""
    job = Job(facts={"ranks": str(ranks)})
    for first in range(0, ranks, 2):
        node = job.node()
        for rank in (first, first + 1):
            node.add("ranks", rank=rank, host=f"n{node.number}", state=1)
            node.add("matrix", rank=rank, peer=(rank + 4) % ranks, messages=1, sent=100)
    return job.write(folder, name)


def test_auto_takes_the_newest_record_of_as_many_ranks(tmp_path: Path) -> None:
    size = JobSize(8, ("n0", "n1", "n2", "n3"), (2, 2, 2, 2))
    recorded(tmp_path, 6, "app.2.6p3n.20261128T101500.hrc")
    path = recorded(tmp_path, 8, "app.1.8p4n.20261128T101400.hrc")
    found = order_choice.wanted("auto", "", tmp_path, size)
    nodes = orders.nodes(found.order, size.sizes)
    assert all(nodes[rank] == nodes[rank + 4] for rank in range(4))
    assert path.name in found.why and "100.0 % less" in found.why
    named = order_choice.wanted(str(path), "", tmp_path, size)
    assert named.order.tolist() == found.order.tolist()
    with pytest.raises(HeadraceError, match="its run had 8 ranks, and the job has 4"):
        order_choice.wanted(str(path), "", tmp_path, JobSize(4, ("n0", "n1"), (2, 2)))


def test_auto_leaves_a_record_out_that_cannot_be_read(tmp_path: Path) -> None:
    size = JobSize(8, ("n0", "n1", "n2", "n3"), (2, 2, 2, 2))
    good = recorded(tmp_path, 8, "app.1.8p4n.20261128T101400.hrc")
    cut = tmp_path / "app.2.8p4n.20261128T101500.hrc"
    cut.write_bytes(good.read_bytes()[:40])
    os.utime(good, (1, 1))
    found = order_choice.wanted("auto", "", tmp_path, size)
    assert found.order is not None
    assert f"'{good}'" in found.why and f"'{cut}' is left out (" in found.why
    good.unlink()
    with pytest.raises(HeadraceError, match=r"app\.2"):
        order_choice.wanted("auto", "", tmp_path, size)


def test_an_order_that_gains_little_is_not_applied(tmp_path: Path) -> None:
    job = Job(facts={"ranks": "4"})
    node = job.node()
    for rank in range(4):
        node.add("ranks", rank=rank, host="n0", state=1)
        node.add("matrix", rank=rank, peer=rank ^ 1, messages=1, sent=100)
    path = job.write(tmp_path)
    found = order_choice.wanted(str(path), "", tmp_path, JobSize(4, ("n0", "n1"), (2, 2)))
    assert found.order is None
    assert "ranks stay as they are" in found.why
