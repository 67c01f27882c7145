"""A record as a database of SQLite."""

import sqlite3
from contextlib import closing
from pathlib import Path

from headrace.errors import HeadraceError
from headrace.record.export.flat import FlatColumn, FlatTable, rows, tables
from headrace.record.export.output import new_file
from headrace.record.tables import Record


def write(record: Record, path: Path) -> None:
    new_file(path)
    try:
        with closing(sqlite3.connect(path)) as database:
            database.execute("pragma synchronous = off")
            database.execute("pragma journal_mode = off")
            with database:
                for table in tables():
                    _write_table(database, record, table)
    except sqlite3.Error as error:
        path.unlink(missing_ok=True)
        raise HeadraceError(
            f"'{path}' cannot be written", str(error), "give another name", 1
        ) from error


def _write_table(database: sqlite3.Connection, record: Record, table: FlatTable) -> None:
    columns = ", ".join(map(_declared, table.columns))
    database.execute(f'create table "{table.name}" ({columns})')
    places = ", ".join("?" * len(table.columns))
    database.executemany(f'insert into "{table.name}" values ({places})', rows(record, table))


def _declared(column: FlatColumn) -> str:
    if column.name == "id":
        return '"id" integer primary key'
    refers = f' references "{column.target}"("id")' if column.target else ""
    return f'"{column.name}" {"text" if column.is_text else "integer"}{refers}'
