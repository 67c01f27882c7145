"""The `headrace` command. Commands of other packages are loaded when they are called."""

import importlib
import importlib.util
import sys
from typing import NoReturn

import click

from headrace import __version__
from headrace.errors import USAGE, HeadraceError, say

# Command -> where it is; all are click commands.
COMMANDS = {
    "run": "headrace.commands.run:run",
    "preload": "headrace.commands.preload:preload",
    "doctor": "headrace.commands.doctor:doctor",
    "bench": "headrace.bench.cli:bench",
    "simulate": "headrace.simulate.command:simulate",
    "demo": "headrace.demo.cli:demo",
}


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in COMMANDS if _exists(COMMANDS[name])]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        place = COMMANDS.get(cmd_name)
        if place is None or not _exists(place):
            return None
        module, _, attribute = place.partition(":")
        return getattr(importlib.import_module(module), attribute)


def _exists(place: str) -> bool:
    try:
        return importlib.util.find_spec(place.partition(":")[0]) is not None
    except ModuleNotFoundError:
        return False


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
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


def _usage_line(error: click.UsageError) -> str:
    path = error.ctx.command_path if error.ctx else "headrace"
    return f"{error.format_message().rstrip('.')} (usage), see '{path} --help'"


if __name__ == "__main__":
    main()
