"""Directories of records that are given in place of one."""

import os
import sqlite3
from pathlib import Path

import pytest
from cli_support import Command
from record_support import small_job

NAMES = ("app.1.2p1n.A.hrc", "b c.2.2p1n.B.hrc", "app.3.2p1n.C.hrc")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The second record is the newest one."""
    made = tmp_path / "headrace-records"
    made.mkdir()
    for age, name in enumerate(NAMES):
        path = small_job().write(made, name)
        os.utime(path, (1_000_000_000 + age % 2, 1_000_000_000 + age % 2))
    return made


def line_on(folder: Path) -> str:
    return f"headrace: takes '{folder / NAMES[1]}', the newest of 3 records there"


def test_a_report_is_of_the_newest(headrace: Command, folder: Path) -> None:
    asked = headrace("report", str(folder))
    named = headrace("report", str(folder / NAMES[1]))
    assert asked.returncode == named.returncode == 0, asked.stderr
    assert asked.stdout == named.stdout
    assert asked.stderr.splitlines() == [line_on(folder)]


def test_a_page_lies_beside_the_newest(headrace: Command, folder: Path) -> None:
    result = headrace("report", str(folder), "--html")
    assert result.stdout.strip() == str(folder / "b c.2.2p1n.B.html"), result.stderr


def test_settings_and_exports_are_of_the_newest(headrace: Command, folder: Path) -> None:
    applied = headrace("apply", str(folder))
    assert (applied.returncode, applied.stderr.strip()) == (0, line_on(folder))
    made = folder / "made.sqlite"
    exported = headrace("record", "export", str(folder), "--sqlite", str(made))
    assert (exported.returncode, exported.stderr.strip()) == (0, line_on(folder))
    assert sqlite3.connect(made).execute("select count(*) from ranks").fetchone()[0] > 0


def test_a_change_since_a_directory(headrace: Command, folder: Path) -> None:
    result = headrace("report", str(folder / NAMES[0]), "--since", str(folder))
    assert (result.returncode, result.stderr.strip()) == (0, line_on(folder))


def test_the_only_record_needs_no_line(headrace: Command, folder: Path) -> None:
    for name in NAMES[1:]:
        (folder / name).unlink()
    result = headrace("report", str(folder))
    assert (result.returncode, result.stderr) == (0, "")
