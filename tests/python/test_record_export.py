"""`headrace record export`: the same rows in every form, with joins, and nothing written over."""

import csv
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pandas
import pyarrow.parquet
import pytest
from cli_support import ROOT, Command
from record_support import UNITS, large_data, small_job

from headrace.errors import HeadraceError
from headrace.record.export import csv_files, flat, parquet, sqlite
from headrace.record.reader import read

PAGE = ROOT / "docs" / "report.md"
JOIN = """
select calls.procedure, communicators.name, inner.offset, outer.offset, modules.file
from calls
join communicators on communicators.id = calls.communicator
join paths as inner on inner.id = calls.path
join paths as outer on outer.id = inner.caller
join modules on modules.id = inner.module
join ranks on ranks.rank = calls.rank
where calls.rank = ?
order by 1
"""


def database(path: Path, folder: Path) -> sqlite3.Connection:
    sqlite.write(read(path), folder / "out.sqlite")
    return sqlite3.connect(folder / "out.sqlite")


def test_joins_hold_over_nodes(tmp_path: Path) -> None:
    with closing(database(small_job().write(tmp_path), tmp_path)) as made:
        for rank in range(2):
            assert made.execute(JOIN, (rank,)).fetchall() == [
                ("MPI_Allreduce", "MPI_COMM_WORLD", 0x200, 0x100, "/opt/app/bin/app"),
                ("MPI_File_write_all", "MPI_COMM_WORLD", 0x200, 0x100, "/opt/app/bin/app"),
            ]
        assert made.execute("pragma foreign_key_check").fetchall() == []
        assert made.execute("select node, host from ranks").fetchall() == [(0, "n0"), (1, "n1")]
        assert ("ranks", "2") in made.execute("select * from job").fetchall()
        assert made.execute("select path from calls where procedure = 'MPI_Init'").fetchall() == [
            (None,),
            (None,),
        ]


def test_all_tables_and_columns_are_there(tmp_path: Path) -> None:
    with closing(database(small_job().write(tmp_path), tmp_path)) as made:
        for table, columns in UNITS.items():
            if table != "texts":
                names = [row[1] for row in made.execute(f'pragma table_info("{table}")')]
                added = {"id", "node"} - set(columns)
                assert [one for one in names if one not in added] == list(columns)
    assert {table.name for table in flat.tables()} == UNITS.keys() - {"texts"}


def test_csv_has_what_the_database_has(tmp_path: Path) -> None:
    path = small_job().write(tmp_path)
    csv_files.write(read(path), tmp_path / "csv")
    with closing(database(path, tmp_path)) as made:
        for table in flat.tables():
            with open(tmp_path / "csv" / f"{table.name}.csv", newline="") as stream:
                header, *rows = csv.reader(stream)
            assert header == [column.name for column in table.columns]
            expected = made.execute(f'select * from "{table.name}"').fetchall()
            texts = [["" if one is None else str(one) for one in row] for row in expected]
            assert rows == texts


def test_parquet_has_what_the_database_has(tmp_path: Path) -> None:
    path = small_job().write(tmp_path)
    parquet.write(read(path), tmp_path / "parquet")
    with closing(database(path, tmp_path)) as made:
        for table in flat.tables():
            file = tmp_path / "parquet" / f"{table.name}.parquet"
            rows = [tuple(row.values()) for row in pyarrow.parquet.read_table(file).to_pylist()]
            assert rows == made.execute(f'select * from "{table.name}"').fetchall()


def test_pandas_reads_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the line of docs/report.md, and Parquet as it is."""
    path = small_job().write(tmp_path)
    sqlite.write(read(path), tmp_path / "run.sqlite")
    (line,) = re.findall(r"^    (pandas\.read_sql\(.*)$", PAGE.read_text(), re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    frame = eval(line, {"pandas": pandas, "sqlite3": sqlite3})
    parquet.write(read(path), tmp_path / "parquet")
    with closing(sqlite3.connect("run.sqlite")) as made:
        rows = made.execute("select rank, calls, host from calls join ranks using (rank)")
        found = frame[["rank", "calls", "host"]].itertuples(index=False, name=None)
        assert sorted(found) == sorted(rows.fetchall()) != []
        for table in flat.tables():
            size = made.execute(f'select count(*) from "{table.name}"').fetchone()[0]
            file = tmp_path / "parquet" / f"{table.name}.parquet"
            assert len(pandas.read_parquet(file)) == size


def test_a_cut_record_is_exported(tmp_path: Path) -> None:
    job = small_job()
    path = job.write(tmp_path)
    path.write_bytes(path.read_bytes()[:-300])
    with closing(database(path, tmp_path)) as made:
        assert made.execute("select count(*) from ranks").fetchone()[0] >= 1


def test_many_ranks(tmp_path: Path) -> None:
    path = tmp_path / "x.hrc"
    path.write_bytes(large_data())
    with closing(database(path, tmp_path)) as made:
        counted = made.execute("select count(*), sum(calls) from calls").fetchone()
    assert counted == (4096 * 60, 4096 * 60 * 1000)
    assert (tmp_path / "out.sqlite").stat().st_size < 40_000_000


def test_nothing_is_written_over(tmp_path: Path) -> None:
    record = read(small_job().write(tmp_path))
    there = tmp_path / "there"
    there.write_text("mine")
    with pytest.raises(HeadraceError, match="is there already"):
        sqlite.write(record, there)
    assert there.read_text() == "mine"
    (tmp_path / "ranks.csv").write_text("mine")
    with pytest.raises(HeadraceError, match="is there already"):
        csv_files.write(record, tmp_path)
    assert not (tmp_path / "job.csv").exists()
    with pytest.raises(HeadraceError, match="cannot be written"):
        sqlite.write(record, tmp_path / "no" / "where")
    with pytest.raises(HeadraceError, match="cannot be written"):
        csv_files.write(record, there)


def test_the_command(headrace: Command, tmp_path: Path) -> None:
    path = small_job().write(tmp_path)
    done = headrace("record", "export", path, "--sqlite", tmp_path / "a.sqlite")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = headrace("record", "export", path)
    assert done.returncode == 2 and "give one of --sqlite" in done.stderr
    (tmp_path / "pyarrow.py").write_text("raise ImportError")
    hidden = f"{tmp_path}:{headrace.environ['PYTHONPATH']}"
    done = headrace("record", "export", path, "--parquet", tmp_path / "p", PYTHONPATH=hidden)
    assert done.returncode == 1 and "pip install pyarrow" in done.stderr
