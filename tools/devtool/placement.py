"""./dev placement: builds what the jobs need and starts tests/placement."""

from __future__ import annotations

from collections.abc import Sequence

from devtool import building, provision
from devtool.paths import ROOT
from devtool.prepared import run_prepared

RUNNER = ROOT / "tests" / "placement" / "main.py"


def run(arguments: Sequence[str]) -> int:
    """Returns the exit code."""
    layers = [*provision.BUILD, *provision.WHEELS.values()]
    return run_prepared(RUNNER, arguments, lambda: building.prepare(layers))
