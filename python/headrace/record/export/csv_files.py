"""A record as CSV files, one for each table."""

import csv
from pathlib import Path

from headrace.errors import unwritable
from headrace.record.export.flat import rows, tables
from headrace.record.export.output import new_files
from headrace.record.tables import Record


def write(record: Record, folder: Path) -> None:
    made = tables()
    paths = new_files(folder, [f"{table.name}.csv" for table in made])
    for table, path in zip(made, paths, strict=True):
        try:
            with path.open("w", newline="", encoding="utf-8") as stream:
                writer = csv.writer(stream)
                writer.writerow(column.name for column in table.columns)
                writer.writerows(rows(record, table))
        except OSError as error:
            raise unwritable(path, error) from error
