"""What files suggest, and the files of the user and the site: what counts, what is refused."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from cli_support import Command
from settings_support import ALIGN, COUNT, refusal, told, write

from headrace.settings import standing as standing_module
from headrace.settings.resolver import DEFAULT, resolve_run

SUGGESTING = """
[headrace]
buffer_count = 8
cb_align = 2
[environment]
OMP_NUM_THREADS = 4
OMP_PLACES = "a b"
"""


def test_suggestions_count_where_nothing_is_said(tmp_path: Path) -> None:
    path = write(tmp_path, SUGGESTING)
    resolution = resolve_run({}, files=[path])
    assert told(resolution) == (8, f"[headrace] of '{path}'")
    assert resolution.for_ranks() == {
        COUNT: "8",
        ALIGN: "2",
        "OMP_NUM_THREADS": "4",
        "OMP_PLACES": "a b",
    }
    assert not resolution.kept
    assert "OMP_NUM_THREADS=4 by a file" in resolution.told()


def test_suggestions_give_way_to_all_that_is_said(tmp_path: Path) -> None:
    path = write(tmp_path, SUGGESTING)
    own = {COUNT: "5", "MPICH_MPIIO_CB_ALIGN": "0", "OMP_NUM_THREADS": "", "OMP_PLACES": "a b"}
    resolution = resolve_run(own, files=[path])
    assert told(resolution) == (5, "the environment")
    assert told(resolution, ALIGN) == (0, "MPICH_MPIIO_CB_ALIGN in the environment")
    assert resolution.for_ranks() == {COUNT: "5"}
    assert list(resolution.kept) == [
        f"{COUNT}=5 from the environment is kept; [headrace] of '{path}' suggests {COUNT}=8",
        f"{ALIGN}=0 from MPICH_MPIIO_CB_ALIGN in the environment is kept; "
        f"[headrace] of '{path}' suggests {ALIGN}=2",
        f"OMP_NUM_THREADS= from the environment is kept; [environment] of '{path}' suggests "
        "OMP_NUM_THREADS=4",
    ]
    assert told(resolve_run({COUNT: ""}, files=[path])) == (0, "the environment")
    other = write(tmp_path, "[settings]\nbuffer_count = 6\n", "b.toml")
    assert told(resolve_run({}, files=[other, path])) == (6, f"'{other}'")
    assert told(resolve_run({}, ["buffer_count=7"], files=[path])) == (7, "the command line")


def test_the_last_suggestion_counts(tmp_path: Path) -> None:
    first = write(tmp_path, SUGGESTING)
    last = write(
        tmp_path, "[headrace]\nbuffer_count = 9\n[environment]\nOMP_PLACES = 1\n", "b.toml"
    )
    ranks = resolve_run({}, files=[first, last]).for_ranks()
    assert (ranks[COUNT], ranks["OMP_PLACES"], ranks["OMP_NUM_THREADS"]) == ("9", "1", "4")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[headrace]\nzzz = 1\n", "HEADRACE_ZZZ from [headrace] of"),
        ("[headrace]\nbuffer_count = 65\n", "range 0 to 64"),
        ("[environment]\nLD_PRELOAD = 'x'\n", "[environment] has LD_PRELOAD"),
        ("[environment]\nHEADRACE_QUIET = 1\n", "move it below [headrace]"),
        ("[environment]\n'a=b' = 1\n", "'a=b' is no name of a variable"),
        ("[environment]\nOMP_A = [1]\n", "neither text nor"),
        ('[environment]\nOMP_A = "\\u0000"\n', "'OMP_A' has a zero byte"),
        ("[headrace]\nlibrary = 'x.so'\n", "[headrace] has HEADRACE_LIBRARY"),
        ("[headrace]\nHEADRACE_USER = 'x'\n", "[headrace] has HEADRACE_USER"),
        ("[headrace]\n[launcher]\n", "'launcher' outside of the table [headrace]"),
    ],
)
def test_bad_suggestions_are_refused(tmp_path: Path, text: str, why: str) -> None:
    assert why in refusal({}, files=[write(tmp_path, text)])


def standing(folder: Path, user: str = "", site: str = "") -> dict[str, str]:
    """The environment of somebody with these files."""
    folder.chmod(0o755)
    names = {"HEADRACE_USER": (user, "user.toml"), "HEADRACE_SITE": (site, "site.toml")}
    return {
        name: str(write(folder, text, file)) if text else "/dev/null"
        for name, (text, file) in names.items()
    }


def test_the_files_of_the_user_and_the_site_count_last(tmp_path: Path) -> None:
    site = "[settings]\nbuffer_count = 3\ncb_align = 1\n[hints]\ncb_nodes = 4\n"
    environ = standing(tmp_path, "[settings]\nbuffer_count = 4\n", site)
    found = resolve_run(environ)
    assert told(found) == (4, f"the user's '{tmp_path}/user.toml'")
    assert told(found, ALIGN) == (1, f"the site's '{tmp_path}/site.toml'")
    assert told(resolve_run({**environ, COUNT: "5"})) == (5, "the environment")
    # Ranks read these files themselves, hints included.
    assert found.for_ranks() == environ
    assert found.settings["HEADRACE_HINTS_FILE"].origin == DEFAULT


def test_files_of_all_jobs_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    environ = standing(tmp_path, "[settings]\nbuffer_count = 4\n", "[settings\n")
    assert "site.toml' line 1 is ignored (it is no header" in "".join(resolve_run(environ).problems)
    user = tmp_path / "user.toml"
    user.chmod(0o664)
    found = resolve_run(environ)
    assert told(found) == (0, DEFAULT)
    assert any("is ignored (others may write to it)" in line for line in found.problems)
    user.chmod(0o644)
    tmp_path.chmod(0o777)
    found = resolve_run(environ)
    assert any("others may write to its directory" in line for line in found.problems)
    tmp_path.chmod(0o755)
    user.unlink()
    assert any("No such file" in line for line in resolve_run(environ).problems)
    # Only the files that are there unless somebody names others need not be there.
    lacking = {"HOME": str(tmp_path), "HEADRACE_SITE": "/dev/null"}
    assert list(resolve_run(lacking).problems) == []


def test_what_standing_files_have_wrong_leaves_the_rest(tmp_path: Path) -> None:
    user = (
        "buffer_count = 2\n[settings]\nbuffer_count = 4\nquiet 1\ncb_align = 1.5\n"
        "helper_threads = 65\nquite = 1\nQUIET = true\n[other]\na = 1\nb = 1\n"
    )
    environ = standing(tmp_path, user, "[settings]\ncb_align = 1\n[hints]\n'a' = [\n")
    found = resolve_run(environ)
    assert told(found) == (4, f"the user's '{tmp_path}/user.toml'")
    assert told(found, "HEADRACE_QUIET") == (True, f"the user's '{tmp_path}/user.toml'")
    assert told(found, ALIGN) == (1, f"the site's '{tmp_path}/site.toml'")
    lines = [
        *("line 4 is ignored (it is no KEY = VALUE)", "line 5 is ignored (its value is no text"),
        *("line 1 is ignored (it stands in no table)", "(no table 'other' is read)"),
        *("HEADRACE_HELPER_THREADS=65 from the user's", "HEADRACE_QUITE from the user's"),
        "site.toml' line 4 is ignored (texts and lists of several lines are not read here)",
    ]
    for line, problem in zip(lines, found.problems, strict=True):
        assert line in problem and re.fullmatch(r".+ \(.+\), .+", problem)
    assert not found.untold, "the library tells these"


@pytest.mark.parametrize("text", ["# nothing\n", "\n", "[settings]\n", "# caf\xe9\n"])
def test_a_standing_file_that_says_nothing_is_fine(tmp_path: Path, text: str) -> None:
    environ = standing(tmp_path, text)
    Path(environ["HEADRACE_USER"]).write_bytes(text.encode("latin-1"))
    assert list(resolve_run(environ).problems) == []


@pytest.mark.parametrize(("faults", "last"), [(21, "1 more such line"), (23, "3 more such lines")])
def test_faults_beyond_twenty_are_counted(tmp_path: Path, faults: int, last: str) -> None:
    path = write(tmp_path, "[settings]\n" + "x\n" * faults)
    problems = resolve_run({"HEADRACE_SITE": str(path)}).problems
    assert len(problems) == 21
    # In the words of the library (tests/unit/base_settings_file_test.cc).
    assert problems[-1] == f"'{path}' has {last}, mend those above first"


def test_unknown_names_beyond_twenty_are_not_told(tmp_path: Path) -> None:
    """As the library has it (src/base/setting_rule.cc)."""
    path = write(tmp_path, "[settings]\n" + "".join(f"zzz{i} = 1\n" for i in range(900)))
    environ = {"HEADRACE_SITE": str(path), "HEADRACE_YYY": "1", COUNT: "65"}
    problems = resolve_run(environ).problems
    assert sum("is unknown" in one for one in problems) == 20
    assert len(problems) == 21, "what is wrong with a setting is told as ever"
    assert "HEADRACE_ZZZ0 from '" in refusal({}, files=[path])


def test_names_of_files_stand_in_messages_on_one_line(tmp_path: Path) -> None:
    for folder in ("a", "b\n\x1b[2J"):
        path = tmp_path / folder / "c\n.toml"
        path.parent.mkdir(mode=0o755)
        path.write_text("[settings]\nquiet = x\nverify = 7\nrecord = 1\n[hints.a.b]\nc = 1\n")
        told = resolve_run({"HEADRACE_SITE": str(path)}).told()
        assert len(told) > 3
        path.parent.chmod(0o777)
        told += resolve_run({"HEADRACE_SITE": str(path)}).told()
        assert any("chmod go-w" in one for one in told)
        assert all(one.isprintable() for one in told), told


def test_an_empty_value_in_the_users_file_hides_the_sites(tmp_path: Path) -> None:
    site = "[settings]\nbuffer_count = 3\n"
    found = resolve_run(standing(tmp_path, "[settings]\nbuffer_count = ''\n", site))
    assert told(found) == (0, f"the user's '{tmp_path}/user.toml'")
    assert told(resolve_run({**standing(tmp_path, site=site), COUNT: ""}))[0] == 0


def test_an_empty_name_of_a_file_stands_for_the_one_that_is_there_by_default(
    tmp_path: Path,
) -> None:
    folder = tmp_path / ".config" / "headrace"
    folder.mkdir(parents=True)
    write(folder, "[settings]\nbuffer_count = 4\n", "headrace.toml").chmod(0o644)
    folder.chmod(0o755)
    environ = {"HOME": str(tmp_path), "HEADRACE_SITE": "/dev/null", "HEADRACE_USER": ""}
    assert told(resolve_run(environ))[0] == 4
    assert list(resolve_run({**environ, "HOME": "/nowhere"}).problems) == []


def test_the_files_of_the_user_and_the_site_count_over_suggestions(tmp_path: Path) -> None:
    path = write(tmp_path, SUGGESTING + "[hints]\ncb_nodes = 4\n")
    site = "[settings]\nbuffer_count = 3\n[headrace]\ncb_align = 1\n"
    found = resolve_run(standing(tmp_path, site=site), files=[path])
    assert told(found) == (3, f"the site's '{tmp_path}/site.toml'")
    ranks = found.for_ranks()
    assert COUNT not in ranks and (ranks[ALIGN], ranks["OMP_NUM_THREADS"]) == ("2", "4")
    assert ranks["HEADRACE_RUN_HINTS"] == str(path)
    assert [line.split("; ")[0] for line in found.kept] == [
        f"{COUNT}=3 from the site's '{tmp_path}/site.toml' is kept"
    ]
    assert any("only files of --settings suggest" in line for line in found.problems)


def test_hints_of_a_settings_file_go_to_the_ranks(tmp_path: Path) -> None:
    path = write(tmp_path, '[hints]\ncb_nodes = 4\n[hints."*.h5"]\ncb_align = 1\n')
    given = resolve_run({"HEADRACE_HINTS_FILE": "/x"}, files=[path]).for_ranks()
    assert given == {"HEADRACE_HINTS_FILE": "/x", "HEADRACE_RUN_HINTS": str(path)}
    other = write(tmp_path, "[hints]\n", "b.toml")
    assert "both give hints" in refusal({}, files=[path, other])
    both = write(tmp_path, "[settings]\nhints_file = '/x'\n[hints]\n", "c.toml")
    given = resolve_run({}, files=[both]).for_ranks()
    assert given == {"HEADRACE_HINTS_FILE": "/x", "HEADRACE_RUN_HINTS": str(both)}
    twice = write(tmp_path, "[settings]\nrun_hints = '/x'\n[hints]\n", "e.toml")
    assert "names another file of hints" in refusal({}, files=[twice])
    bad = write(tmp_path, "[hints]\ncb_nodes = 1.5\n", "d.toml")
    assert "'cb_nodes' is neither text" in refusal({}, files=[bad])


@pytest.mark.parametrize(
    "name",
    [
        *("HYDRA_LAUNCHER_EXEC", "PYTHONPATH", "BASH_ENV", "GCONV_PATH", "GLIBC_TUNABLES", "PATH"),
        *("OMPI_MCA_mca_base_component_path", "OMPI_MCA_plm_rsh_agent", "OMP_TOOL_LIBRARIES"),
        *("I_MPI_HYDRA_BOOTSTRAP_EXEC", "FI_PROVIDER_PATH", "UCX_MODULE_DIR", "I_MPI_ROOT"),
        *("I_MPI_TUNING_BIN_DUMP", "I_MPI_TUNING_BIN", "UCX_STATS_DEST", "ROMIO_HINTS"),
        "OMPI_MCA_hwloc_base_topo",
    ],
)
def test_no_file_suggests_which_code_runs(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, f"[environment]\n{name} = 'x'\n")
    assert f"[environment] has {name}, which files may not" in refusal({}, files=[path])


@pytest.mark.parametrize("value", ["/home/me/x", "file:/x", "./x", "a/b", "10.0.0.0/8,/x"])
def test_no_file_suggests_the_name_of_another(tmp_path: Path, value: str) -> None:
    path = write(tmp_path, f"[environment]\nUCX_A = '{value}'\n")
    assert "[environment] gives UCX_A the name of a file" in refusal({}, files=[path])
    for network in ("10.0.0.0/8", "10.0.0.0/8,fe80::/64"):
        path = write(tmp_path, f"[environment]\nUCX_A = '{network}'\n")
        assert resolve_run({}, files=[path]).variables == {"UCX_A": network}


def test_files_suggest_what_tunes(tmp_path: Path) -> None:
    names = ["FI_CXI_RX_MATCH_MODE", "OMPI_MCA_btl", "SLURM_CPU_BIND", "UCX_IB_NUM_PATHS"]
    path = write(tmp_path, "[environment]\n" + "".join(f"{name} = 1\n" for name in names))
    assert sorted(resolve_run({}, files=[path]).variables) == names


def test_a_pipe_or_directory_of_the_users_name_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name in ("pipe", "."):
        found = resolve_run({"HEADRACE_USER": str(tmp_path / name), "HEADRACE_SITE": "/dev/null"})
        assert any("is ignored (it is no file)" in line for line in found.problems)


def test_a_file_that_is_exchanged_after_its_check_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = standing(tmp_path, "[settings]\nbuffer_count = 4\n")
    other = write(tmp_path, "[settings]\nbuffer_count = 5\n", "other.toml")
    check = standing_module._why_not_trusted

    def exchanging(*arguments: Any, **options: Any) -> str:
        other.exists() and other.replace(environ["HEADRACE_USER"])
        return check(*arguments, **options)

    monkeypatch.setattr(standing_module, "_why_not_trusted", exchanging)
    assert told(resolve_run(environ))[0] == 4


def test_a_run_tells_what_only_the_command_reads(headrace: Command, tmp_path: Path) -> None:
    environ = standing(tmp_path, "[settings]\nlimits = 'maybe'\nverify = 'x'\n")
    done = headrace("run", "--launcher", "inherit", "true", **environ)
    assert done.returncode == 0, done.stderr
    assert "HEADRACE_LIMITS=maybe" in done.stderr and "HEADRACE_VERIFY" not in done.stderr


def test_what_all_ranks_must_have_alike_is_not_taken_from_standing_files(tmp_path: Path) -> None:
    site = (
        "[settings]\ncollectives = true\nlibrary = '/x.so'\nhints = '*:cb_nodes=1'\nquiet = true\n"
    )
    found = resolve_run(standing(tmp_path, site=site))
    assert told(found, "HEADRACE_QUIET")[1] == f"the site's '{tmp_path}/site.toml'"
    for name in ("HEADRACE_COLLECTIVES", "HEADRACE_LIBRARY", "HEADRACE_HINTS"):
        assert found.settings[name].origin == DEFAULT
        assert any(line.startswith(f"{name} is ignored (") for line in found.problems)
    assert any("all ranks of a job must have the same" in line for line in found.problems)
