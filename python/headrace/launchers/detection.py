"""Tells the family of a launcher, by its name or by what its `--version` prints."""

import re
import subprocess
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from headrace.launchers.families import FAMILIES, Family

PROBE_SECONDS = 20

# Names that several families use: what they resolve to decides, or what they print.
SHARED_COMMANDS = ("mpiexec", "mpirun")
KNOWN_COMMANDS = tuple(
    dict.fromkeys(
        [*SHARED_COMMANDS, *(name for family in FAMILIES.values() for name in family.commands)]
    )
)


def family_by_name(path: Path) -> Family | None:
    """The family that the name of a launcher, or of what it links to, belongs to alone."""
    for name in (path.name, path.resolve().name):
        for family in FAMILIES.values():
            if name in family.commands:
                return family
    return None


def version_text(launcher: Path, environ: Mapping[str, str]) -> str:
    """What `launcher --version` prints, "" when it cannot be run."""
    return answer_to("--version", launcher, environ)


def answer_to(option: str, launcher: Path, environ: Mapping[str, str]) -> str:
    """What a launcher prints when it has this option alone, "" when it cannot be run."""
    return _answer(option, launcher, frozenset(environ.items()))


@lru_cache
def _answer(option: str, launcher: Path, variables: frozenset[tuple[str, str]]) -> str:
    """Several parts of a start ask for the same."""
    try:
        answer = subprocess.run(
            [launcher, option],
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.decode("utf-8", "replace")


def family_by_version(text: str) -> Family | None:
    for family in FAMILIES.values():
        if family.version and re.search(family.version, text, re.MULTILINE):
            return family
    return None


def detect(launcher: Path, environ: Mapping[str, str]) -> Family | None:
    """The family of a launcher, by its name or else by asking for its version.

    Only commands named like a launcher are asked: anything else might be a program to run.
    """
    family = family_by_name(launcher)
    if family is None and looks_like_launcher(launcher.name):
        family = family_by_version(version_text(launcher, environ))
    return family


def looks_like_launcher(name: str) -> bool:
    return (
        name in KNOWN_COMMANDS or re.match(r"(mpi(exec|run)|prte?run|orterun)\b", name) is not None
    )
