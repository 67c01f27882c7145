"""The `headrace` command. Its commands are found in headrace/commands."""

import errno
import os
import sys
from typing import NoReturn

import click

from headrace import __version__
from headrace.commands import CommandFolder
from headrace.errors import USAGE, HeadraceError, discard_output, message, say

# What a write says, which names no file.
_OF_OUTPUT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@click.group(
    cls=CommandFolder,
    package="headrace.commands",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="headrace", message="%(prog)s %(version)s")
def cli() -> None:
    """Faster MPI programs by a preload, for any MPI.

    \b
    headrace run mpiexec -n 4 ./app ...   put Headrace under a launcher line you have
    headrace run -n 4 ./app ...           find the program's MPI and start it
    """


def main() -> NoReturn:
    """Entry point: errors are one line on stderr, the exit code says which kind."""
    try:
        result = cli.main(prog_name="headrace", standalone_mode=False)
        sys.exit(result if isinstance(result, int) else 0)
    except HeadraceError as error:
        say(str(error))
        sys.exit(error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(USAGE)
    except click.UsageError as error:
        say(_usage_line(error))
        sys.exit(USAGE)
    except click.ClickException as error:
        say(error.format_message())
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:  # who reads our output has seen enough
        discard_output()
        sys.exit(1)
    except OSError as error:  # a file that nobody has thought of
        say(_file_line(error))
        sys.exit(1)


def _file_line(error: OSError) -> str:
    name = error.filename
    what = f"'{os.fsdecode(name)}'" if isinstance(name, str | bytes) else "something"
    why = error.strerror or str(error)
    if name is None and error.errno in _OF_OUTPUT:
        return message("output cannot be written", why, "see where it goes, and what is left there")
    return message(f"{what} cannot be used", why, "see whether it is there, and yours to use")


def _usage_line(error: click.UsageError) -> str:
    path = error.ctx.command_path if error.ctx else "headrace"
    return f"{error.format_message().rstrip('.')} (usage), see '{path} --help'"


if __name__ == "__main__":
    main()
