"""Whether a machine can have the nodes and mounts, and what it is."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from headrace.bench.peers.identity import describe_machine

PROGRAMS = {
    "ip": "iproute2",
    "unshare": "util-linux",
    "ceph-mon": "ceph-mon",
    "ceph-osd": "ceph-osd",
    "ceph-mds": "ceph-mds",
    "ceph-fuse": "ceph-fuse",
    "ceph": "ceph-common",
    "setfattr": "attr",
    "glusterd": "glusterfs-server",
    "glusterfs": "glusterfs-client",
}
LEAST_FREE = 8 << 30


def what_is_missing() -> str:
    """The first thing that keeps the file systems from running here, as "problem (why), what to
    do", or empty."""
    tried = subprocess.run(
        ["unshare", "-n", "-u", "-i", "-m", "-p", "--fork", "true"], capture_output=True, text=True
    )
    if tried.returncode != 0:
        return f"no namespaces can be made ({tried.stderr.strip()}), run me where they are allowed"
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None:
            return f"there is no {program} (the package {package} is missing), install it"
    free = _free_memory()
    if free < LEAST_FREE:
        return (
            f"{free >> 20} MiB of memory are free (servers and their files lie in it), "
            f"use a machine with {LEAST_FREE >> 20} MiB"
        )
    return ""


def describe() -> dict:
    return describe_machine() | {
        "ceph": _version(["ceph-fuse", "--version"]),
        "glusterfs": _version(["glusterfs", "--version"]),
    }


def _version(command: list[str]) -> str:
    said = subprocess.run(command, capture_output=True, text=True).stdout
    found = re.search(r"\d+(\.\d+)+", said)
    return found[0] if found else "?"


def _free_memory() -> int:
    line = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.M)
    return int(line[1]) << 10 if line else 0
