"""./dev device-check: device buffers with a real driver, here or on a machine without network."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from devtool import building, debian, provision
from devtool.paths import DEV, ROOT, VENV, shown

FOLDER = DEV / "device-check"
PAGE = ROOT / "docs" / "measurements" / "device-check.md"
SOURCES = ROOT / "tests" / "device_check"


def run(arguments: Sequence[str]) -> int:
    """Packs the programs, and runs them unless --pack says where to. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="./dev device-check", description=__doc__)
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument(
        "--pack",
        type=Path,
        metavar="FOLDER",
        help="only pack what a machine with a device needs, to run python3 FOLDER/check.py there",
    )
    ways.add_argument("--record", action="store_true", help=f"also write {shown(PAGE)}")
    options, words = parser.parse_known_args(arguments)
    folder = options.pack or FOLDER
    debian.ensure([*debian.BUILD, *debian.MPI_TESTS])
    building.prepare([*provision.BUILD, provision.TEST_TOOLS, *provision.WHEELS.values()])
    _pack(folder)
    if options.pack:
        print(f"{folder} is ready: on a machine with a device, run python3 check.py in it")
        return 0
    report = ["--report", PAGE] if options.record else []
    command = [VENV / "bin" / "python", folder / "check.py", *report, *words]
    return subprocess.run([str(word) for word in command], check=False).returncode


def _pack(folder: Path) -> None:
    if folder == FOLDER:  # another one may have more in it
        shutil.rmtree(FOLDER, ignore_errors=True)
    modules = f"{ROOT / 'tests' / 'mpi'}:{ROOT / 'tests' / 'support'}"
    subprocess.run(
        [VENV / "bin" / "python", SOURCES / "pack.py", folder],
        env=os.environ | {"PYTHONPATH": modules},
        check=True,
    )
