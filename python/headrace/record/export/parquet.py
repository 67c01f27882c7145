"""A record as Parquet files, one for each table, by pyarrow where it is installed."""

from pathlib import Path

from headrace.errors import HeadraceError, unwritable
from headrace.record.export.flat import FlatTable, rows, tables
from headrace.record.export.output import new_files
from headrace.record.tables import Record


def require() -> None:
    """Raises HeadraceError where pyarrow is missing."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise HeadraceError(
            "no Parquet files can be written",
            "the package pyarrow is not installed",
            "install it: pip install pyarrow, or give --sqlite or --csv",
            1,
        ) from error


def write(record: Record, folder: Path) -> None:
    import pyarrow.parquet

    made = tables()
    paths = new_files(folder, [f"{table.name}.parquet" for table in made])
    for table, path in zip(made, paths, strict=True):
        try:
            pyarrow.parquet.write_table(_arrow(record, table), path)
        except OSError as error:
            raise unwritable(path, error) from error


def _arrow(record: Record, table: FlatTable):
    import pyarrow

    types = [
        (column.name, pyarrow.string() if column.is_text else pyarrow.int64())
        for column in table.columns
    ]
    columns = list(zip(*rows(record, table), strict=True)) or [()] * len(types)
    arrays = [pyarrow.array(values, kind) for values, (_, kind) in zip(columns, types, strict=True)]
    return pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(types))
