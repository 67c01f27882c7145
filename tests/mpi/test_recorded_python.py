"""Lines of Python in call paths, by each interpreter that is at hand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from conftest import absent
from hosts import MPI_DIRECTORY, Host, all_hosts, host_named
from running import PROGRAMS, launch, work_directory
from test_recorder import report_of

PROGRAM = PROGRAMS / "python_sites.py"


@cache
def interpreter(version: str) -> Path | None:
    """Where it is, not what leads to it."""
    found = shutil.which(f"python{version}")
    if found is None:
        return None
    line = [found, "-c", "import ctypes, sys; print(sys.executable)"]
    chosen = os.environ | {"PYENV_VERSION": version}  # of pyenv's, which have one name
    done = subprocess.run(line, capture_output=True, text=True, env=chosen, check=False)
    return Path(done.stdout.strip()) if done.returncode == 0 else None


def expected() -> Counter[tuple[str, int]]:
    """Calls by procedure and line, as the program's comments say."""
    found: Counter[tuple[str, int]] = Counter()
    for number, line in enumerate(PROGRAM.read_text().splitlines(), 1):
        if mark := re.search(r"# (\d+) of (MPI_\w+)$", line):
            found[mark[2], number] = int(mark[1])
    assert len(found) == 5
    return found


def recorded(host: Host, python: Path, version: str) -> dict:
    library = next((MPI_DIRECTORY / host.name / "lib").glob("libmpi.so.*"))
    directory = work_directory(f"recorded-python-{host.name}-{version}")
    settings = {"HEADRACE_RECORD": "1", "HEADRACE_LOGPATH": str(directory)}
    result = launch(host, 1, [python, PROGRAM, library], True, settings)
    assert result.code == 0, result.explain()
    (record,) = directory.glob("*.hrc")
    return report_of(record)


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
@pytest.mark.parametrize("name", [host.name for host in all_hosts() if host.python])
def test_call_sites(name: str, version: str, library: Path) -> None:
    host, python = host_named(name), interpreter(version)
    if host.missing:
        absent(host.missing)
    if python is None:
        pytest.skip(f"there is no python{version}")
    found: Counter[tuple[str, int]] = Counter()
    for path in recorded(host, python, version)["mpi"]["paths"]:
        innermost = path["frames"][0]
        assert Path(innermost["file"] or "").name == PROGRAM.name, path
        found[path["procedure"], innermost["line"]] += path["calls"]
    assert found == expected()
