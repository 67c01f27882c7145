"""What keeps a command's result from being told: who reads it, the system, or Headrace itself."""

import contextlib
import traceback
from collections.abc import Iterator
from typing import TextIO

from headrace.errors import HeadraceError, discard_output, say


@contextlib.contextmanager
def printing(what: str, stream: TextIO | None, exit_code: int = 1) -> Iterator[None]:
    """For what is printed to `stream`. A reader that has seen enough changes nothing. Raises
    HeadraceError where the system refuses it. stream: None where the command has none."""
    try:
        yield
        if stream is not None:
            stream.flush()
    except (BrokenPipeError, SystemExit):  # SystemExit: what rich makes of it
        discard_output(stream)
    except OSError as error:
        discard_output(stream)
        why = error.strerror or str(error)
        raise HeadraceError(
            f"the {what} cannot be printed", why, "send it elsewhere", exit_code
        ) from error


def fault(problem: str, error: Exception, exit_code: int = 1) -> HeadraceError:
    """The error for a fault of Headrace that is being handled. Says where it is."""
    say(traceback.format_exc().rstrip())
    return HeadraceError(
        problem,
        f"{type(error).__name__}, a fault of Headrace",
        "report it with the lines above",
        exit_code,
    )
