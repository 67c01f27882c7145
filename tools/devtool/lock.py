"""One ./dev at a time sets up and builds in a checkout, and one runs tests; others wait."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from devtool.paths import DEV


@contextmanager
def exclusive(name: str = "lock") -> Iterator[None]:
    """Holds .dev/NAME; the kernel frees it even when this process is killed."""
    DEV.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(DEV / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("dev: waiting for another ./dev in this checkout", file=sys.stderr, flush=True)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
