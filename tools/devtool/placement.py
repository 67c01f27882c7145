"""./dev placement: builds what the jobs need and starts tests/placement."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from devtool import building, provision
from devtool.paths import ROOT, VENV

RUNNER = ROOT / "tests" / "placement" / "main.py"


def run(arguments: Sequence[str]) -> int:
    """Returns the exit code."""
    if not {"-h", "--help"} & set(arguments):
        building.prepare([*provision.BUILD, *provision.WHEELS.values()])
    command = [str(VENV / "bin" / "python"), str(RUNNER), *arguments]
    return subprocess.run(command, cwd=ROOT, env=dict(os.environ), check=False).returncode
