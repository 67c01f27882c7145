"""The tracked files of the checkout, as the tests here look at them."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def files() -> tuple[Path, ...]:
    """Tracked files and new ones that git does not ignore."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / name for name in listed.split("\0") if name]
    return tuple(path for path in paths if path.is_file())


def with_suffix(*suffixes: str) -> list[Path]:
    return [path for path in files() if path.suffix in suffixes]


def is_generated(path: Path) -> bool:
    """Generated files live in folders of that name; their generator answers for them."""
    return "generated" in path.relative_to(ROOT).parts


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
