"""Programs of tests that ./dev starts by the Python of .dev/venv, once what they need is there."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from devtool import building, debian, provision
from devtool.paths import ROOT, VENV


def asks_for_help(arguments: Sequence[str]) -> bool:
    return bool({"-h", "--help"} & set(arguments))


def run_prepared(runner: Path, arguments: Sequence[str], prepare: Callable[[], None]) -> int:
    """Returns the exit code. Help needs no preparation but that Python."""
    if not asks_for_help(arguments):
        prepare()
    building.prepare([provision.CLI], [debian.VENV], targets=())
    command = [str(VENV / "bin" / "python"), str(runner), *arguments]
    return subprocess.run(command, cwd=ROOT, check=False).returncode
