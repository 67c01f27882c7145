"""Templates in, formatted text out."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import jinja2

FORMATTED_SUFFIXES = {".h", ".cc"}


class SpecError(Exception):
    """The data in spec/ is wrong, or a tool is missing. The text says what to do."""


@dataclass(frozen=True)
class Output:
    """One generated file: its path from the repository's root, and its text."""

    path: str
    text: str


def environment(folders: tuple[Path, ...] = ()) -> jinja2.Environment:
    """Templates of tools/generate/templates and more. A name that one misspells is an error."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader([Path(__file__).parent / "templates", *folders]),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    made.filters["c_string"] = c_string
    return made


def render(template: str, path: str, folders: tuple[Path, ...] = (), **values: object) -> Output:
    """The template filled with `values`; `folders` have templates beside the usual ones."""
    text = environment(folders).get_template(template).render(**values)
    return Output(path, text)


def c_string(text: str) -> str:
    """`text` as a C string literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def finish(outputs: list[Output]) -> list[Output]:
    """The outputs with C++ in the repository's format."""
    formatter = find_formatter()
    return [
        replace(output, text=format_code(formatter, output))
        if Path(output.path).suffix in FORMATTED_SUFFIXES
        else output
        for output in outputs
    ]


def find_formatter() -> str:
    """clang-format beside this Python, else in PATH."""
    beside = Path(sys.executable).parent / "clang-format"
    found = str(beside) if beside.exists() else shutil.which("clang-format")
    if not found:
        raise SpecError(
            "clang-format is missing (generated C++ is committed formatted), "
            "install it: pip install clang-format"
        )
    return found


def format_code(formatter: str, output: Output) -> str:
    """The text as clang-format and the repository's .clang-format lay it out."""
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [formatter, f"--assume-filename={root / output.path}", "--style=file"],
        input=output.text,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SpecError(f"clang-format failed on {output.path}: {done.stderr.strip()}")
    return done.stdout
