"""What users and machines do wrong, as an unprivileged user: class, text, exit, nothing left."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import absent
from hosts import Host
from running import Result, compile_c, run

NOBODY = 65534
# MPICH 4.0 loses what MPI_Add_error_string said of a code whose class is predefined.
WITHOUT_TEXT = {"mpich4"}
# The library and the MPIs must be readable for the unprivileged user; so is a directory for files.
PLACE = Path("/var/tmp") / f"mpi-bad-input-{os.getpid()}"
DROP = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
SOURCES = ["bad_input.c", "harness.c", "harness_data.c"]


@pytest.fixture
def place(needs_root):
    """A directory that the unprivileged user owns."""
    PLACE.mkdir(mode=0o755)
    os.chown(PLACE, NOBODY, NOBODY)
    yield PLACE
    subprocess.run(["umount", "-q", PLACE / "mount"], check=False)
    shutil.rmtree(PLACE)


def run_bad(host: Host, ranks: int, arguments: list, library: Path) -> tuple[Result, list[str]]:
    """One line a rank, in rank order."""
    program = compile_c(host, SOURCES, "bad_input")
    copies = PLACE / "bin"
    copies.mkdir(exist_ok=True)
    ours = [Path(shutil.copy(path, copies)) for path in (program, library)]
    launcher = host.launch_line(ranks)
    if run([*DROP, "test", "-x", shutil.which(launcher[0])]).code != 0:
        absent(f"the unprivileged user may not run {launcher[0]}")
    # all of it as that user: Open MPI's ranks and daemon must be of one user
    user = [*DROP, "env", f"HOME={PLACE}", f"TMPDIR={PLACE}"]
    line = [*user, *launcher, "env", f"LD_PRELOAD={ours[1]}", "HEADRACE_QUIET=1", ours[0]]
    result = run([*line, *arguments], host.environment, cwd=PLACE)
    assert result.code == 0, result.explain()
    assert not result.litter, result.litter
    return result, sorted(line for line in result.out.splitlines() if line.startswith("rank "))


def expect_open_failure(host: Host, path: Path, classes: set[str], library: Path) -> None:
    result, lines = run_bad(host, 2, [path, 10000], library)
    assert len(lines) == 2, result.explain()
    for line in lines:
        assert line.split()[2] == "open" and line.split()[3].rstrip(":") in classes, line
        named = host.family in WITHOUT_TEXT or str(path) in line
        assert named, f"the text does not name the file: {line}"
        assert "error stack" not in line, f"a text of the library that is not ours: {line}"


def test_no_permission(host: Host, place: Path, library) -> None:
    (place / "closed").mkdir(mode=0o700)
    expect_open_failure(host, place / "closed" / "data", {"ACCESS"}, library)


def test_missing_directory(host: Host, place: Path, library) -> None:
    expect_open_failure(host, place / "missing" / "data", {"NO_SUCH_FILE"}, library)


def test_read_only_file_system(host: Host, place: Path, library) -> None:
    (place / "mount").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", place / "mount"], check=True)
    expect_open_failure(host, place / "mount" / "data", {"READ_ONLY"}, library)


def written(lines: list[str]) -> list[tuple[str, int, str]]:
    found = [re.match(r"rank \d+ write (\S+) (-?\d+) close (\S+):", line) for line in lines]
    assert all(found), lines
    return [(match[1], int(match[2]), match[3]) for match in found]


def check_counts(lines: list[str], path: Path, bytes_per_rank: int) -> None:
    """A rank that reports all its bytes has them in the file; one that does not has an error."""
    content = path.read_bytes() if path.exists() else b""
    ranks = len(lines)
    for rank, (error_class, count, _) in enumerate(written(lines)):
        pieces = [
            content[(i * ranks + rank) * 1000 : (i * ranks + rank + 1) * 1000]
            for i in range(bytes_per_rank // 1000)
        ]
        present = sum(len(piece) for piece in pieces)
        assert (error_class == "SUCCESS") == (count == bytes_per_rank), lines[rank]
        if error_class == "SUCCESS":
            assert present == bytes_per_rank, f"{lines[rank]}: {present} bytes are in the file"
            assert all(any(piece) for piece in pieces), f"{lines[rank]}: holes in its data"
        assert 0 <= count <= present, f"{lines[rank]}: {present} bytes are in the file"


def test_full_file_system(host: Host, place: Path, library) -> None:
    (place / "mount").mkdir()
    options = f"size=512k,uid={NOBODY},gid={NOBODY}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place / "mount"], check=True)
    path = place / "mount" / "data"
    result, lines = run_bad(host, 2, [path, 1_000_000], library)
    classes = {error_class for error_class, _, _ in written(lines)}
    assert "NO_SPACE" in classes and classes <= {"NO_SPACE", "SUCCESS"}, result.explain()
    if host.family not in WITHOUT_TEXT:
        assert any(str(path) in line for line in lines), result.explain()
    check_counts(lines, path, 1_000_000)


@pytest.mark.parametrize("limited", [0, 1], ids=["rank0", "rank1"])
def test_file_size_limit(host: Host, limited: int, place: Path, library) -> None:
    """EFBIG on one rank: no signal, and an error where that rank's bytes did not get written."""
    path = place / "data"
    result, lines = run_bad(host, 2, [path, 1_000_000, 300_000, limited], library)
    classes = [error_class for error_class, _, _ in written(lines)]
    assert classes[1 - limited] == "SUCCESS", result.explain()
    assert "SIGXFSZ" not in result.err and "File size limit" not in result.err
    check_counts(lines, path, 1_000_000)
    if classes[limited] != "SUCCESS" and host.family not in WITHOUT_TEXT:
        assert str(path) in lines[limited], lines[limited]
