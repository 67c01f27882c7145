"""`headrace record export`: a record's tables for other programs."""

from collections.abc import Callable, Sequence
from pathlib import Path

import click

from headrace.commands._newest import newest_of_directories
from headrace.profile.export import folded, speedscope
from headrace.record.export import csv_files, parquet, sqlite, timeline
from headrace.record.merge import merge
from headrace.record.reader import read
from headrace.record.tables import Record


def _whole(
    writer: Callable[[Record, Path], None], with_events: bool
) -> Callable[[Sequence[Path], Path], None]:
    """A writer of one record, from its parts."""

    def write(files: Sequence[Path], path: Path) -> None:
        writer(merge([read(file, with_events) for file in files]), path)

    return write


def _timeline(files: Sequence[Path], path: Path) -> None:
    records = [read(file) for file in files]
    merge(records)  # refuses parts of different jobs
    timeline.write(records, path)


KINDS = {
    "sqlite": _whole(sqlite.write, True),
    "parquet": _whole(parquet.write, True),
    "csv": _whole(csv_files.write, True),
    "speedscope": _whole(speedscope.write, False),
    "folded": _whole(folded.write, False),
    "timeline": _timeline,
}


def _output(name: str, metavar: str, text: str) -> object:
    kind = click.Path(path_type=Path)
    return click.option(f"--{name}", name, type=kind, metavar=metavar, help=text)


@click.command(short_help="Writes a record's tables for SQL, pandas and others.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@_output("sqlite", "OUT", "Write a database of SQLite.")
@_output("parquet", "DIR", "Write a Parquet file for each table; needs pyarrow.")
@_output("csv", "DIR", "Write a CSV file for each table.")
@_output("speedscope", "OUT", "Write the samples for speedscope (https://www.speedscope.app).")
@_output("folded", "OUT", "Write the samples as folded stacks, which flame graph tools read.")
@_output(
    "timeline", "OUT", "Write the timeline for Perfetto (https://ui.perfetto.dev); OUT.gz: packed."
)
def export(files: tuple[Path, ...], **outputs: Path | None) -> None:
    """Write the tables of a record as others read them. FILES are a record, the parts of one
    job's record that its nodes have made, or a directory, of which the newest record is taken.
    docs/reference/record.md describes each table and column. Nothing that is there is written over.

    \b
    headrace record export headrace-records --sqlite run.sqlite
    """
    chosen = {name: path for name, path in outputs.items() if path is not None}
    if len(chosen) != 1:
        raise click.UsageError(f"give one of {', '.join(f'--{name}' for name in KINDS)}")
    ((name, path),) = chosen.items()
    if name == "parquet":
        parquet.require()
    KINDS[name](newest_of_directories(files), path)
