"""Launcher lines, as pure functions: every family, MPMD lines, and what the user set already."""

import pytest

from headrace.launch.slurm import slurm_export
from headrace.launch.start import PRESETS, launch_line
from headrace.launch.values import RankEnvironment
from headrace.launch.wrap import wrap
from headrace.launchers.families import ALPS, HYDRA, INHERIT, OPENMPI, SLURM
from headrace.mpi.installed import Mpi
from headrace.settings.resolver import resolve_run

OURS = "/opt/headrace/libheadrace.so"
ONLY_PRELOAD = RankEnvironment(OURS)
WITH_SETTING = RankEnvironment(OURS, {"HEADRACE_QUIET": "1"})


def wrapped(line: str, family, settings=ONLY_PRELOAD, environ=None) -> str:
    return " ".join(wrap(line.split(), family, settings, environ or {}).argv)


LINES = [
    (HYDRA, "mpiexec -n 2 ./app", f"mpiexec -genv LD_PRELOAD {OURS} -n 2 ./app"),
    (OPENMPI, "mpirun -n 2 ./app", f"mpirun -x LD_PRELOAD={OURS} -n 2 ./app"),
    (SLURM, "srun -n2 ./app", f"srun --export=ALL,LD_PRELOAD={OURS} -n2 ./app"),
    (ALPS, "aprun -n 2 ./app", f"aprun -e LD_PRELOAD={OURS} -n 2 ./app"),
    # Every context gets it: once for all with hydra, one by one elsewhere.
    (
        HYDRA,
        "mpiexec -n 1 ./a : -n 2 ./b x",
        f"mpiexec -genv LD_PRELOAD {OURS} -n 1 ./a : -n 2 ./b x",
    ),
    (
        OPENMPI,
        "mpirun -n 1 ./a : -n 2 ./b x",
        f"mpirun -x LD_PRELOAD={OURS} -n 1 ./a : -x LD_PRELOAD={OURS} -n 2 ./b x",
    ),
    (
        SLURM,
        "srun -n1 ./a : -n2 ./b",
        f"srun --export=ALL,LD_PRELOAD={OURS} -n1 ./a : --export=ALL,LD_PRELOAD={OURS} -n2 ./b",
    ),
    # What the program's own arguments look like is no business of ours.
    (
        HYDRA,
        "mpiexec -n 2 ./app -genv LD_PRELOAD /x.so -envnone",
        f"mpiexec -genv LD_PRELOAD {OURS} -n 2 ./app -genv LD_PRELOAD /x.so -envnone",
    ),
    (
        SLURM,
        "srun -n2 ./app --export=NONE",
        f"srun --export=ALL,LD_PRELOAD={OURS} -n2 ./app --export=NONE",
    ),
    (
        SLURM,
        "srun -lvN2 --nice --export=NONE ./app",
        f"srun --export=LD_PRELOAD={OURS} -lvN2 --nice ./app",
    ),
    # Behind an option nobody has heard of, nothing is touched.
    (
        OPENMPI,
        "mpirun --novelty 7 -x LD_PRELOAD=/x.so ./app",
        f"mpirun -x LD_PRELOAD={OURS} --novelty 7 -x LD_PRELOAD=/x.so ./app",
    ),
]


@pytest.mark.parametrize(("family", "line", "expected"), LINES)
def test_preload_goes_by_the_launchers_own_option(family, line, expected):
    assert wrapped(line, family) == expected


USERS_OWN = [
    (
        HYDRA,
        "mpiexec -n 2 -env LD_PRELOAD /x.so ./app",
        f"mpiexec -genv LD_PRELOAD {OURS} -n 2 -env LD_PRELOAD /x.so:{OURS} ./app",
    ),
    (
        HYDRA,
        "mpiexec -genv LD_PRELOAD=/x.so -n 2 ./app",
        f"mpiexec -genv LD_PRELOAD {OURS} -genv LD_PRELOAD=/x.so:{OURS} -n 2 ./app",
    ),
    (
        OPENMPI,
        "mpirun -n 2 -x LD_PRELOAD=/x.so ./app",
        f"mpirun -n 2 -x LD_PRELOAD=/x.so:{OURS} ./app",
    ),
    (
        OPENMPI,
        "mpirun -x LD_PRELOAD=/x.so -n 1 ./a : -n 1 ./b",
        f"mpirun -x LD_PRELOAD=/x.so:{OURS} -n 1 ./a : -x LD_PRELOAD={OURS} -n 1 ./b",
    ),
    (
        ALPS,
        "aprun -e LD_PRELOAD=/x.so -n 2 ./app",
        f"aprun -e LD_PRELOAD=/x.so:{OURS} -n 2 ./app",
    ),
    (
        SLURM,
        "srun --export ALL,LD_PRELOAD=/x.so,A=1 -n2 ./app",
        f"srun --export=ALL,A=1,LD_PRELOAD=/x.so:{OURS} -n2 ./app",
    ),
]


@pytest.mark.parametrize(("family", "line", "expected"), USERS_OWN)
def test_a_preload_on_the_line_stays_in_front(family, line, expected):
    assert wrapped(line, family) == expected


@pytest.mark.parametrize("family", [HYDRA, OPENMPI, SLURM, ALPS])
def test_a_preload_of_the_environment_stays_in_front(family):
    environ = {"LD_PRELOAD": "/darshan.so /other.so"}
    launch = wrap(["launcher", "./app"], family, ONLY_PRELOAD, environ)
    assert f"/darshan.so:/other.so:{OURS}" in " ".join(launch.argv)
    assert launch.environ["LD_PRELOAD"] == "/darshan.so /other.so"


@pytest.mark.parametrize("family", [HYDRA, OPENMPI, SLURM, ALPS])
def test_a_library_preloaded_already_is_not_added_again(family):
    launch = wrap(["launcher", "./app"], family, ONLY_PRELOAD, {"LD_PRELOAD": f"{OURS}:/x.so"})
    assert " ".join(launch.argv).count(OURS) == 1


@pytest.mark.parametrize("family", [HYDRA, OPENMPI, SLURM, ALPS])
def test_the_launcher_itself_is_not_preloaded(family):
    assert "LD_PRELOAD" not in wrap(["launcher", "./app"], family, ONLY_PRELOAD, {}).environ


def test_without_an_option_of_its_own_the_launcher_inherits():
    launch = wrap(["odd", "./app"], INHERIT, WITH_SETTING, {"LD_PRELOAD": "/x.so"})
    assert launch.argv == ["odd", "./app"]
    assert launch.environ == {"LD_PRELOAD": f"/x.so:{OURS}", "HEADRACE_QUIET": "1"}


def test_settings_reach_other_nodes():
    assert "-genv HEADRACE_QUIET 1" in wrapped("mpiexec ./app", HYDRA, WITH_SETTING)
    assert "-x HEADRACE_QUIET=1" in wrapped("mpirun ./app", OPENMPI, WITH_SETTING)
    assert "-e HEADRACE_QUIET=1" in wrapped("aprun ./app", ALPS, WITH_SETTING)


def test_settings_of_the_command_stay_with_it():
    environ = {"HEADRACE_LIBRARY": OURS, "HEADRACE_MPI_PATH": "/opt", "HEADRACE_QUIET": "1"}
    assert resolve_run(environ).for_ranks() == {"HEADRACE_QUIET": "1"}
    launch = wrap(["mpiexec", "./app"], HYDRA, ONLY_PRELOAD, environ)
    assert launch.environ == {"HEADRACE_QUIET": "1"}


def test_a_setting_of_the_line_wins():
    line = "mpirun -x HEADRACE_QUIET=0 ./app"
    expected = f"mpirun -x LD_PRELOAD={OURS} -x HEADRACE_QUIET=0 ./app"
    assert wrapped(line, OPENMPI, WITH_SETTING) == expected


def test_hydra_contexts_that_drop_the_environment_get_it_again():
    line = wrapped("mpiexec -n 1 ./a : -n 1 -envnone ./b", HYDRA)
    assert line.endswith(f": -n 1 -envnone -env LD_PRELOAD {OURS} ./b")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("ALL", f"ALL,LD_PRELOAD={OURS}"),
        ("NONE", f"LD_PRELOAD={OURS},HEADRACE_QUIET"),
        ("NIL", f"LD_PRELOAD={OURS},HEADRACE_QUIET"),
        ("PATH,A=1", f"PATH,A=1,LD_PRELOAD={OURS},HEADRACE_QUIET"),
        ("ALL,LD_PRELOAD", f"ALL,LD_PRELOAD=/env.so:{OURS}"),
        ("LD_PRELOAD,PATH", f"PATH,LD_PRELOAD=/env.so:{OURS},HEADRACE_QUIET"),
    ],
)
def test_slurm_export_list(given, expected):
    environ = {"LD_PRELOAD": "/env.so"} if "LD_PRELOAD" in given else {}
    assert slurm_export(given, WITH_SETTING, environ) == expected


def test_slurm_list_without_all_leaves_the_environments_preload_out():
    assert slurm_export("NONE", ONLY_PRELOAD, {"LD_PRELOAD": "/x.so"}) == f"LD_PRELOAD={OURS}"


def test_slurm_export_of_the_batch_job_is_the_base():
    line = wrapped("srun ./app", SLURM, environ={"SLURM_EXPORT_ENV": "NONE"})
    assert line == f"srun --export=LD_PRELOAD={OURS} ./app"


def test_open_mpis_environment_list_is_extended_since_it_excludes_x():
    line = ["mpirun", "--mca", "mca_base_env_list", "A=1;LD_PRELOAD=/x.so", "./app"]
    launch = wrap(line, OPENMPI, WITH_SETTING, {})
    assert launch.argv[3] == f"A=1;LD_PRELOAD=/x.so:{OURS};HEADRACE_QUIET"
    assert "-x" not in launch.argv
    launch = wrap(["mpirun", "./app"], OPENMPI, ONLY_PRELOAD, {"OMPI_MCA_mca_base_env_list": "A"})
    assert launch.environ["OMPI_MCA_mca_base_env_list"] == f"A;LD_PRELOAD={OURS}"
    assert launch.argv == ["mpirun", "./app"]


def test_open_mpi_application_files_also_inherit():
    launch = wrap(["mpirun", "--app", "file"], OPENMPI, ONLY_PRELOAD, {})
    assert launch.argv == ["mpirun", "-x", f"LD_PRELOAD={OURS}", "--app", "file"]
    assert launch.environ["LD_PRELOAD"] == OURS


def an_mpi(tmp_path, kind: str) -> Mpi:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libfabric.so.1").touch()
    return Mpi(kind, tmp_path / "lib" / "libmpi.so", tmp_path / "bin" / "mpiexec")


def test_launch_line_of_the_plain_mpi(tmp_path):
    mpi = an_mpi(tmp_path, "mpich")
    launch = launch_line(mpi, 3, ["./app", "x"], {"A": "1"})
    assert launch.argv == [str(tmp_path / "bin/mpiexec"), "-n", "3", "./app", "x"]
    assert launch.environ == {"A": "1"}


def test_launch_line_of_open_mpi_as_root_with_too_few_cores(tmp_path):
    mpi = an_mpi(tmp_path, "openmpi")
    launch = launch_line(mpi, 3, ["./app"], {}, oversubscribe=True, as_root=True)
    assert launch.argv[1:] == ["-n", "3", "--map-by", ":OVERSUBSCRIBE", "./app"]
    assert launch.environ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] == "1"


@pytest.mark.parametrize(
    ("kind", "options"),
    [("mpich", ["-bind-to", "core"]), ("openmpi", ["--bind-to", "core"]), ("intel", [])],
)
def test_launch_line_that_gives_each_rank_a_core(tmp_path, kind, options):
    launch = launch_line(an_mpi(tmp_path, kind), 2, ["./app"], {}, bind=True)
    assert launch.argv[1:] == ["-n", "2", *options, "./app"]


def test_launch_line_of_intel_mpi_finds_its_parts(tmp_path):
    launch = launch_line(an_mpi(tmp_path, "intel"), 2, ["./app"], {"LD_LIBRARY_PATH": "/mine"})
    assert launch.environ["I_MPI_ROOT"] == str(tmp_path)
    assert launch.environ["FI_PROVIDER_PATH"] == str(tmp_path / "lib")
    assert launch.environ["LD_LIBRARY_PATH"] == f"{tmp_path}/lib:/mine"


def test_presets_give_each_mpi_its_own_variables(tmp_path):
    mpi = an_mpi(tmp_path, "openmpi")
    launch = launch_line(mpi, 2, ["./app"], {}, presets=list(PRESETS))
    assert "OMPI_MCA_mpi_yield_when_idle=1" in launch.argv
    assert launch.environ["OMPI_MCA_mpi_yield_when_idle"] == "1"
    assert "I_MPI_THREAD_YIELD" not in launch.environ
