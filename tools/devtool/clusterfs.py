"""./dev clusterfs: installs the file systems' packages and starts tests/clusterfs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from devtool import building, debian, provision
from devtool.failure import Failure
from devtool.paths import ROOT, VENV

RUNNER = ROOT / "tests" / "clusterfs" / "main.py"


def run(arguments: Sequence[str]) -> int:
    """Prepares what the file systems and the jobs need and runs them. Returns the exit code."""
    if not {"-h", "--help"} & set(arguments):
        _check_machine()
        debian.ensure(debian.CLUSTER_FILE_SYSTEMS)
        building.prepare([*provision.BUILD, *provision.WHEELS.values()])
    command = [str(VENV / "bin" / "python"), str(RUNNER), *arguments]
    return subprocess.run(command, cwd=ROOT, env=dict(os.environ), check=False).returncode


def _check_machine() -> None:
    """What no package can help against. Errors: Failure."""
    if os.geteuid() != 0:
        raise Failure(
            "emulated nodes need root",
            "namespaces, mounts and network cards are made for them",
            "run ./dev clusterfs as root, on a machine or in a container of yours",
        )
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError as error:
        raise Failure(
            "nothing can be mounted by FUSE here",
            f"/dev/fuse: {error.strerror}",
            "load the module fuse, or give the container the device /dev/fuse",
        ) from error
