"""`headrace record export`: a record's tables for other programs."""

from pathlib import Path

import click

from headrace.profile.export import folded, speedscope
from headrace.record.export import csv_files, parquet, sqlite
from headrace.record.reader import read

KINDS = {
    "sqlite": sqlite.write,
    "parquet": parquet.write,
    "csv": csv_files.write,
    "speedscope": speedscope.write,
    "folded": folded.write,
}


def _output(name: str, metavar: str, text: str) -> object:
    kind = click.Path(path_type=Path)
    return click.option(f"--{name}", name, type=kind, metavar=metavar, help=text)


@click.command(short_help="Writes a record's tables for SQL, pandas and others.")
@click.argument("file", type=click.Path(path_type=Path))
@_output("sqlite", "OUT", "Write a database of SQLite.")
@_output("parquet", "DIR", "Write a Parquet file for each table; needs pyarrow.")
@_output("csv", "DIR", "Write a CSV file for each table.")
@_output("speedscope", "OUT", "Write the samples for speedscope (https://www.speedscope.app).")
@_output("folded", "OUT", "Write the samples as folded stacks, which flame graph tools read.")
def export(file: Path, **outputs: Path | None) -> None:
    """Write the tables of the record FILE as others read them. docs/reference/record.md describes
    each table and column. Nothing that is there is written over.

    \b
    headrace record export app.1234.4p1n.20261128T101500.hrc --sqlite run.sqlite
    """
    chosen = {name: path for name, path in outputs.items() if path is not None}
    if len(chosen) != 1:
        raise click.UsageError(f"give one of {', '.join(f'--{name}' for name in KINDS)}")
    ((name, path),) = chosen.items()
    if name == "parquet":
        parquet.require()
    KINDS[name](read(file), path)
