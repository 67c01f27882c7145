"""Errors as users see them: the problem (why it is one), what to do."""

import os
import sys
from typing import TextIO

USAGE = 2
NOT_EXECUTABLE = 126
NOT_FOUND = 127


class HeadraceError(Exception):
    """A condition that ends the command with one line on stderr and `exit_code`."""

    def __init__(self, problem: str, why: str, remedy: str, exit_code: int = USAGE):
        super().__init__(message(problem, why, remedy))
        self.exit_code = exit_code


def message(problem: str, why: str, remedy: str) -> str:
    return f"{problem} ({why}), {remedy}"


def unwritable(path: object, error: OSError, remedy: str = "give another file") -> HeadraceError:
    """The error for a file of the user's that the system refuses to write."""
    why = error.strerror or str(error)
    return HeadraceError(f"'{path}' cannot be written", why, remedy, 1)


def say(text: str) -> None:
    """Print one line of our own; stdout belongs to the program. Where nobody can be told the
    command goes on, and its exit code still tells."""
    if sys.stderr is None:  # it is closed, and print() would take stdout
        return
    try:
        print(f"headrace: {text}", file=sys.stderr, flush=True)
    except OSError:  # another stream for us alone: programs that we start have the old one
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def discard_output(stream: TextIO | None = None) -> None:
    """What a stream, stdout without one, could not write is not tried again, which would fail as
    Python exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())
