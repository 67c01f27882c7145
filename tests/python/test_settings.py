"""Settings: which place counts, who is told to be the one, and what is refused with what to do."""

import re
import tomllib
from pathlib import Path

import pytest
from cli_support import ROOT
from settings_support import ALIGN, COUNT, refusal, told, write

from headrace.settings.generated.table import SETTINGS
from headrace.settings.layers import Layer
from headrace.settings.resolver import DEFAULT, resolve, resolve_run


def test_the_table_has_what_the_data_has() -> None:
    files = sorted((ROOT / "spec" / "settings").glob("*.toml"))
    data = [entry for file in files for entry in tomllib.loads(file.read_text())["setting"]]
    assert [one.name for one in SETTINGS] == [entry["name"] for entry in data]
    of_command = {entry["name"] for entry in data if "member" not in entry}
    assert {one.name for one in SETTINGS if one.of_command} == of_command != set()


def test_each_place_hides_those_behind_it(tmp_path: Path) -> None:
    first = write(tmp_path, "[settings]\nbuffer_count = 5\n", "first.toml")
    last = write(tmp_path, "[settings]\nbuffer_count = 6\n", "last.toml")
    environ = {COUNT: "7"}
    assert told(resolve_run({})) == (0, DEFAULT)
    assert told(resolve_run(environ)) == (7, "the environment")
    assert told(resolve_run(environ, files=[first])) == (5, f"'{first}'")
    assert told(resolve_run(environ, files=[first, last])) == (6, f"'{last}'")
    both = resolve_run(environ, ["buffer_count=8", "BUFFER_COUNT=9"], files=[first, last])
    assert told(both) == (9, "the command line")


def test_verify_counts_over_all_else() -> None:
    resolution = resolve_run({"HEADRACE_VERIFY": "0"}, ["verify=0"], verify=True)
    assert told(resolution, "HEADRACE_VERIFY") == (True, "--verify")
    assert resolution.for_ranks()["HEADRACE_VERIFY"] == "1"


def test_places_may_be_added_between_others() -> None:
    layers = [Layer("here", {}), Layer("the site", {COUNT: "3"}), Layer("far", {COUNT: "4"})]
    assert told(resolve(layers)) == (3, "the site")


def test_a_variable_of_another_toolkit_counts_less_than_ours() -> None:
    other = {"MPICH_MPIIO_CB_ALIGN": "0"}
    origin = "MPICH_MPIIO_CB_ALIGN in the environment"
    assert told(resolve_run(other), ALIGN) == (0, origin)
    assert told(resolve_run({**other, ALIGN: "1"}), ALIGN) == (1, "the environment")
    assert told(resolve_run({**other, ALIGN: "9"}), ALIGN) == (0, origin)
    assert resolve_run(other).for_ranks() == {}


def test_an_empty_value_is_the_default_and_hides_what_comes_after_it() -> None:
    environ = {COUNT: "7", ALIGN: "", "MPICH_MPIIO_CB_ALIGN": "0"}
    resolution = resolve_run(environ, ["buffer_count="])
    assert told(resolution) == (0, "the command line")
    assert told(resolution, ALIGN) == (2, "the environment")
    assert resolution.for_ranks() == {COUNT: "", ALIGN: ""}
    assert resolution.told() == []


def test_an_empty_variable_of_another_toolkit_is_not_there() -> None:
    assert told(resolve_run({"MPICH_MPIIO_CB_ALIGN": ""}), ALIGN) == (2, DEFAULT)


def test_ranks_get_what_is_given_and_not_what_is_the_commands() -> None:
    environ = {"HEADRACE_LIBRARY": "/x.so", "HEADRACE_QUIET": "yes", "HEADRACE_NEW": "1", "A": "1"}
    resolution = resolve_run(environ, ["mpi_path=/opt/mpi", "buffer_count=0"])
    expected = {COUNT: "0", "HEADRACE_NEW": "1", "HEADRACE_QUIET": "yes"}
    assert resolution.for_ranks() == expected
    assert list(resolution.for_ranks()) == sorted(expected)
    assert resolution.given["HEADRACE_MPI_PATH"] == "/opt/mpi"


def test_a_setting_at_its_default_is_not_told_however_it_is_written() -> None:
    same = ["summary=YES", "node_memory=65536k", "write_path=automatic", "buffer_size=0"]
    assert resolve_run({}, same).told() == []
    assert resolve_run({}, ["node_memory=65537k", *same]).told() == []  # the last one counts
    assert resolve_run({"HEADRACE_QUIET": "on"}, ["buffer_size=1M"]).told() == [
        "HEADRACE_QUIET=on from the environment",
        "HEADRACE_BUFFER_SIZE=1M from the command line",
    ]


def test_what_the_environment_has_wrong_is_told_and_left_to_the_library() -> None:
    environ = {COUNT: "65", "HEADRACE_BUFER_COUNT": "4"}
    resolution = resolve_run(environ)
    assert told(resolution) == (0, DEFAULT)
    assert resolution.for_ranks() == environ
    unknown, bad = sorted(resolution.told(), key=len, reverse=True)
    assert {unknown, bad} == {
        "HEADRACE_BUFER_COUNT from the environment is unknown (no setting has this name), "
        "did you mean HEADRACE_BUFFER_COUNT?",
        "HEADRACE_BUFFER_COUNT=65 from the environment cannot be used (it is out of range), "
        "write a value of the range 0 to 64",
    }


def test_unknown_names_are_refused(tmp_path: Path) -> None:
    line = refusal({}, ["bufer_count=4"])
    assert line.startswith("HEADRACE_BUFER_COUNT from the command line is unknown")
    assert line.endswith("did you mean HEADRACE_BUFFER_COUNT?")
    path = write(tmp_path, "[settings]\nzzz = 1\n")
    line = refusal({}, files=[path])
    assert f"HEADRACE_ZZZ from '{path}'" in line
    assert line.endswith("docs/reference/settings.md lists them")


def test_a_bad_value_is_refused_even_where_another_hides_it(tmp_path: Path) -> None:
    path = write(tmp_path, "[settings]\nbuffer_count = 65\n")
    assert f"HEADRACE_BUFFER_COUNT=65 from '{path}'" in refusal(
        {}, ["buffer_count=4"], files=[path]
    )


REFUSED = [
    ("quiet=maybe", "neither yes nor no"),
    ("quiet=2", "neither yes nor no"),
    ("buffer_count=65", "range 0 to 64"),
    ("buffer_count=-1", "out of range"),
    ("helper_threads=0", "range 1 to 64"),
    ("buffer_count=1k", "not a whole number"),
    ("buffer_count=+4", "not a whole number"),
    ("buffer_count= 4", "not a whole number"),
    ("buffer_count=" + "9" * 5000, "not a whole number"),
    ("buffer_size=63k", "range 64k to 1g"),
    ("buffer_size=1025m", "out of range"),
    ("buffer_size=1t", "not a size"),
    ("buffer_size=1.5m", "not a size"),
    ("buffer_size=m", "not a size"),
    ("write_path=Direct", "write automatic, direct, staged or exchanged"),
    ("mimic_stripes=4", "COUNTxSIZE"),
    ("mimic_stripes=0x1m", "COUNTxSIZE"),
    ("mimic_stripes=4x", "not a size"),
    ("mimic_stripes=4x5000", "not whole pages"),
    ("mimic_stripes=4x2g", "range 4k to 1g"),
    ("coherent_fs=nfs,", "empty name"),
    ("coherent_fs=nfs, ", "empty name"),
]


@pytest.mark.parametrize(("assignment", "text"), REFUSED)
def test_bad_values_are_refused_with_what_to_write(assignment: str, text: str) -> None:
    line = refusal({}, [assignment])
    assert text in line
    assert len(line) < 500


ACCEPTED = [
    ("QUIET=On", "HEADRACE_QUIET", True),
    ("headrace_quiet=off", "HEADRACE_QUIET", False),
    ("buffer_size=64k", "HEADRACE_BUFFER_SIZE", 65536),
    ("buffer_size=256MiB", "HEADRACE_BUFFER_SIZE", 1 << 28),
    ("buffer_size=65536b", "HEADRACE_BUFFER_SIZE", 65536),
    ("buffer_size=0", "HEADRACE_BUFFER_SIZE", 0),  # the default, out of the range of others
    ("buffer_count=" + "0" * 5000 + "4", COUNT, 4),
    ("mimic_stripes=4x1m", "HEADRACE_MIMIC_STRIPES", (4, 1 << 20)),
    ("coherent_fs=NFS,BeeGFS", "HEADRACE_COHERENT_FS", ("nfs", "beegfs")),
    ("disable_for= old solver ,\t*.test", "HEADRACE_DISABLE_FOR", ("old solver", "*.test")),
    ("hints_file=a=b", "HEADRACE_HINTS_FILE", "a=b"),
]


@pytest.mark.parametrize(("assignment", "name", "value"), ACCEPTED)
def test_values_mean_what_the_reference_says(assignment: str, name: str, value: object) -> None:
    assert resolve_run({}, [assignment]).value(name) == value


def test_a_file_has_text_numbers_and_truth(tmp_path: Path) -> None:
    lines = ("[settings]", "quiet = true", "SUMMARY = false", 'HEADRACE_BUFFER_SIZE = "1m"')
    path = write(tmp_path, "\n".join([*lines, "buffer_count = 0x10", ""]))
    resolution = resolve_run({"HEADRACE_SUMMARY": "1"}, files=[path])
    assert resolution.for_ranks() == {
        "HEADRACE_BUFFER_COUNT": "16",
        "HEADRACE_BUFFER_SIZE": "1m",
        "HEADRACE_QUIET": "1",
        "HEADRACE_SUMMARY": "0",
    }


BAD_FILES = [
    ("", "no table [settings]"),
    ("settings = 1\n", "no table [settings]"),
    ("[[settings]]\nquiet = 1\n", "no table [settings]"),
    ("quiet = 1\n[settings]\n", "'quiet' outside of the table"),
    ("[settings]\n[hint]\n", "'hint' outside of the table [settings]"),
    ("[settings]\nquiet = 1\nHEADRACE_QUIET = 0\n", "HEADRACE_QUIET twice"),
    ("[settings]\nquiet 1\n", "not TOML"),
    ("[settings]\nquiet = 1.5\n", "value of 'quiet'"),
    ("[settings]\nmpi_path = ['/a', '/b']\n", "value of 'mpi_path'"),
    ("[settings]\nhints_file = 'a\\u0000b'\n".replace("'", '"'), "no variable can hold"),
    ("[settings]\nbuffer_count = 0x" + "f" * 9000 + "\n", "value of 'buffer_count'"),
    ("[settings]\nbuffer_count = " + "9" * 9000 + "\n", "not TOML"),
    ("[settings]\nquiet = " + "[" * 5000 + "\n", "not TOML"),
    ("#" * (1 << 20) + "\n", "more than 1 MiB"),
]


@pytest.mark.parametrize(("text", "why"), BAD_FILES, ids=[why for _, why in BAD_FILES])
def test_bad_files_are_refused(tmp_path: Path, text: str, why: str) -> None:
    path = write(tmp_path, text)
    line = refusal({}, files=[path])
    assert str(path) in line and why in line


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    assert "No such file" in refusal({}, files=[tmp_path / "absent"])
    assert "directory" in refusal({}, files=[tmp_path])
    (tmp_path / "latin").write_bytes(b"[settings]\nhints_file = '\xe9'\n")
    assert "not TOML" in refusal({}, files=[tmp_path / "latin"])
    assert "more than 1 MiB" in refusal({}, files=[Path("/dev/zero")])


def test_run_gives_a_files_settings_to_the_ranks(headrace, make_launcher, first_on_path, tmp_path):
    launcher = make_launcher("mpirun", "mpirun (Open MPI) 5.0.11")
    path = write(tmp_path, "[settings]\nbuffer_count = 5\nhelper_threads = 3\n")
    options = ("--settings", path, "--set", "buffer_count=6")
    result = headrace("run", *options, "mpirun", "app", PATH=first_on_path, HEADRACE_LISTEN="0")
    assert result.returncode == 0, result.stderr
    argv = launcher.seen()["argv"]
    expected = {"HEADRACE_BUFFER_COUNT=6", "HEADRACE_HELPER_THREADS=3", "HEADRACE_LISTEN=0"}
    assert {word for word in argv if word.startswith("HEADRACE_")} == expected


def test_a_file_may_say_which_library(headrace, make_launcher, first_on_path, tmp_path, marker):
    make_launcher("srun")
    path = write(tmp_path, "[settings]\nlibrary = '/nowhere/libheadrace.so'\n")
    result = headrace("run", "--settings", path, "srun", "app", PATH=first_on_path)
    assert result.returncode == 2 and "/nowhere/libheadrace.so" in result.stderr


def test_dry_run_tells_settings_beside_the_line(headrace, make_launcher, first_on_path, tmp_path):
    launcher = make_launcher("srun")
    path = write(tmp_path, "[settings]\nquiet = true\nsummary = true\n")
    options = ("--dry-run", "--settings", path, "--set", "buffer_count=6")
    result = headrace("run", *options, "srun", "a", PATH=first_on_path, ROMIO_HINTS="/hints")
    assert result.returncode == 0
    assert "srun --export=ALL,LD_PRELOAD=" in result.stdout and result.stdout.count("\n") == 1
    lines = [line for line in result.stderr.splitlines() if "MPI_PATH" not in line]
    assert lines == [
        f"headrace: HEADRACE_QUIET=1 from '{path}'",
        "headrace: HEADRACE_BUFFER_COUNT=6 from the command line",
        "headrace: HEADRACE_HINTS_FILE=/hints from ROMIO_HINTS in the environment",
        f"headrace: HEADRACE_LIBRARY={headrace.environ['HEADRACE_LIBRARY']} from the environment",
    ]
    assert not launcher.record.exists()


@pytest.mark.parametrize("options", [("--set", "quite=1"), ("--set", "buffer_size=1")])
def test_run_refuses_what_the_library_would_ignore(headrace, make_launcher, first_on_path, options):
    launcher = make_launcher("srun")
    result = headrace("run", *options, "srun", "app", PATH=first_on_path)
    assert result.returncode == 2 and result.stdout == ""
    assert re.fullmatch(r"headrace: HEADRACE_.+ \(.+\), .+\n", result.stderr)
    assert not launcher.record.exists()
