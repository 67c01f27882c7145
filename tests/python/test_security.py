"""What the command leaves to other users: nothing that they could read, guess or replace."""

import os
import shutil
import signal
import stat
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from headrace.bench.workspace import workspace
from headrace.errors import HeadraceError
from headrace.launch.preload import find_library


def test_a_workspace_is_nobody_elses(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with workspace(tmp_path) as folder:
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            assert folder.stat().st_uid == os.geteuid()
    finally:
        os.umask(before)


def test_a_workspace_has_another_name_each_time(tmp_path: Path) -> None:
    names = set()
    for _ in range(20):
        with workspace(tmp_path) as folder:
            names.add(folder.name)
    assert len(names) == 20


def test_a_workspace_follows_no_planted_link(tmp_path: Path, monkeypatch) -> None:
    """Where the name it chose is taken, it takes another one."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    planted = iter(["planted", "planted", "free"])
    (tmp_path / "headrace-planted").symlink_to(elsewhere)
    monkeypatch.setattr("tempfile._get_candidate_names", lambda: planted)
    with workspace(tmp_path) as folder:
        assert folder.name == "headrace-free"
        (folder / "data").write_text("mine")
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize("mode", [0o646, 0o666, 0o777])
def test_a_library_that_all_may_change_is_not_preloaded(tmp_path: Path, mode: int) -> None:
    library = tmp_path / "libheadrace.so"
    library.write_bytes(b"")
    library.chmod(mode)
    with pytest.raises(HeadraceError, match="every user may change it"):
        find_library({"HEADRACE_LIBRARY": str(library)})
    library.chmod(0o755)
    assert find_library({"HEADRACE_LIBRARY": str(library)}) == library


def test_a_library_that_all_may_replace_is_not_preloaded(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    library = folder / "libheadrace.so"
    library.write_bytes(b"")
    library.chmod(0o755)
    folder.chmod(0o777)
    with pytest.raises(HeadraceError, match="every user may change"):
        find_library({"HEADRACE_LIBRARY": str(library)})
    folder.chmod(0o1777)  # as /tmp: only owners replace
    assert find_library({"HEADRACE_LIBRARY": str(library)}) == library


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a file away")
def test_a_library_of_another_user_is_not_preloaded(tmp_path: Path) -> None:
    library = tmp_path / "libheadrace.so"
    library.write_bytes(b"")
    library.chmod(0o755)
    os.chown(library, 65534, 65534)
    with pytest.raises(HeadraceError, match="it belongs to another user"):
        find_library({"HEADRACE_LIBRARY": str(library)})


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a directory away")
def test_a_library_in_the_directory_of_another_is_not_preloaded(tmp_path: Path) -> None:
    folder, good = tmp_path / "folder", tmp_path / "libheadrace.so"
    folder.mkdir()
    good.write_bytes(b"")
    (folder / "copy.so").write_bytes(b"")
    (folder / "link.so").symlink_to(good)
    os.chown(folder, 65534, 0)
    for name in ("copy.so", "link.so"):
        with pytest.raises(HeadraceError, match="folder' belongs to another user"):
            find_library({"HEADRACE_LIBRARY": str(folder / name)})


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to change the group of a file")
def test_a_library_that_another_group_may_change_is_not_preloaded(tmp_path: Path) -> None:
    library = tmp_path / "libheadrace.so"
    library.write_bytes(b"")
    library.chmod(0o775)
    assert find_library({"HEADRACE_LIBRARY": str(library)}) == library  # a group of one's own
    os.chown(library, 0, max(os.getgroups(), default=0) + 1000)
    with pytest.raises(HeadraceError, match="a group that you are not in may change it"):
        find_library({"HEADRACE_LIBRARY": str(library)})


def test_a_workspace_goes_though_somebody_still_writes_there(tmp_path: Path) -> None:
    """As ranks do, for a moment after Ctrl-C."""
    end = time.monotonic() + 0.5

    def write(folder: Path) -> None:
        while time.monotonic() < end:
            with suppress(OSError):
                (folder / "file").touch()

    with pytest.raises(KeyboardInterrupt), workspace(tmp_path) as folder:
        writer = threading.Thread(target=write, args=[folder])
        writer.start()
        raise KeyboardInterrupt
    writer.join()
    assert list(tmp_path.iterdir()) == []


def test_a_workspace_that_stays_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("headrace.bench.workspace.PAUSE_SECONDS", 0)
    monkeypatch.setattr("shutil.rmtree", lambda *_, **__: None)
    with pytest.raises(KeyboardInterrupt), workspace(tmp_path) as folder:
        raise KeyboardInterrupt
    assert f"'{folder}' was not removed" in capsys.readouterr().err


def test_a_second_ctrl_c_does_not_keep_a_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove = shutil.rmtree

    def interrupted(*words, **more) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
        remove(*words, **more)

    monkeypatch.setattr("shutil.rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt), workspace(tmp_path) as folder:
        (folder / "file").touch()
        raise KeyboardInterrupt
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []
