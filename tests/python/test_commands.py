"""The convention of commands: the file's, the command's and the attribute's name are one."""

import importlib

import click
import pytest

from headrace.cli import cli
from headrace.commands import CommandFolder, names

TOP = (
    *("apply", "bench", "compare", "demo", "doctor", "hints", "include", "peek"),
    *("place", "preload", "profile", "record", "report", "run", "simulate", "site", "tune"),
)
BENCH = (
    *(
        "checkpoint",
        "collectives",
        "compare",
        "copy",
        "grid",
        "ior",
        "irregular",
        "lattice",
        "overlap",
    ),
    *("paths", "peers", "promises", "recorder", "strided", "tile"),
)


@pytest.mark.parametrize(
    ("package", "expected"), [("headrace.commands", TOP), ("headrace.commands.bench", BENCH)]
)
def test_the_files_of_a_folder_are_its_commands(package: str, expected: tuple[str, ...]) -> None:
    assert names(package) == sorted(expected)
    for name in expected:
        command = getattr(importlib.import_module(f"{package}.{name}"), name)
        assert isinstance(command, click.Command)
        assert command.name == name
        assert command.get_short_help_str()


def test_what_commands_share_is_no_command() -> None:
    context = click.Context(cli)
    assert cli.get_command(context, "_options") is None
    assert cli.get_command(context, "bench.ior") is None


def test_a_folder_is_a_command_with_commands() -> None:
    bench = cli.get_command(click.Context(cli), "bench")
    assert isinstance(bench, CommandFolder)
    assert bench.get_command(click.Context(bench), "ior").name == "ior"
