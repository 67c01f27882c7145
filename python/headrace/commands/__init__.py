"""The commands of `headrace`, one file each, by one convention: the name of the file is the
command's and that of the click command in it. A folder is a command with commands in it.

Files whose names begin with an underscore hold what several commands share. Commands have options
and help, and call the packages beside this one.
"""

import importlib
import pkgutil
from pathlib import Path

import click


class CommandFolder(click.Group):
    """A group of the commands in a package's folder. Each is imported when it is used."""

    def __init__(self, *arguments: object, package: str, **attributes: object):
        super().__init__(*arguments, **attributes)
        self._package = package

    def list_commands(self, ctx: click.Context) -> list[str]:
        return names(self._package)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in names(self._package):
            return None
        return getattr(importlib.import_module(f"{self._package}.{cmd_name}"), cmd_name)


def names(package: str) -> list[str]:
    """The names of the commands in a package's folder, sorted."""
    module = importlib.import_module(package)
    files = pkgutil.iter_modules([str(Path(module.__file__).parent)])
    return sorted(file.name for file in files if not file.name.startswith("_"))
