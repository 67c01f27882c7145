"""Directories that are given in place of a record."""

import os
from pathlib import Path

from cli_support import Command
from record_support import small_job


def test_a_directory_of_records_is_listed(headrace: Command, tmp_path: Path) -> None:
    """The newest one first, which the line proposes."""
    folder = tmp_path / "headrace-records"
    folder.mkdir()
    for age, name in enumerate(("app.1.2p1n.A.hrc", "b c.2.2p1n.B.hrc", "app.3.2p1n.C.hrc")):
        path = small_job().write(folder, name)
        os.utime(path, (1_000_000_000 + age % 2, 1_000_000_000 + age % 2))
    result = headrace("report", str(folder))
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith(
        f"headrace: '{folder}' is a directory of records (a report is of one job"
    )
    assert all(name in line for name in ("app.1.2p1n.A.hrc", "b c.2.2p1n.B.hrc"))
    assert line.endswith(f"type headrace report '{folder / 'b c.2.2p1n.B.hrc'}' for the newest one")


def test_a_directory_of_many_records_has_the_newest(headrace: Command, tmp_path: Path) -> None:
    for number in range(8):
        small_job().write(tmp_path, f"app.{number}.2p1n.hrc")
    result = headrace("report", str(tmp_path))
    assert " and 3 more)" in result.stderr, result.stderr
