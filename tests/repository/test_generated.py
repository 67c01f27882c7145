"""Generated files are what the generators make of spec/ and pympistandard today."""

from __future__ import annotations

import subprocess
import sys

import source_tree


def test_generated_files_are_up_to_date() -> None:
    command = [sys.executable, "-m", "tools.generate", "--check"]
    done = subprocess.run(
        command, cwd=source_tree.ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"run ./dev generate\n{done.stdout}{done.stderr}"


def test_there_are_generated_files() -> None:
    assert any(source_tree.is_generated(path) for path in source_tree.files())
