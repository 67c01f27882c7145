"""./dev itself: its help, its messages, its stamps, its lock and its sums."""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
import time
import venv
from pathlib import Path

import pytest
import source_tree

from devtool import debian, lock, provision, testing
from devtool.failure import Failure

DEV = source_tree.ROOT / "dev"


def run_dev(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(DEV), *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=60)


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
    report.write_text(
        "<testsuites><testsuite><testcase/><testcase><failure/></testcase>"
        "<testcase><error/></testcase><testcase><skipped/></testcase><testcase/>"
        '<testcase status="notrun"/></testsuite></testsuites>'
    )
    outcome = testing._counts(report)
    assert (outcome.passed, outcome.failed, outcome.skipped) == (2, 2, 2)
    assert not outcome.good


def group_of(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> testing.Outcome:
    """What comes of a group whose runner is this Python script; a budget of two seconds."""
    monkeypatch.setattr(testing, "LOGS", tmp_path)
    monkeypatch.setattr(testing, "_ctest", lambda *_: [sys.executable, "-c", script])
    group = testing.Group("fake", "a fake runner", (), 2, 2, ())
    return testing._run_group(group, False, [])


def test_a_group_that_runs_nothing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert group_of("pass", tmp_path, monkeypatch).problem == "ran no test"


def test_a_group_out_of_time_fails_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = f"import time; time.sleep(4); open({str(tmp_path / 'survivor')!r}, 'w')"
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    begin = time.monotonic()
    assert group_of(script, tmp_path, monkeypatch).problem == "ran out of its 2 s"
    assert time.monotonic() - begin < 4
    time.sleep(max(0.0, begin + 5 - time.monotonic()))
    assert not (tmp_path / "survivor").exists()


def test_a_group_whose_runner_fails_is_not_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = tmp_path / "test-fake.xml"
    text = "<testsuite><testcase/></testsuite>"
    script = f"import sys; open({str(report)!r}, 'w').write({text!r}); sys.exit(3)"
    outcome = group_of(script, tmp_path, monkeypatch)
    assert outcome.problem == "its runner ended with exit code 3"
    assert not outcome.good
