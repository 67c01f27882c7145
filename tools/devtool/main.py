"""Picks the command, prints the help, turns a Failure into a clear message."""

from __future__ import annotations

import difflib
import signal
import subprocess
import sys
from collections.abc import Sequence

from devtool.commands import COMMANDS
from devtool.failure import Failure

USAGE = """\
Headrace: faster MPI-IO for unmodified MPI programs.

usage: ./dev COMMAND [ARGUMENTS]

{commands}

Everything goes below .dev and build; Debian packages that are missing are named, or installed by
apt-get when you are root.
./dev COMMAND --help tells more. Start with: ./dev demo
"""


def main(arguments: Sequence[str]) -> int:
    """Runs one command. Exit codes: the command's own, 2 for a mistyped one, 130 when stopped."""
    if not arguments or arguments[0] in ("help", "-h", "--help"):
        print(_usage(), end="")
        return 0
    name, *rest = arguments
    if name not in COMMANDS:
        close = difflib.get_close_matches(name, COMMANDS, n=1)
        action = f"did you mean ./dev {close[0]}?" if close else "see ./dev help"
        print(f"dev: unknown command {name!r} (./dev has none so named), {action}", file=sys.stderr)
        return 2
    # Being ended must end what runs below us too; an exception does, the default action would not.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return COMMANDS[name](rest)
    except Failure as failure:
        print(failure.report(), file=sys.stderr)
        return 1
    except OSError as error:
        # What a write lacks has no name.
        problem = f"cannot use '{error.filename}'" if error.filename else f"{name} did not end well"
        action = "see who may write there, and how much space is left"
        print(Failure(problem, error.strerror or str(error), action).report(), file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        command = error.cmd if isinstance(error.cmd, str) else str(error.cmd[0])
        why = f"exit code {error.returncode}"
        print(Failure(f"{command} failed", why, "see what it says above").report(), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ndev: stopped", file=sys.stderr)
        return 130


def _usage() -> str:
    lines = [f"  {name:11} {command.__doc__}" for name, command in COMMANDS.items()]
    return USAGE.format(commands="\n".join(lines))
