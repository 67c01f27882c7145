"""File systems that a test mounts for itself."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted(*words: object, at: Path) -> Iterator[None]:
    """mount(8)'s `words` at a new directory; the test is skipped where that cannot be done."""
    at.mkdir()
    line = ["mount", *map(str, words), at]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"cannot mount: {done.stderr}")
    try:
        yield
    finally:
        subprocess.run(["umount", at], check=True)
