"""./dev itself: its help, its messages, its stamps, its lock and its sums."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import textwrap
import time
import venv
from pathlib import Path

import pytest
import source_tree
from hanging import PATIENCE, is_running

from devtool import debian, lock, provision, testing
from devtool.failure import Failure
from devtool.groups import Group

DEV = source_tree.ROOT / "dev"


def run_dev(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(DEV), *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def test_alone_prints_help() -> None:
    done = run_dev()
    assert done.returncode == 0
    for command in ("demo", "test", "headrace", "build"):
        assert f"  {command} " in done.stdout


def test_a_mistyped_command_gets_a_suggestion(tmp_path: Path) -> None:
    done = run_dev("biuld", cwd=tmp_path)
    assert done.returncode == 2
    assert "did you mean ./dev build?" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("name", ["venv", "mpi/mpich"])
def test_it_does_not_run_in_an_environment_of_its_own(tmp_path: Path, name: str) -> None:
    """With .dev/venv/bin first in PATH it would remove the Python that it runs with."""
    shutil.copy(DEV, tmp_path)
    package = tmp_path / "tools" / "devtool"
    package.mkdir(parents=True)
    command = "import sys\ndef main(words):\n    print(sys.prefix, words)\n    return 3\n"
    (package / "main.py").write_text(command)
    environment = tmp_path / ".dev" / name
    venv.create(environment, symlinks=True)
    words = [environment / "bin" / "python", "dev", "a b"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, f"{sys.base_prefix} ['a b']\n"), done.stderr


def missing(what: str, package: str) -> debian.Need:
    return debian.Need(what, package, lambda: False)


def test_without_root_one_line_to_run_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(debian.shutil, "which", lambda name: f"/usr/bin/{name}")
    with pytest.raises(Failure) as raised:
        debian.ensure([missing("GoogleTest", "libgtest-dev"), missing("a compiler", "g++")])
    assert "apt-get install -y --no-install-recommends g++ libgtest-dev\n" in str(raised.value)
    assert "GoogleTest, a compiler" in str(raised.value)


def test_other_systems_are_told_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian.shutil, "which", lambda name: None)
    with pytest.raises(Failure, match="there is no apt-get"):
        debian.ensure([missing("GoogleTest", "libgtest-dev")])


def test_nothing_missing_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    debian.ensure([debian.Need("air", "air", lambda: True)])
    assert capfd.readouterr() == ("", "")


def test_a_layer_is_installed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layer = provision.Layer("nothing", tmp_path / "environment", ("group",))
    monkeypatch.setattr(provision, "_requirements", lambda: {"group": ["anything==1"]})
    monkeypatch.setattr(provision, "run_logged", make_python)
    assert [step.title.split(" into ")[0] for step in provision.pending([layer, layer])] == [
        "installing nothing"
    ]
    provision.pending([layer])[0].action()
    assert provision.pending([layer]) == []
    monkeypatch.setattr(provision, "_requirements", lambda: {"group": ["anything==2"]})
    assert len(provision.pending([layer])) == 1


def make_python(command: list[str | Path], *_: object) -> None:
    """Stands for the commands of an installation: makes the environment's Python."""
    if "venv" in command:
        folder = Path(command[-1])
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "python").symlink_to(sys.executable)
        (folder / "lib" / Path(sys.executable).resolve().name).mkdir(parents=True)


def test_a_moved_environment_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provision, "_requirements", lambda: {"group": ["anything==1"]})
    monkeypatch.setattr(provision, "run_logged", make_python)
    old = provision.Layer("nothing", tmp_path / "old", ("group",))
    provision.pending([old])[0].action()
    (tmp_path / "old").rename(tmp_path / "new")
    assert len(provision.pending([provision.Layer("nothing", tmp_path / "new", ("group",))])) == 1


def test_a_second_dev_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "DEV", tmp_path)
    script = textwrap.dedent(
        f"""
        import pathlib, sys, time
        sys.path.insert(0, {str(source_tree.ROOT / "tools")!r})
        from devtool import lock
        lock.DEV = pathlib.Path({str(tmp_path)!r})
        with lock.exclusive():
            print("inside", flush=True)
            time.sleep(1)
            pathlib.Path(lock.DEV / "left").touch()
        """
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with lock.exclusive():
            assert (tmp_path / "left").exists()
    assert other.returncode == 0


def test_a_report_is_summed_up_truly(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    again = '<testcase name="again"/>'  # its first runs, as pytest-rerunfailures reports them
    cases = ["", "<failure/>", "<error/>", "<skipped/>", ""]
    report.write_text(
        f"<testsuites><testsuite>{again}"
        + "".join(f'<testcase name="{i}">{end}</testcase>' for i, end in enumerate(cases))
        + f'{again}<testcase name="again"><failure/></testcase>'
        '<testcase name="not run" status="notrun"/></testsuite></testsuites>'
    )
    outcome = testing._counts(report)
    assert (outcome.passed, outcome.failed, outcome.skipped) == (2, 3, 2)
    assert outcome.again == 2
    assert not outcome.good


def group_of(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tier: str = "default"
) -> testing.Outcome:
    """What comes of a group whose runner is this Python script."""
    monkeypatch.setattr(testing, "LOGS", tmp_path)
    monkeypatch.setattr(testing, "_ctest", lambda *_: [sys.executable, "-c", script])
    return testing._run_group(Group("fake", "a fake runner", (), ()), tier)


def reporting(text: str, tmp_path: Path, tier: str = "default") -> str:
    """A script that leaves such a report."""
    report = tmp_path / f"test-fake-{tier}.xml"
    return f"import sys, time; open({str(report)!r}, 'w').write({text!r})\n"


def test_a_group_that_runs_nothing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert group_of("pass", tmp_path, monkeypatch).problem == "ran no test"


@pytest.mark.parametrize("tier", ["quick", "default"])
def test_a_group_gets_no_setting_of_the_layer(
    tier: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The layer would name one that it does not know."""
    for name in [name for name in os.environ if name.startswith("HEADRACE_")]:
        monkeypatch.delenv(name)
    script = reporting("<testsuite><testcase/></testsuite>", tmp_path, tier)
    script += "import os; sys.exit(any(name.startswith('HEADRACE_') for name in os.environ))"
    assert group_of(script, tmp_path, monkeypatch, tier).good


def test_a_group_may_take_longer_than_usual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = reporting("<testsuite><testcase/></testsuite>", tmp_path) + "time.sleep(3)"
    outcome = group_of(script, tmp_path, monkeypatch)
    assert outcome.good and outcome.passed == 1
    assert outcome.seconds >= 3
    assert testing._summary({("fake", "default"): outcome}) == 0
    assert f"{outcome.seconds:6.0f} s" in capsys.readouterr().out


def test_a_group_that_is_stopped_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(self: subprocess.Popen, timeout: float | None = None) -> int:
        if timeout is None:
            while not (tmp_path / "child").exists():
                time.sleep(0.05)
            raise KeyboardInterrupt
        return wait(self, timeout)

    wait = subprocess.Popen.wait
    monkeypatch.setattr(subprocess.Popen, "wait", stop)
    with pytest.raises(KeyboardInterrupt):
        group_of(
            f"{FOREVER.format(child=tmp_path / 'child')}; time.sleep(3600)", tmp_path, monkeypatch
        )
    assert_ended(tmp_path / "child")


# Starts a process that does not end, and tells of it once it is there.
FOREVER = (
    "import os, subprocess, time; "
    "started = subprocess.Popen(['sleep', 'infinity']); "
    "open('{child}.new', 'w').write(str(started.pid)); os.rename('{child}.new', '{child}')"
)


def assert_ended(child: Path) -> None:
    """Of the process that is named there; it may have been ended before it was."""
    deadline = time.monotonic() + PATIENCE
    while child.exists() and is_running(int(child.read_text())):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def assert_one_hung(outcome: testing.Outcome, name: str, child: Path) -> None:
    """Of three cases; it is named, its processes are ended, and the others have run."""
    assert (outcome.passed, outcome.failed, outcome.skipped) == (2, 1, 0)
    assert [case.rpartition("::")[2] for case in outcome.hung] == [name]
    assert outcome.problem == ""
    assert_ended(child)


HANGING_CASES = """\
import subprocess, sys, pytest

def test_before():
    pass

@pytest.mark.timeout(5)
def test_hangs():
    # In a session of its own, as launchers and their ranks are.
    middle = [sys.executable, "-c", {script!r}]
    subprocess.run(["setsid", "--wait", *middle], check=True)

def test_after():
    pass
"""


def test_a_case_of_pytest_that_hangs_is_ended_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(testing, "LOGS", tmp_path)
    child = tmp_path / "child"
    script = f"{FOREVER.format(child=child)}; started.wait()"
    cases = tmp_path / "test_cases.py"
    cases.write_text(HANGING_CASES.format(script=script))
    group = Group("fake", "three cases", (str(cases),), ())
    # As any test of this checkout.
    extra = ["-c", str(source_tree.ROOT / "pyproject.toml"), "-p", "conftest"]
    monkeypatch.setenv("PYTHONPATH", str(source_tree.ROOT / "tests"))
    outcome = testing._run_group(group, "default", extra)
    assert_one_hung(outcome, "test_hangs", child)
    assert testing._summary({("fake", "default"): outcome}) == 1
    told = capsys.readouterr().out
    assert "ended, as it hung: " in told and "test_hangs\n" in told
    assert "2 passed, 1 failed, 0 skipped\n" in told


def test_a_case_of_ctest_that_hangs_is_ended_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(testing, "LOGS", tmp_path)
    monkeypatch.setattr(testing, "RELEASE", tmp_path)
    child = tmp_path / "child"
    (tmp_path / "hangs.py").write_text(f"{FOREVER.format(child=child)}; started.wait()")
    (tmp_path / "CTestTestfile.cmake").write_text(
        f"""
        add_test(before true)
        add_test(hangs {sys.executable} {tmp_path}/hangs.py)
        add_test(after true)
        set_tests_properties(before hangs after PROPERTIES LABELS fake)
        set_tests_properties(hangs PROPERTIES TIMEOUT 5)
        """
    )
    outcome = testing._run_group(Group("fake", "three tests", (), ()), "default")
    assert_one_hung(outcome, "hangs", child)


def test_a_job_that_hangs_is_ended_with_all_its_processes(tmp_path: Path) -> None:
    sys.path.insert(0, str(source_tree.ROOT / "tests" / "mpi"))
    running = importlib.import_module("running")
    child = tmp_path / "child"
    script = f"{FOREVER.format(child=child)}; started.wait()"
    result = running.run(["setsid", "--wait", sys.executable, "-c", script], timeout=5)
    assert result.code == 124
    assert "no end within 5 s" in result.err
    assert_ended(child)


def test_a_group_whose_runner_fails_is_not_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = reporting("<testsuite><testcase/></testsuite>", tmp_path) + "sys.exit(3)"
    outcome = group_of(script, tmp_path, monkeypatch)
    assert outcome.problem == "its runner ended with exit code 3"
    assert not outcome.good
