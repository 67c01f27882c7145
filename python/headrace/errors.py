"""Errors as users see them: the problem (why it is one), what to do."""

import sys

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
    """Print one line of our own; stdout belongs to the program."""
    print(f"headrace: {text}", file=sys.stderr, flush=True)
