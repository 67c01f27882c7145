"""Templates in, formatted text out."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import jinja2

ROOT = Path(__file__).resolve().parents[2]

CLANG_FORMAT = ("clang-format", "--assume-filename={path}", "--style=file")
RUFF = ("ruff", "format", "--no-cache", "--quiet", "--stdin-filename={path}", "-")
FORMATTERS = {".h": CLANG_FORMAT, ".cc": CLANG_FORMAT, ".py": RUFF}


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
    made.filters["python_literal"] = python_literal
    return made


def render(template: str, path: str, folders: tuple[Path, ...] = (), **values: object) -> Output:
    """The template filled with `values`; `folders` have templates beside the usual ones."""
    text = environment(folders).get_template(template).render(**values)
    return Output(path, text)


def c_string(text: str) -> str:
    """`text` as a C string literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def python_literal(value: str | list[str]) -> str:
    """A text, or a tuple of texts, as Python has it."""
    return repr(tuple(value) if isinstance(value, list) else value)


def finish(outputs: list[Output]) -> list[Output]:
    """The outputs with code in the repository's format."""
    return [
        replace(output, text=format_code(output))
        if Path(output.path).suffix in FORMATTERS
        else output
        for output in outputs
    ]


def find_formatter(name: str) -> str:
    """A formatter beside this Python, else in PATH."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if not found:
        raise SpecError(
            f"{name} is missing (generated code is committed formatted), "
            f"install it: pip install {name}"
        )
    return found


def format_code(output: Output) -> str:
    """The text as the repository's settings of its language's formatter lay it out."""
    name, *arguments = FORMATTERS[Path(output.path).suffix]
    path = str(ROOT / output.path)
    done = subprocess.run(
        [find_formatter(name), *(argument.format(path=path) for argument in arguments)],
        input=output.text,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    if done.returncode:
        raise SpecError(f"{name} failed on {output.path}: {done.stderr.strip()}")
    return done.stdout
