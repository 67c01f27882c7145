"""The command as users see it: exit codes, one line of error, nothing of ours on stdout."""

import errno
import re
import shutil
import signal
import subprocess
import sys
import tomllib

import pytest
from cli_support import ROOT, compile_c, link, make_mpi

from headrace import cli, entry

HYDRA_VERSION = "HYDRA build details:"


def assert_one_line(result, exit_code: int, *texts: str) -> None:
    assert result.returncode == exit_code, result.stderr
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert re.fullmatch(r"headrace: .+ \(.+\), .+", lines[0])
    for text in texts:
        assert text in lines[0]


def test_version_is_the_projects(headrace):
    declared = re.search(r"headrace VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert headrace("--version").stdout == f"headrace {declared}\n"


def test_help_names_the_commands(headrace):
    result = headrace("--help")
    assert result.returncode == 0
    assert {"run", "preload", "doctor"} <= set(result.stdout.split())


BAD_INPUT = [
    (("run", "-n", "0", "true"), 2, "0 is not in the range"),
    (("run", "-n", "-1", "true"), 2, "-1 is not in the range"),
    (("run", "-n", "two", "true"), 2, "'two' is not a valid integer"),
    (("run", "-n", "2"), 2, "Missing argument"),
    (("run", "--wrong", "mpiexec"), 2, "--wrong"),
    (("run", "-n", "2", "absent"), 127, "'absent' was not found"),
    (("run", "-n", "2", "./absent"), 127, "'./absent' was not found"),
    (("run", "-n", "2", "/"), 126, "'/' cannot be executed"),
    (("run", "absent", "-n", "2", "x"), 127, "'absent' was not found"),
    (("run", "ls", "-n", "2", "x"), 2, "'ls' is not a launcher"),
    (("run", "-n", "2", "ls"), 2, "uses no MPI"),
    (("run", "-n", "2", "srun", "-n", "2", "x"), 2, "ambiguous"),
    (("run", "--mpi", "mpich", "srun", "x"), 2, "--mpi has no meaning here"),
    (("run", "-n", "2", "--launcher", "slurm", "ls"), 2, "--launcher has no meaning"),
    (("run", "--launcher", "odd", "ls"), 2, "'odd' is not one of"),
    (("run", "--set", "QUIET", "-n", "2", "ls"), 2, "NAME=VALUE"),
    (("run", "-n", "2", "--mpi", "/nowhere", "ls"), 2, "no MPI is at '/nowhere'"),
    (("run", "-n", "2", "--mpi", "/etc", "ls"), 2, "no MPI is at '/etc'"),
    (("wrong",), 2, "No such command 'wrong'"),
    (("preload", "ls"), 2, "uses no MPI"),
    (("preload", "./absent"), 127, "was not found"),
]


@pytest.mark.parametrize(("arguments", "exit_code", "text"), BAD_INPUT)
def test_bad_input_is_one_line(headrace, make_launcher, first_on_path, arguments, exit_code, text):
    make_launcher("srun")
    assert_one_line(headrace(*arguments, PATH=first_on_path), exit_code, text)


def test_script_without_permission_says_how_to_run_it(headrace):
    (headrace.directory / "solve.py").write_text("print()\n")
    assert_one_line(headrace("run", "-n", "2", "./solve.py"), 126, "python3 solve.py")


def test_static_program(headrace):
    app = compile_c("int main(void){return 0;}", headrace.directory / "app", "-static")
    assert_one_line(headrace("run", "-n", "2", app), 2, "statically")
    assert_one_line(headrace("preload", app), 2, "statically")


def test_static_mpi(headrace):
    source = "int PMPI_Init(void){return 0;} int main(void){return PMPI_Init();}"
    app = compile_c(source, headrace.directory / "app")
    assert_one_line(headrace("run", "-n", "2", app), 2, "MPI linked statically")


def test_setuid_program(headrace):
    app = compile_c("int main(void){return 0;}", headrace.directory / "app")
    app.chmod(0o4755)
    assert_one_line(headrace("run", "-n", "2", app), 2, "setuid")


def test_unsupported_mpi(headrace):
    library = make_mpi(headrace.directory, "libmpi.so", "MPI_SGI_initialized")
    app = link(headrace.directory / "app", library)
    assert_one_line(headrace("run", "-n", "2", app), 2, "does not carry", str(library))
    assert_one_line(headrace("preload", app), 2, "does not carry")


def test_mpi_without_a_launcher(headrace):
    library = make_mpi(headrace.directory, "libmpi.so.12")
    app = link(headrace.directory / "app", library)
    path = str(headrace.directory)
    assert_one_line(headrace("run", "-n", "2", app, PATH=path), 2, "no launcher of MPICH")


def test_mpi_that_lacks_the_programs_library(headrace, make_launcher):
    make_launcher("mpiexec", HYDRA_VERSION)
    other = make_mpi(headrace.directory, "libmpi.so.12")
    linked = make_mpi(headrace.directory / "old", "libmpi.so.40", "ompi_mpi_comm_world")
    app = link(headrace.directory / "app", linked)
    result = headrace("run", "-n", "2", "--mpi", other.parent.parent, app)
    assert_one_line(result, 2, "links libmpi.so.40")


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("click", "run"),
        ("elftools", "run"),
        ("jinja2", "profile"),
        ("numpy", "place"),
        ("rich", "doctor"),
    ],
)
def test_python_packages_that_are_missing(headrace, name, command):
    """As after an installer that does not bring them. They are those of the wheel but the MPI."""
    hidden = headrace.directory / f"{name}.py"
    hidden.write_text(f"raise ModuleNotFoundError(name={name!r})\n")
    package = "pyelftools" if name == "elftools" else name
    path = f"{headrace.directory}:{ROOT / 'python'}"
    found = subprocess.run(
        [sys.executable, "-m", "headrace", command, "--help"],
        env=headrace.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert_one_line(found, 127, f"the Python package {package} is missing", "-m pip install")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = {re.split("[<>=]", one)[0] for one in project["dependencies"]} - {"mpich"}
    assert set(entry._PACKAGES.values()) == needed


def test_no_library(headrace):
    result = headrace("run", "-n", "2", "ls", HEADRACE_LIBRARY="/nowhere/libheadrace.so")
    assert_one_line(result, 2, "/nowhere/libheadrace.so")


@pytest.mark.parametrize("name", ["with space", "with:colon", "with$dollar"])
def test_library_that_the_preload_list_cannot_hold(headrace, name):
    folder = headrace.directory / name
    folder.mkdir()
    copy = shutil.copy(headrace.environ["HEADRACE_LIBRARY"], folder)
    assert_one_line(headrace("preload", HEADRACE_LIBRARY=str(copy)), 2, "cannot be preloaded")


def test_preload_prints_one_value(headrace, marker):
    assert headrace("preload").stdout == f"{marker.library}\n"
    app = link(headrace.directory / "app", make_mpi(headrace.directory, "libmpi.so.12"))
    assert headrace("preload", app).stdout == f"{marker.library}\n"


def test_preload_keeps_what_is_preloaded(headrace, marker):
    # The library itself, so that the loader has nothing to complain about.
    copy = shutil.copy(marker.library, headrace.directory / "other.so")
    assert headrace("preload", LD_PRELOAD=str(copy)).stdout == f"{copy}:{marker.library}\n"


def test_a_file_that_nobody_thought_of_is_one_line(headrace, monkeypatch, capsys):
    def fail(**_):
        raise PermissionError(errno.EACCES, "Permission denied", "/closed/x")

    monkeypatch.setattr(cli.cli, "main", fail)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    line = "headrace: '/closed/x' cannot be used (Permission denied), see whether"
    assert capsys.readouterr().err.startswith(line)


def test_launcher_is_run_in_place_of_the_command(headrace, make_launcher, first_on_path, marker):
    launcher = make_launcher("mpiexec", HYDRA_VERSION, code=42)
    result = headrace("run", "mpiexec", "-n", "2", "app", "-x", PATH=first_on_path)
    assert (result.returncode, result.stdout, result.stderr) == (42, "", "")
    seen = launcher.seen()
    options = ["-genv", "LD_PRELOAD", str(marker.library)]
    options += ["-genv", "FI_UNIVERSE_SIZE", "2", "-genv", "UCX_NUM_PPN", "2"]
    assert seen["argv"][1:] == [*options, "-n", "2", "app", "-x"]
    assert "LD_PRELOAD" not in seen["environ"]


def test_unknown_kind_of_launcher_can_be_named(headrace, make_launcher, first_on_path, marker):
    launcher = make_launcher("mpiexec", "Home-made 1.0")
    line = ("mpiexec", "-n", "2", "app")
    assert_one_line(headrace("run", *line, PATH=first_on_path), 2, "not a launcher", "--launcher")
    result = headrace("run", "--launcher", "inherit", *line, PATH=first_on_path)
    assert result.returncode == 0, result.stderr
    assert launcher.seen()["environ"]["LD_PRELOAD"] == str(marker.library)


def test_settings_of_the_command_line_reach_the_ranks(headrace, make_launcher, first_on_path):
    launcher = make_launcher("mpirun", "mpirun (Open MPI) 5.0.11")
    headrace("run", "--set", "quiet=1", "mpirun", "app", PATH=first_on_path)
    assert "HEADRACE_QUIET=1" in launcher.seen()["argv"]


def test_verify_is_a_setting_of_the_ranks(headrace, make_launcher, first_on_path):
    launcher = make_launcher("mpirun", "mpirun (Open MPI) 5.0.11")
    headrace("run", "--verify", "mpirun", "app", PATH=first_on_path)
    assert "HEADRACE_VERIFY=1" in launcher.seen()["argv"]


def test_dry_run_prints_and_runs_nothing(headrace, make_launcher, first_on_path, marker):
    launcher = make_launcher("mpiexec", HYDRA_VERSION)
    line = ("--dry-run", "--no-limits", "mpiexec", "-n", "2", "a b")
    result = headrace("run", *line, PATH=first_on_path)
    assert result.stdout == f"mpiexec -genv LD_PRELOAD {marker.library} -n 2 'a b'\n"
    assert not launcher.record.exists()


def test_wrapped_static_program_is_warned_about_and_run(
    headrace, make_launcher, first_on_path, tmp_path
):
    launcher = make_launcher("mpiexec", HYDRA_VERSION)
    app = compile_c("int main(void){return 0;}", tmp_path / "app", "-static")
    result = headrace("run", "mpiexec", "-n", "2", app, PATH=first_on_path)
    assert result.returncode == 0
    assert "statically" in result.stderr and len(result.stderr.splitlines()) == 1
    assert launcher.seen()["argv"][-1] == str(app)
    quiet = headrace("run", "mpiexec", "-n", "2", app, PATH=first_on_path, HEADRACE_QUIET="1")
    assert quiet.stderr == ""


def test_an_option_that_hides_the_program_is_told(headrace, make_launcher, first_on_path):
    launcher = make_launcher("srun")
    line = ("-vv", "--novelty", "--export=NONE", "app")
    result = headrace("run", "srun", *line, PATH=first_on_path)
    assert result.returncode == 0
    assert re.fullmatch(
        r"headrace: option '--novelty' of 'srun' is not known here \(.+ an LD_PRELOAD or --export "
        r"behind .+\), put the option last\n",
        result.stderr,
    )
    assert launcher.seen()["argv"][-4:] == list(line)
    assert headrace("run", "srun", *line, PATH=first_on_path, HEADRACE_QUIET="1").stderr == ""
    for known in (
        ("--launcher", "inherit", "srun", *line),
        ("srun", "--nice", "app"),
        ("srun", "--export=ALL", "--novelty", "app"),  # last, as the line says
        ("srun", "--novelty=7", "--export=ALL", "app"),  # one word, whatever it means
    ):
        assert headrace("run", *known, PATH=first_on_path).stderr == ""


def test_an_option_hides_a_preload_of_other_launchers_too(headrace, make_launcher, first_on_path):
    make_launcher("mpirun", "mpirun (Open MPI) 5.0.11")
    line = ("--allow-run-as-root", "--novelty", "-x", "LD_PRELOAD=/x.so", "app")
    said = headrace("run", "mpirun", *line, PATH=first_on_path).stderr
    assert "an LD_PRELOAD behind the option" in said and "--export" not in said
    assert headrace("run", "mpirun", *line[:2], "app", PATH=first_on_path).stderr == ""


def test_options_of_intel_mpi_that_replace_the_preload_are_told(
    headrace, make_launcher, first_on_path
):
    make_launcher("mpiexec", "Intel(R) MPI Library for Linux* OS, Version 2021.18.1")
    said = headrace("run", "mpiexec", "-n", "2", "-check_mpi", "app", PATH=first_on_path).stderr
    assert re.fullmatch(
        r"headrace: Headrace is not in the ranks \('-check_mpi' of 'mpiexec' .+\), .+\n", said
    )
    line = ("mpiexec", "-ordered-output", "-trace-pt2pt", "app")
    assert headrace("run", *line, PATH=first_on_path).stderr == ""


def test_an_option_that_must_stand_first_does(headrace, make_launcher, first_on_path, marker):
    """Intel MPI's mpiexec crashes where these stand behind -genv."""
    make_launcher("mpiexec", "Intel(R) MPI Library for Linux* OS, Version 2021.18.1")
    line = ("-n", "1", "-trace-pt2pt", "-l", "a", "-l", ":", "-trace-collectives", "-n", "2", "b")
    done = headrace("run", "--dry-run", "--no-limits", "mpiexec", *line, PATH=first_on_path)
    first = f"mpiexec -trace-pt2pt -trace-collectives -genv LD_PRELOAD {marker.library}"
    assert done.stdout == f"{first} -n 1 -l a -l : -n 2 b\n"


def test_launcher_gets_the_signals_as_a_shell_leaves_them(headrace, tmp_path):
    """Python ignores SIGPIPE and SIGXFSZ; a rank must not: over-limit writes depend on it."""
    launcher = tmp_path / "srun"
    launcher.write_text("#!/bin/sh\ngrep SigIgn /proc/self/status\n")
    launcher.chmod(0o755)
    result = headrace("run", launcher, "app")
    ignored = int(result.stdout.split()[1], 16)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        assert not ignored >> (number - 1) & 1
