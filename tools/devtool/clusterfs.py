"""./dev clusterfs: installs the file systems' packages and starts tests/clusterfs."""

from __future__ import annotations

import os
from collections.abc import Sequence

from devtool import building, debian, provision
from devtool.failure import Failure
from devtool.paths import ROOT
from devtool.prepared import run_prepared

RUNNER = ROOT / "tests" / "clusterfs" / "main.py"


def run(arguments: Sequence[str]) -> int:
    """Prepares what the file systems and the jobs need and runs them. Returns the exit code."""
    return run_prepared(RUNNER, arguments, _prepare)


def _prepare() -> None:
    _check_machine()
    debian.ensure(debian.CLUSTER_FILE_SYSTEMS)
    building.prepare([*provision.BUILD, *provision.WHEELS.values()])


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
