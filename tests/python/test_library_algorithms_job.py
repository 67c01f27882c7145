"""Which of the MPI libraries' own algorithms a job gets by a table, and what keeps them from it."""

import tomllib

import pytest

from headrace.algorithms.decision import Decided, Job, decide
from headrace.algorithms.knob import Choice
from headrace.algorithms.standing import hidden, said
from headrace.algorithms.table import Section, Table, table_of
from headrace.algorithms.variables import library_named

TABLE = table_of(
    tomllib.loads(
        """
[intel.one.library.4]
version = "2021.18"
bcast = "preset_3 0-511 1.5, preset_8 512-2147483647 0.99"
allreduce = "preset_2 0-0 1.1"
[openmpi.one.library.2]
version = "5.0.11"
bcast = "chain 1-512 1.5"
"""
    )
)
JOB = Job("intel", "2021.18", 4, True)


def decided(
    environ: dict[str, str] | None = None,
    line: str = "",
    files: dict[str, str] | None = None,
    job: Job = JOB,
    keeps_order: bool = False,
) -> Decided:
    names = []
    if job.library:
        names = said(library_named(job.library), environ or {}, line.split(), files or {})
    return decide(job, TABLE, names, keeps_order)


def test_a_job_as_it_was_measured_gets_all() -> None:
    found = decided({"PATH": "/bin", "I_MPI_FABRICS": "shm"}, "mpiexec -genv A B -n 4")
    assert not found.obstacle
    assert {one.operation for one in found.taken} == {"bcast", "allreduce"}


@pytest.mark.parametrize(
    ("job", "why"),
    [
        (Job("", "2021.18", 4, True), "not known"),
        (Job("intel", "2021.18", 0, True), "not known"),
        (Job("intel", "2021.18", 4, False), "one node"),
        (Job("intel", "2021.18", 2, True), "4 ranks of it were measured, not 2"),
        (Job("openmpi", "5.0.11", 4, True), "2 ranks of it were measured, not 4"),
        (Job("intel", "2021.17", 4, True), "2021.18 of intel was measured, and this is 2021.17"),
        (Job("intel", "", 4, True), "this is unknown"),
    ],
)
def test_another_job_gets_nothing(job: Job, why: str) -> None:
    found = decided(job=job)
    assert why in found.obstacle and not found.taken


@pytest.mark.parametrize(
    ("environ", "line", "files", "left"),
    [
        ({"I_MPI_ADJUST_BCAST": "1"}, "", {}, {"allreduce"}),
        ({"I_MPI_ADJUST_BCAST_NODE": "1"}, "", {}, {"allreduce"}),
        ({"I_MPI_ADJUST_BCAST": ""}, "", {}, {"allreduce"}),
        ({}, "mpiexec -genv I_MPI_ADJUST_BCAST 3 -n 4", {}, {"allreduce"}),
        ({}, "mpiexec -genv I_MPI_ADJUST_BCAST=3 -n 4", {}, {"allreduce"}),
        ({}, "srun --export=ALL,I_MPI_ADJUST_BCAST=3 -n 4", {}, {"allreduce"}),
        ({}, "", {"/c": "-genv I_MPI_ADJUST_BCAST 3"}, {"allreduce"}),
        ({}, "", {"/c": "# -genv I_MPI_ADJUST_BCAST 3"}, {"allreduce", "bcast"}),
        ({"I_MPI_ADJUST_BARRIER": "1"}, "", {}, {"allreduce", "bcast"}),
        ({"I_MPI_TUNING_BIN": "/x"}, "", {}, set()),
        ({"I_MPI_ADJUST_FAILURE_ON_COLL_FALLBACK": "1"}, "", {}, set()),
    ],
)
def test_what_the_user_sets_stands(
    environ: dict[str, str], line: str, files: dict[str, str], left: set[str]
) -> None:
    found = decided(environ, line, files)
    assert {one.operation for one in found.taken} == left
    reasons = [found.obstacle, *(one.why for one in found.decisions)]
    if left != {"allreduce", "bcast"}:
        assert any("you set I_MPI_" in why for why in reasons)


def test_the_order_of_sums_can_be_kept() -> None:
    assert {one.operation for one in decided(keeps_order=True).taken} == {"bcast"}


@pytest.mark.parametrize(
    ("library", "environ", "line", "files"),
    [
        ("mpich", {"MPICH_ALLGATHER_INTRA_ALGORITHM": "ring"}, "", {}),
        ("mpich", {"MPIR_PARAM_ALLGATHER_DEVICE_COLLECTIVE": "1"}, "", {}),
        ("mpich", {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": "/x"}, "", {}),
        ("mpich", {"MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE": "/x"}, "", {}),
        ("mpich", {"MPIR_CVAR_COLLECTIVE_FALLBACK": "error"}, "", {}),
        ("mpich", {"MPIR_CVAR_DEVICE_COLLECTIVES": "none"}, "", {}),
        ("openmpi", {"OMPI_MCA_coll": "^han"}, "", {}),
        ("openmpi", {"OMPI_MCA_coll_han_priority": "0"}, "", {}),
        ("openmpi", {"OMPI_MCA_mca_base_param_files": "/x"}, "", {}),
        ("openmpi", {}, "mpirun --mca coll_tuned_bcast_algorithm 1 -n 2", {}),
        ("openmpi", {}, "mpirun -mca coll basic,libnbc -n 2", {}),
        ("openmpi", {}, "mpirun -x OMPI_MCA_coll_tuned_priority=5 -n 2", {}),
        ("openmpi", {}, "", {"/etc/mca": "coll_tuned_use_dynamic_rules = 1"}),
    ],
)
def test_the_users_way_stands_by_whichever_name(
    library: str, environ: dict[str, str], line: str, files: dict[str, str]
) -> None:
    table = Table({(library, 2): Section("1", (Choice("allgather", "ring", 0, 0, 1.5),))})
    job = Job(library, "1", 2, True)
    of = library_named(library)
    assert decide(job, table, said(of, {"OMPI_MCA_btl": "self"}, (), {}), False).taken
    names = said(of, environ, line.split(), files)
    assert not decide(job, table, names, False).taken


@pytest.mark.parametrize("option", ["-configfile", "--tune", "-tune", "--am", "--app"])
def test_a_file_of_options_may_set_anything(option: str) -> None:
    assert hidden(["-n", option]) == option
    assert not hidden(["-n", "--mca"])
