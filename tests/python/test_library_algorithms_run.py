"""`headrace run` sets the algorithms that a table has, and never over the user's own."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_support import Command, FakeLauncher

VERSIONS = {
    "mpich": "HYDRA build details:\n    Version:   5.0.2\n",
    "intel": "Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20260626\n",
    "openmpi": "mpirun (Open MPI) 5.0.11\n",
}
TABLE = """
[mpich.one.library.2]
version = "5.0.2"
allgather = "ring 0-0 1.2"
allreduce = "recursive_doubling 0-0 1.1"
[intel.one.library.2]
version = "2021.18.1"
bcast = "preset_3 0-511 1.5, preset_8 512-2147483647 1.02"
[openmpi.one.library.2]
version = "5.0.11"
bcast = "knomial 4096-65536 1.2"
allgather = "ring 0-0 1.1"
"""
# What a line gives its ranks, by the launcher's own option; Open MPI's file apart.
SET = {
    "mpich": {
        "MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM": "ring",
        "MPIR_CVAR_ALLGATHER_DEVICE_COLLECTIVE": "0",
        "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM": "recursive_doubling",
        "MPIR_CVAR_ALLREDUCE_DEVICE_COLLECTIVE": "0",
    },
    "intel": {"I_MPI_ADJUST_BCAST": "3:0-511;8:512-2147483647"},
    "openmpi": {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_allgather_algorithm": "4",
    },
}
RULES = "OMPI_MCA_coll_tuned_dynamic_rules_filename"
PREFIXES = ("MPIR_CVAR_", "I_MPI_ADJUST_", "OMPI_MCA_coll")
Run = Callable[..., tuple[dict[str, str], str]]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.toml"
    path.write_text(TABLE)
    return path


@pytest.fixture
def run(
    headrace: Command, make_launcher: Callable[..., FakeLauncher], table: Path, tmp_path: Path
) -> Run:
    """Runs a launcher's line as it would be executed. Returns the library's variables that its
    ranks get, and what was said."""

    def run_line(kind: str, *words: str, ranks: int = 2, options=(), **variables: str):
        launcher = make_launcher("mpirun", VERSIONS[kind])
        own = {
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "HOME": str(tmp_path),
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "HEADRACE_COLL_TABLE": str(table),
            **variables,
        }
        line = [launcher.path, *words, "-n", str(ranks), "true"]
        done = headrace("run", "--dry-run", *options, *line, **own)
        assert done.returncode == 0, done.stderr
        return shown_to_ranks(done.stdout), done.stderr

    return run_line


def shown_to_ranks(line: str) -> dict[str, str]:
    """The assignments of a line's launcher: -genv NAME VALUE, -x NAME=VALUE."""
    words = shlex.split(line)
    pairs = [one.partition("=")[::2] for one in words if "=" in one]
    pairs += [(words[i + 1], words[i + 2]) for i, one in enumerate(words) if one == "-genv"]
    return {name: value for name, value in pairs if name.startswith(PREFIXES)}


@pytest.mark.parametrize("kind", VERSIONS)
def test_a_line_gets_what_the_table_has(run: Run, kind: str, table: Path) -> None:
    found, said = run(kind)
    rules = found.pop(RULES, "")
    assert found == SET[kind]
    assert bool(rules) == (kind == "openmpi")
    if rules:
        assert Path(rules).read_text().split()[:4] == ["1", "7", "3", "0"]
    for name, value in SET[kind].items():
        assert f"headrace: {name}={value}: '{table}' has it of 2 ranks on one node, {kind}" in said


@pytest.mark.parametrize("kind", VERSIONS)
@pytest.mark.parametrize(
    ("options", "variables"),
    [
        (("--set", "COLL_LIBRARY=0"), {}),
        ((), {"HEADRACE_COLL_LIBRARY": "0"}),
        ((), {"HEADRACE_DISABLE": "1"}),
        ((), {"HEADRACE_COLL_TABLE": ""}),
    ],
)
def test_it_can_be_turned_off(
    run: Run, kind: str, options: tuple[str, ...], variables: dict[str, str]
) -> None:
    found, said = run(kind, options=options, **variables)
    assert not found and "one node" not in said


@pytest.mark.parametrize("kind", VERSIONS)
def test_other_jobs_are_left_alone(run: Run, kind: str) -> None:
    found, said = run(kind, ranks=3)
    assert not found and "2 ranks of it were measured, not 3" in said
    hosts = ("--host", "a:1,b:1") if kind == "openmpi" else ("-hosts", "a,b")
    found, said = run(kind, *hosts)
    assert not found and "the table is of one node" in said
    found, said = run(kind, SLURM_JOB_ID="7", SLURM_JOB_NODELIST="n[1-2]")
    assert not found and "the table is of one node" in said


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("intel", "I_MPI_HYDRA_HOST_FILE"),
        ("openmpi", "PRTE_MCA_prte_default_hostfile"),
        ("mpich", "PBS_NODEFILE"),
    ],
)
def test_nodes_may_be_named_elsewhere(run: Run, kind: str, name: str, tmp_path: Path) -> None:
    nodes = tmp_path / "nodes"
    nodes.write_text("a\nb\n")
    found, said = run(kind, **{name: str(nodes)})
    assert not found and "the table is of one node" in said


@pytest.mark.parametrize("kind", VERSIONS)
def test_one_named_node_is_one_node(run: Run, kind: str) -> None:
    found, _ = run(kind, *(("--host", "a:2") if kind == "openmpi" else ("-hosts", "a")))
    assert set(SET[kind]) <= set(found)


def test_another_version_is_left_alone(run: Run, table: Path) -> None:
    table.write_text(TABLE.replace("5.0.2", "5.0.1"))
    found, said = run("mpich")
    assert not found and "5.0.1 of mpich was measured, and this is 5.0.2" in said


@pytest.mark.parametrize(
    ("kind", "words", "variables"),
    [
        ("mpich", ("-genv", "MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM", "brucks"), {}),
        ("mpich", ("-genv", "MPICH_ALLGATHER_INTRA_ALGORITHM=brucks"), {}),
        ("mpich", (), {"MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM": "brucks"}),
    ],
)
def test_the_users_algorithm_stands(
    run: Run, kind: str, words: tuple[str, ...], variables: dict[str, str]
) -> None:
    found, said = run(kind, *words, **variables)
    assert "ring" not in found.values()
    assert found["MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM"] == "recursive_doubling"
    assert "headrace: not allgather by ring for all sizes" in said and "you set MPI" in said


@pytest.mark.parametrize(
    ("kind", "words", "variables"),
    [
        ("intel", ("-genv", "I_MPI_ADJUST_BCAST", "1"), {}),
        ("intel", (), {"I_MPI_ADJUST_BCAST": "1"}),
        ("intel", (), {"I_MPI_TUNING_BIN": "/x"}),
        ("intel", ("-configfile", "file"), {}),
        ("openmpi", ("--mca", "coll_tuned_bcast_algorithm", "1"), {}),
        ("openmpi", ("-x", "OMPI_MCA_coll_han_priority=1"), {}),
        ("openmpi", (), {"OMPI_MCA_coll": "^han"}),
        ("openmpi", ("--tune", "file"), {}),
        ("mpich", (), {"MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": "/x"}),
    ],
)
def test_what_the_user_says_of_all_stands(
    run: Run, kind: str, words: tuple[str, ...], variables: dict[str, str]
) -> None:
    found, said = run(kind, *words, **variables)
    assert not set(SET[kind].items()) & set(found.items()) and RULES not in found
    assert "you set " in said or "launcher's line may set them" in said


@pytest.mark.parametrize(
    ("kind", "name", "text"),
    [
        ("openmpi", ".openmpi/mca-params.conf", "coll_tuned_priority = 10\n"),
        ("intel", ".mpiexec.conf", "-genv I_MPI_ADJUST_BCAST 1\n"),
        ("intel", "mpiexec.conf", "-genv I_MPI_ADJUST_BCAST 1\n"),
        ("intel", "etc/mpiexec.conf", "-genv I_MPI_ADJUST_BCAST 1\n"),
        ("openmpi", "etc/openmpi-mca-params.conf", "coll = tuned\n"),
    ],
)
def test_files_of_the_user_and_the_site_stand(
    run: Run, kind: str, name: str, text: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"# {text}")
    assert set(SET[kind]) <= set(run(kind)[0])
    file.write_text(text)
    found, said = run(kind)
    assert not found and f"{Path(name).name}'" in said


def test_the_order_of_sums_is_kept_if_asked_for(run: Run) -> None:
    found, said = run("mpich", HEADRACE_COLL_ORDER="library")
    assert "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM" not in found
    assert found["MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM"] == "ring"
    assert "HEADRACE_COLL_ORDER asks" in said


def test_bad_input_is_named_and_the_rest_counts(run: Run, table: Path) -> None:
    table.write_text(TABLE.replace("ring 0-0 1.2", "rong 0-0 1.2"))
    found, said = run("mpich")
    assert set(found.values()) == {"recursive_doubling", "0"}
    assert "allgather of [mpich.one.library.2] is left out (rong is no algorithm of it)" in said
    table.write_text("a = [")
    found, said = run("mpich")
    assert not found and "is left out (it is not TOML" in said
    found, said = run("mpich", HEADRACE_COLL_TABLE=str(table.with_name("none")))
    assert not found and "it is no file" in said


def test_a_job_does_without_if_the_rules_cannot_be_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("in the way")
    found, said = run("openmpi")
    assert not found and "cannot be written" in said


def test_ranks_are_told_for_the_record(
    headrace: Command, make_launcher: Callable[..., FakeLauncher], table: Path
) -> None:
    launcher = make_launcher("mpirun", VERSIONS["intel"])
    variables = {"HEADRACE_COLL_TABLE": str(table)}
    done = headrace("run", launcher.path, "-n", "2", "true", **variables)
    assert done.returncode == 0, done.stderr
    given = launcher.seen()["argv"]
    at = given.index("HEADRACE_COLL_LIBRARY_SET")
    assert given[at + 1] == (
        "bcast by preset_3 for 0 to 511 B, 1.5 times as fast, "
        "preset_8 for 512 to 2147483647 B, 1.02 times as fast"
    )
    # As told only to who asks.
    assert "I_MPI_ADJUST_BCAST" not in done.stderr
    assert "I_MPI_ADJUST_BCAST" in given


def test_an_unknown_library_is_left_alone(
    headrace: Command, make_launcher: Callable[..., FakeLauncher], table: Path
) -> None:
    """srun tells nothing of it, and the program has none."""
    launcher = make_launcher("srun", "slurm 22.05.8")
    variables = {"HEADRACE_COLL_TABLE": str(table), "SLURM_JOB_NODELIST": "n1"}
    done = headrace("run", "--dry-run", launcher.path, "-n", "2", "true", **variables)
    assert done.returncode == 0, done.stderr
    assert "the MPI library of the ranks is not known" in done.stderr
