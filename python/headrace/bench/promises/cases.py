"""The cases: what the program `promises` can try, as it says itself."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headrace.bench.programs import find_program
from headrace.bench.runner import Host
from headrace.errors import HeadraceError

PROGRAM = "promises"
LIST_SECONDS = 30


@dataclass(frozen=True)
class Case:
    """One promise. section: of the MPI standard (4.1 and 5.0); is_standard: whether the standard's
    text makes it, or programs count on it without; patience: how many times the usual limit of
    time it has."""

    name: str
    ranks: int
    patience: int
    is_standard: bool
    section: str
    promise: str


def read_cases(text: str) -> list[Case]:
    """The cases that the program's list names, a line each."""
    cases = []
    for line in text.splitlines():
        name, ranks, patience, ground, section, promise = line.split("\t")
        cases.append(Case(name, int(ranks), int(patience), ground == "standard", section, promise))
    return cases


def list_cases(host: Host, environ: Mapping[str, str]) -> list[Case]:
    """What the program for this MPI can try. It needs the MPI's library to start, no launcher."""
    program = find_program(PROGRAM, host.name, environ)
    try:
        done = subprocess.run(
            [str(program), "--list"],
            env={**os.environ, **environ, **host.variables},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise _cannot_run(program, host, f"it did not end within {LIST_SECONDS} s") from error
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise _cannot_run(program, host, said[-1])
    return read_cases(done.stdout)


def _cannot_run(program: Path, host: Host, why: str) -> HeadraceError:
    return HeadraceError(
        f"{program} cannot run with {host.title}",
        why,
        "check that the library of this MPI can be loaded",
    )


def select(cases: Sequence[Case], wanted: Sequence[str]) -> list[Case]:
    """The cases of these names, or whose names begin so; all where none is named."""
    for name in wanted:
        if not any(case.name.startswith(name) for case in cases):
            known = ", ".join(case.name for case in cases)
            raise HeadraceError(
                f"there is no case '{name}'", "no name begins so", f"give some of: {known}"
            )
    return [
        case for case in cases if not wanted or any(case.name.startswith(name) for name in wanted)
    ]
