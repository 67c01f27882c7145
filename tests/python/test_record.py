"""The reader of records: it reads what the format allows, and refuses all else with one clear line,
in bounded time and memory."""

import os
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import record_support as support
from record_mutations import mutated
from record_support import JOB, Job, front, packed, section, signed, small_job, varint

from headrace.errors import HeadraceError
from headrace.record.columns import unpack
from headrace.record.generated.tables import TABLES
from headrace.record.reader import read
from headrace.record.tables import Record

MUTATIONS = 2000
SECONDS_LARGE = 20  # a few on an idle machine


def refused(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    with pytest.raises(HeadraceError) as caught:
        read(path)
    text = str(caught.value)
    assert str(path) in text and "\n" not in text
    assert " (" in text and "), " in text
    return text


def contents(record: Record) -> dict[tuple[int, str], list]:
    """All rows, as they were given to the writer."""
    return {
        (node.number, name): [
            dict(zip(table.columns, row, strict=True)) for row in table.rows(*table.columns)
        ]
        for node in record.nodes
        for name, table in node.tables.items()
        if name != "texts"
    }


def test_all_that_was_written_is_read(tmp_path: Path) -> None:
    job = small_job()
    record = read(job.write(tmp_path))
    assert record.is_whole and not record.missing
    assert record.facts == job.facts
    given = {(node.number, name): rows for node in job.nodes for name, rows in node.rows.items()}
    assert contents(record) == given
    for node, made in zip(record.nodes, job.nodes, strict=True):
        assert list(node.texts) == list(made.texts)
    assert record.nodes[1].texts_of("ranks", "host") == ["n1"]


EDGES = [0, -1, 1, 63, 64, -64, -65, 2**31, -(2**31), 2**63 - 1, -(2**63), 5, -(2**63), 2**63 - 1]


@pytest.mark.parametrize("way", [1, 2])
def test_numbers_of_all_sizes(way: int) -> None:
    values = EDGES
    if way == 2:
        values = [support.wrapped(b - a) for a, b in zip([0, *EDGES], EDGES, strict=False)]
    column = b"".join(map(signed, values))
    assert list(unpack(way, memoryview(column), len(EDGES))) == EDGES


def test_texts_that_are_no_utf8_are_escaped(tmp_path: Path) -> None:
    job = small_job()
    job.nodes[0].add(
        "variables", name="A", value=b"a\xff\xc3\xa9".decode("utf-8", "surrogateescape")
    )
    record = read(job.write(tmp_path))
    assert record.nodes[0].texts_of("variables", "value")[-1] == "a\\xff\u00e9"


def test_unknown_tables_and_columns_are_skipped(tmp_path: Path) -> None:
    job = small_job()
    job.schema["tables"].insert(2, {"name": "new", "of": "node", "columns": [{"name": "x"}]})
    for table in job.schema["tables"]:
        if table["name"] != "texts":
            table["columns"].insert(1, {"name": "unknown", "unit": "furlong"})
    for node in job.nodes:
        node.rows["new"] = [{"x": 5}]
    record = read(job.write(tmp_path))
    assert record.is_whole and not record.missing
    plain = read(small_job().write(tmp_path))
    assert contents(record) == contents(plain)


def test_what_an_older_version_lacks_is_named(tmp_path: Path) -> None:
    job = small_job()
    tables = job.schema["tables"]
    tables[:] = [table for table in tables if table["name"] != "matrix"]
    next(one for one in tables if one["name"] == "calls")["columns"].pop()
    record = read(job.write(tmp_path))
    assert record.missing == ("calls.bin6", "matrix")
    assert set(record.nodes[0]["calls"]["bin6"]) == {0}


def test_every_cut_is_read_up_to_it(tmp_path: Path) -> None:
    whole = small_job().data()
    first = len(front(support.usual_schema()))
    path = tmp_path / "x.hrc"
    rows = 0
    for length in range(first, len(whole)):
        path.write_bytes(whole[:length])
        record = read(path)
        assert not record.is_whole
        now = sum(table.size for node in record.nodes for table in node.tables.values())
        assert now >= rows
        rows = now
    path.write_bytes(whole[:-30] + bytes(30))
    assert not read(path).is_whole
    for length in range(first):
        assert "cut off" in refused(path, whole[:length]) or length == 0


def a_table(name: str, rows: int, *columns: tuple[int, bytes], table: int = 0) -> bytes:
    """A record of one table, whose columns have the first names of that table."""
    names = list(support.UNITS[name])[: len(columns)]
    schema = {"tables": [{"name": name, "columns": [{"name": one} for one in names]}]}
    body = b"".join(packed(*column) for column in columns)
    end = section(JOB, JOB, 1, b"")
    return front(schema) + section(table, 0, rows, body) + end


def circle() -> bytes:
    job = small_job()
    job.nodes[1].rows["paths"][1]["caller"] = 2
    return job.data()


def pointing(table: str, column: str, place: int) -> Callable[[], bytes]:
    def make() -> bytes:
        job = small_job()
        job.nodes[0].rows[table][0][column] = place
        return job.data()

    return make


def same_rank() -> bytes:
    job = small_job()
    job.nodes[1].rows["ranks"][0]["rank"] = 0
    return job.data()


def ending(count: int, behind: bytes = b"") -> Callable[[], bytes]:
    sections = small_job().sections()
    start = front(support.usual_schema()) + b"".join(sections)
    return lambda: start + section(JOB, JOB, count or len(sections), b"") + behind


BAD = {
    "empty": (lambda: b"", "it is empty"),
    "foreign": (lambda: b"\x89PNG\r\n\x1a\n" + bytes(500), "it begins otherwise"),
    "sqlite": (lambda: b"SQLite format 3\0" + bytes(500), "it begins otherwise"),
    "newer": (lambda: front({"tables": []}, 2), "it has format 2"),
    "format 0": (lambda: front({"tables": []}, 0), "cannot be"),
    "schema too long": (lambda: front(b" " * (1 << 20) + b"{}"), "cannot be"),
    "schema no JSON": (lambda: front(b"{"), "cannot be understood"),
    "schema deep": (lambda: front(b"[" * 200_000), "cannot be understood"),
    "schema a list": (lambda: front([]), "cannot be understood"),
    "schema of numbers": (lambda: front({"tables": [3]}), "cannot be understood"),
    "table twice": (
        lambda: front({"tables": [{"name": "job", "columns": []}] * 2}),
        "cannot be understood",
    ),
    "not this table": (lambda: a_table("ranks", 1, (0, signed(1)), table=7), "not described"),
    "rows of nothing": (lambda: a_table("ranks", 2**32 - 1, (0, signed(1))), "4294967295 rows"),
    "too few": (lambda: a_table("ranks", 3, (1, signed(1) * 2)), "3 rows has 2 values"),
    "too many": (lambda: a_table("ranks", 1, (1, signed(1) * 2)), "1 rows has 2 values"),
    "of no rows": (lambda: a_table("ranks", 0, (0, signed(1))), "0 rows"),
    "cut number": (lambda: a_table("ranks", 1, (1, b"\x80")), "cut off"),
    "long number": (lambda: a_table("ranks", 1, (1, b"\x80" * 30 + b"\1")), "64 bits"),
    "wide number": (lambda: a_table("ranks", 1, (1, b"\xff" * 9 + b"\x7f")), "64 bits"),
    "packed otherwise": (lambda: a_table("ranks", 1, (9, b"1")), "unknown way 9"),
    "numbers as texts": (lambda: a_table("ranks", 1, (3, b"\1a")), "another kind"),
    "texts as numbers": (lambda: a_table("texts", 1, (0, b"\1")), "another kind"),
    "long text": (lambda: a_table("texts", 1, (3, varint(2**60) + b"a")), "longer than its column"),
    "text behind": (lambda: a_table("texts", 1, (3, b"\1ab")), "behind the last text"),
    "circle": (circle, "leads back to itself"),
    "own caller": (pointing("paths", "caller", 0), "leads back to itself"),
    "path": (pointing("calls", "path", 2), "row 2 of paths, which has 2"),
    "text": (pointing("ranks", "host", 10**6), "names row 1000000 of texts"),
    "place -2": (pointing("calls", "communicator", -2), "names row -2"),
    "class": (pointing("calls", "class", 5), "cannot be"),
    "negative": (pointing("calls", "time", -1), "calls.time has the value -1"),
    "rank": (pointing("ranks", "rank", 2**40), "cannot be"),
    "rank twice": (same_rank, "rank 0 is there twice"),
    "end counts": (ending(3), "should have 3"),
    "behind": (ending(0, b"more"), "4 bytes lie behind"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_is_refused(tmp_path: Path, name: str) -> None:
    make, why = BAD[name]
    tracemalloc.start()
    text = refused(tmp_path / "x.hrc", make())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert why in text
    assert peak < 30 << 20


def test_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with open(tmp_path / "large", "wb") as stream:
        stream.truncate(1 << 40)
    for name, why in (
        ("gone", "No such file"),
        ("pipe", "it is no file"),
        ("large", "a record at most"),
        (".", "directory"),
    ):
        with pytest.raises(HeadraceError, match=why):
            read(tmp_path / name)
    with pytest.raises(HeadraceError, match="no record"):
        read(Path("/dev/zero"))


@pytest.mark.parametrize("mend", [False, True])
def test_changed_bytes(tmp_path: Path, mend: bool) -> None:
    path = tmp_path / "x.hrc"
    outcomes = {"read": 0, "refused": 0}
    for seed in range(MUTATIONS):
        path.write_bytes(mutated(seed, mend))
        try:
            read(path)
            outcomes["read"] += 1
        except HeadraceError as error:
            assert str(path) in str(error) and "\n" not in str(error)
            outcomes["refused"] += 1
    # Only a mended change, or one of a length by chance, can be read.
    assert outcomes["refused"] > MUTATIONS // 3
    assert not mend or outcomes["read"] > MUTATIONS // 20


def test_many_rows_take_little_time_and_memory(tmp_path: Path) -> None:
    path = tmp_path / "x.hrc"
    path.write_bytes(support.large_data())
    assert path.stat().st_size < 20_000_000
    begin = time.process_time()
    record = read(path)
    assert time.process_time() - begin < SECONDS_LARGE
    assert sum(node["calls"].size for node in record.nodes) == 4096 * 60


def test_a_deep_tree_of_paths_takes_linear_time(tmp_path: Path) -> None:
    job = Job()
    node = job.node()
    for row in range(100_000):
        node.add("paths", caller=row - 1, offset=row)
    begin = time.process_time()
    read(job.write(tmp_path))
    assert time.process_time() - begin < SECONDS_LARGE


def test_the_schema_is_that_of_the_specification() -> None:
    assert {name: dict(columns) for name, (_, columns) in TABLES.items()} == support.UNITS
