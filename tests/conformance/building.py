"""Compiling other people's programs, once per MPI and again when a source has changed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from case import BUILD
from hosts import Host

C_FLAGS = ["-std=gnu11", "-O1", "-g", "-w"]


def compile_with(
    host: Host, language: str, sources: Sequence[Path], name: str, flags: Sequence[str] = ()
) -> tuple[Path, str]:
    """The program below build/conformance/MPI, and why it could not be built, or empty.

    `flags` go behind the sources, where libraries belong.
    """
    target = BUILD / host.name / name
    if up_to_date(target, sources):
        return target, ""
    target.parent.mkdir(parents=True, exist_ok=True)
    compiler = host.compilers[language]
    libraries = [word for word in compiler if word.startswith("-l")]
    command = [word for word in compiler if word not in libraries]
    command += C_FLAGS if language == "c" else ["-O1", "-g", "-w"]
    command += [*map(str, sources), "-o", str(target), *flags, *libraries]
    environment = os.environ | host.environment
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    log = target.with_suffix(".log")
    log.write_text(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return target, "" if done.returncode == 0 else f"does not compile, see {log}"


def up_to_date(target: Path, sources: Sequence[Path]) -> bool:
    if not target.exists():
        return False
    return target.stat().st_mtime >= max(source.stat().st_mtime for source in sources)


def write_if_changed(path: Path, text: str) -> None:
    """So that what is made from it is not made again."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
