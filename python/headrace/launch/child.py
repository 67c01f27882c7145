"""Runs what is to be executed as a child, as if it had replaced this process."""

import signal
import subprocess

from headrace.errors import NOT_EXECUTABLE, HeadraceError
from headrace.launch.values import Launch

# What a batch system or a shell sends a job; the terminal sends SIGINT to the child, too.
_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_KILLED = 128


def run_child(launch: Launch) -> int:
    """The exit code as a shell has it: of a child that a signal ended 128 and the signal."""
    try:
        child = subprocess.Popen(
            launch.argv,
            executable=launch.executable or launch.argv[0],
            env=launch.environ,
            restore_signals=True,
        )
    except OSError as error:
        raise HeadraceError(
            f"'{launch.argv[0]}' cannot be executed",
            error.strerror or "the system refuses",
            "check its file and its interpreter",
            NOT_EXECUTABLE,
        ) from error
    previous = {number: signal.signal(number, _pass_on(child)) for number in _FORWARDED}
    previous[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        code = child.wait()
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    return code if code >= 0 else _KILLED - code


def _pass_on(child: subprocess.Popen):
    return lambda number, _: child.send_signal(number)
