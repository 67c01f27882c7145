"""Shows what is executed, or becomes it."""

import os
import shlex
import signal
from collections.abc import Mapping

from headrace.errors import NOT_EXECUTABLE, HeadraceError
from headrace.launch.values import Launch


def shown(launch: Launch, before: Mapping[str, str]) -> str:
    """A line for a shell with the environment `before`."""
    changed = [
        f"{name}={value}"
        for name, value in sorted(launch.environ.items())
        if before.get(name) != value
    ]
    return shlex.join([*(["env", *changed] if changed else []), *launch.argv])


def become(launch: Launch) -> None:
    """Replaces this process. Returns only by an error."""
    # Python ignores these two, and a program would inherit that.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execve(launch.executable or launch.argv[0], launch.argv, launch.environ)
    except OSError as error:
        raise HeadraceError(
            f"'{launch.argv[0]}' cannot be executed",
            error.strerror or "the system refuses",
            "check its file and its interpreter",
            NOT_EXECUTABLE,
        ) from error
