"""Formatting, linting and generating: the tools of .dev/venv on the tracked files."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from devtool import building, provision
from devtool.paths import ROOT, VENV

CPP = (".cc", ".h", ".c")
# Generated files are formatted by their generator; a golden copy of them would differ otherwise.
GENERATED = "generated/"


def tracked(suffixes: Sequence[str]) -> list[str]:
    """Tracked files and new ones that are not ignored, with one of the suffixes."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    files = [name for name in listed.stdout.splitlines() if name.endswith(tuple(suffixes))]
    return [name for name in files if GENERATED not in name and (ROOT / name).exists()]


def format_files(check: bool) -> int:
    """Formats C++ and Python in place, or tells what is not formatted. Returns the exit code."""
    building.prepare([provision.CLI, provision.TEST_TOOLS], targets=())
    mode = ["--dry-run", "--Werror"] if check else ["-i"]
    failures = _tool("clang-format", *mode, *tracked(CPP))
    failures += _tool("ruff", "format", "--quiet", *(["--check"] if check else []), ".", "dev")
    fixes = [] if check else ["--fix"]
    return failures + _tool("ruff", "check", "--quiet", *fixes, ".", "dev")


def generate(arguments: Sequence[str]) -> int:
    """Runs tools/generate, which writes (or with --check compares) the generated files."""
    building.prepare([provision.CLI, provision.TEST_TOOLS], targets=())
    return _tool("python", "-m", "tools.generate", *arguments)


def _tool(name: str, *arguments: str) -> int:
    """1 when it failed; 0 otherwise."""
    environment = {**os.environ, **building.tool_environment(), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(VENV / "bin" / name), *arguments]
    return int(subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode != 0)
