"""One ./dev at a time sets up and builds in a checkout, and one runs tests; others wait."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from devtool.paths import DEV

OF_THE_MACHINE = Path("/run")  # root's


@contextmanager
def exclusive(name: str = "lock", folder: Path | None = None) -> Iterator[None]:
    """Holds .dev/NAME, or that of another folder; the kernel frees it even when this process is
    killed."""
    where = folder or DEV
    where.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(where / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            place = "in this checkout" if folder is None else "on this machine"
            print(f"dev: waiting for another ./dev {place}", file=sys.stderr, flush=True)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
