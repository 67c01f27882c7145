"""Options that several commands have."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from headrace.bench.jobs import RUN_SECONDS
from headrace.bench.programs import CHOICES


def is_given(name: str) -> bool:
    """Whether the line gives an option, by the name that it is passed on as."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def refuse_given(names: Collection[str], why: str) -> None:
    """Raises where the line gives options, by those names, that would have no effect."""
    for option in click.get_current_context().command.params:
        if option.name in names and is_given(option.name):
            raise click.UsageError(f"{option.opts[0]} has no meaning here, {why}, leave it out")


def mpi_option(help_text: str) -> Callable[[Any], Any]:
    """--mpi NAME, passed on as `wanted`."""
    return click.option(
        "--mpi",
        "wanted",
        type=click.Choice(CHOICES),
        default="mpich",
        show_default=True,
        help=help_text,
    )


mpis_option = click.option(
    "--mpi",
    "wanted",
    multiple=True,
    type=click.Choice(CHOICES),
    default=("mpich",),
    show_default=True,
    help="The MPI to measure under; repeatable.",
)


def mpi_names_option(other: str = "") -> Callable[[Any], Any]:
    """--mpi NAME, any number of times, passed on as `wanted`. other: what it may be beside a name;
    so none is refused here."""
    beside = f", or {other}" if other else ""
    return click.option(
        "--mpi",
        "wanted",
        multiple=True,
        default=("mpich",),
        show_default=True,
        metavar="NAME",
        help=f"The MPI: {', '.join(CHOICES)} (every one that is found){beside}; repeatable.",
    )


def sizes_options(command: Any) -> Any:
    """What is measured of collective operations: operations, least and most."""
    for option in (
        click.option(
            "--most", default="4m", show_default=True, help="The last; each is 8 times the other."
        ),
        click.option(
            "--least", default="8", show_default=True, help="The first size, in bytes of a rank."
        ),
        click.option("--operations", default="", help="Names with commas between them.  [all]"),
    ):
        command = option(command)
    return command


def size_flags(operations: str, least: str, most: str) -> list[str]:
    """The same, as the program takes it."""
    named = ["--operations", operations] if operations else []
    return ["--least", least, "--most", most, *named]


def earlier_option(help_text: str) -> Callable[[Any], Any]:
    """--from FILE, any number of times, passed on as `earlier`."""
    return click.option(
        "--from",
        "earlier",
        multiple=True,
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help=help_text,
    )


set_option = click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set HEADRACE_NAME. It overrides --settings, and both override the environment.",
)


def settings_option(help_text: str) -> Callable[[Any], Any]:
    """--settings FILE, any number of times, passed on as `files`."""
    return click.option(
        "--settings",
        "files",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="FILE",
        help=help_text,
    )


def job_settings_options(command: Any) -> Any:
    """What `headrace run` was given for a job: where its recorders keep their memory counts."""
    told = settings_option("A file of settings that the job was started with. Repeatable.")
    return set_option(told(command))


json_option = click.option("--json", "as_json", is_flag=True, help="Print all numbers as JSON.")


def directory_option(help_text: str, name: str = "directory", multiple: bool = False) -> Any:
    """--dir DIRECTORY, passed on as `name`."""
    return click.option(
        "--dir",
        name,
        multiple=multiple,
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help=help_text,
    )


run_limit_option = click.option(
    "--limit",
    "run_seconds",
    type=click.IntRange(min=1),
    default=RUN_SECONDS,
    show_default=True,
    help="Seconds after which a run counts as hanging.",
)


def _paths_option(name: str, shown: str | None, help_text: str, exists: bool) -> Any:
    """An option for any number of files or folders. exists: each has to be there."""
    return click.option(
        f"--{name}",
        multiple=True,
        type=click.Path(exists=exists, path_type=Path),
        metavar=shown,
        help=help_text,
    )


def rules_option() -> Any:
    """--rules FILE, any number of times."""
    text = "TOML file of more rules for advice; docs/advice.md has their form."
    return _paths_option("rules", None, text, exists=False)


def feedback_option() -> Any:
    """--feedback PATH, any number of times."""
    text = (
        "Show what compilers say of hot lines: files of their remarks, or a folder that has "
        "them, as of -fsave-optimization-record; docs/profile.md names all. Repeatable."
    )
    return _paths_option("feedback", "BUILD_DIR", text, exists=True)


def symbols_option() -> Any:
    """--symbols PATH, any number of times."""
    text = (
        "Take names of functions and lines from the files below, by their build-ids: the "
        "programs and libraries that ran, or their debugging information. Repeatable."
    )
    return _paths_option("symbols", "DIR", text, exists=True)
