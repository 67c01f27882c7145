"""Files that are there as a whole or not at all."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cli_support import ROOT
from mounting import mounted

from headrace.places import make_public_directory, try_whole, write_whole


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_file_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("before")
    path.chmod(0o640)
    before = path.open()
    write_whole(path, "after")
    assert path.read_text() == "after" and mode_of(path) == 0o640
    assert before.read() == "before"  # who reads it meanwhile reads one of both
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("mask", [0o077, 0o002])
def test_a_mode_counts_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        make_public_directory(tmp_path / "a" / "b")
        write_whole(tmp_path / "a" / "b" / "f", "text", 0o644)
    finally:
        os.umask(before)
    paths = [tmp_path / "a", *sorted((tmp_path / "a").rglob("*"))]
    assert [mode_of(path) for path in paths] == [0o755, 0o755, 0o644]


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    write_whole(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_text() == "text"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    try_whole(tmp_path / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    write_whole(tmp_path / "pipe", "text")
    reader.join()
    assert read == ["text"] and (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_an_open_file_is_written_to_behind_what_it_has(tmp_path: Path, name: str) -> None:
    program = (
        "from pathlib import Path; from headrace.places import try_whole, write_whole\n"
        f"print('first'); path = Path('{name}'); try_whole(path); write_whole(path, 'second\\n')\n"
        "print('third')"
    )
    with (tmp_path / "out").open("wb") as out:
        environ = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
        subprocess.run([sys.executable, "-c", program], stdout=out, env=environ, check=True)
    assert (tmp_path / "out").read_text() == "first\nsecond\nthird\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_longest_name_does(tmp_path: Path) -> None:
    path = tmp_path / ("ü" * 127)
    try_whole(path)
    write_whole(path, "text")
    assert path.read_text() == "text"
    with pytest.raises(OSError, match="too long"):
        try_whole(tmp_path / ("ü" * 128))


def test_what_is_tried_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("text")
    for path in (tmp_path / "f", tmp_path / "g"):
        try_whole(path)
    try_whole(tmp_path / "no" / "such" / "f", makes_folders=True)
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
    assert (tmp_path / "f").read_text() == "text"
    for path in (tmp_path, tmp_path / "f" / "g", tmp_path / "no" / "such" / "f"):
        with pytest.raises(OSError):
            try_whole(path)


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    with mounted("-t", "tmpfs", "-o", "size=16k", "tmpfs", at=tmp_path / "mount"):
        path = tmp_path / "mount" / "f"
        path.write_text("before")
        with pytest.raises(OSError, match="No space left"):
            try_whole(path)
        with pytest.raises(OSError, match="No space left"):
            write_whole(path, "x" * 20_000)
        assert path.read_text() == "before" and list(path.parent.iterdir()) == [path]
