"""What every hand-written file keeps to, checked by the tools that also mend it (./dev format)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import source_tree

CPP = (".cc", ".h", ".c")
HAND_WRITTEN = (*CPP, ".py", ".cmake", ".f90", ".F90", ".f", ".sh", ".txt", ".toml")
MOST_LINES = 400

# Written in pieces, so that this file does not name what it forbids.
MACHINE_PATHS = re.compile(
    r"(?<![\w.$}])/(?:" + "|".join(["wor" + "k", "opt/" + "lab", "roo" + "t"]) + r")/"
)
REGISTRIES = re.compile("|".join(["pypi" + r"\.org", "python" + "hosted", r"deb\." + "debian"]))


def test_files_are_short() -> None:
    lengths = {
        source_tree.shown(path): len(source_tree.text(path).splitlines())
        for path in source_tree.with_suffix(*HAND_WRITTEN)
        if not source_tree.is_generated(path)
    }
    assert lengths
    long = {name: length for name, length in lengths.items() if length > MOST_LINES}
    assert not long, f"longer than {MOST_LINES} lines: {long}"


@pytest.mark.parametrize(
    ("what", "pattern"), [("a path of one machine", MACHINE_PATHS), ("a registry", REGISTRIES)]
)
def test_no_file_names(what: str, pattern: re.Pattern[str]) -> None:
    wrong = []
    for path in source_tree.files():
        try:
            lines = source_tree.text(path).splitlines()
        except UnicodeDecodeError:
            continue
        wrong += [
            f"{source_tree.shown(path)}:{number}: {line.strip()}"
            for number, line in enumerate(lines, start=1)
            if pattern.search(line)
        ]
    assert not wrong, f"{what} is named in\n" + "\n".join(wrong)


def test_no_trailing_space_and_a_last_newline() -> None:
    wrong = []
    for path in source_tree.with_suffix(*HAND_WRITTEN, ".md", ".json"):
        text = source_tree.text(path)
        if re.search(r"[ \t]$", text, re.MULTILINE) or (text and not text.endswith("\n")):
            wrong.append(source_tree.shown(path))
    assert not wrong, wrong


def test_python_is_valid() -> None:
    scripts = [*source_tree.with_suffix(".py"), source_tree.ROOT / "dev"]
    for path in scripts:
        compile(source_tree.text(path), str(path), "exec")


def test_shell_is_valid() -> None:
    first_lines = {path: _first_line(path) for path in source_tree.files()}
    scripts = [path for path, line in first_lines.items() if re.match(rb"#!.*\b(ba)?sh\b", line)]
    assert source_tree.ROOT / ".ci" / "run" in scripts
    for path in scripts:
        done = subprocess.run(["bash", "-n", path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_data_files_parse() -> None:
    for path in source_tree.with_suffix(".toml"):
        tomllib.loads(source_tree.text(path))
    for path in source_tree.with_suffix(".json"):
        json.loads(source_tree.text(path))


def test_scripts_can_be_run() -> None:
    for name in ("dev", ".ci/run"):
        assert os.access(source_tree.ROOT / name, os.X_OK), f"{name} is not executable"


def test_python_is_formatted_and_linted() -> None:
    _tool("ruff", "format", "--check", ".", "dev")
    _tool("ruff", "check", ".", "dev")


def test_cpp_is_formatted() -> None:
    files = [str(path) for path in source_tree.with_suffix(*CPP)]
    _tool("clang-format", "--dry-run", "--Werror", *_without_generated(files))


def _without_generated(names: list[str]) -> list[str]:
    return [name for name in names if not source_tree.is_generated(Path(name))]


def _tool(name: str, *arguments: str) -> None:
    """Runs a tool of the environment the tests run in. It must be there: ./dev test installs it."""
    command = [str(Path(sys.executable).parent / name), *arguments]
    done = subprocess.run(
        command, cwd=source_tree.ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"run ./dev format\n{done.stdout[-4700:]}{done.stderr[-4700:]}"


def _first_line(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.readline(200)
