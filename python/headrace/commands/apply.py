"""`headrace apply`: the next run's settings, from a record."""

from pathlib import Path

import click

from headrace.advice.applying import changes, taken
from headrace.commands._findings import job_of, judged
from headrace.commands._newest import newest_of_directories
from headrace.commands._options import rules_option
from headrace.commands._targets import beside, named, refuse_to_replace
from headrace.errors import unwritable
from headrace.report.settings_text import FIRST_WORDS, settings_text, told
from headrace.report.units import typed


@click.command(short_help="Writes what a record advises as settings of the next run.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="File to write. The default is FILE with the ending .toml.",
)
@rules_option()
def apply(file: Path, output: Path | None, rules: tuple[Path, ...]) -> None:
    """Write the settings that the record or Darshan log FILE advises to a file for `headrace run
    --settings`, and say why. What you set yourself stays. What only a launcher can set is printed,
    and not set. docs/advice.md explains the advice.
    """
    (file,) = newest_of_directories([file])
    found = job_of([file]).findings
    made = changes(judged(found, rules), found.settings, found.variables)
    for one in made:
        click.echo(told(one))
    if not taken(made):
        click.echo("Nothing was written: the advice has no setting for `headrace run --settings`.")
        return
    target = output or beside(file, ".toml")
    refuse_to_replace(target, FIRST_WORDS, "a file of headrace apply")
    try:
        target.write_text(settings_text(made, named(file).name), encoding="utf-8")
    except OSError as error:
        raise unwritable(target, error) from error
    click.echo(f"headrace run --settings {typed(target)} ...")
