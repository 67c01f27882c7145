"""`headrace record export --timeline`: what Perfetto reads, whatever the record holds."""

import gzip
import json
import random
from pathlib import Path

import pytest
import record_support as support
from record_support import Job, NodeTables, packed, section, signed

from headrace.errors import HeadraceError
from headrace.record.columns import Malformed, stream, unpack
from headrace.record.events import events
from headrace.record.export import csv_files, timeline
from headrace.record.reader import read

START = 1_800_000_000 * 10**9
CALL, REGION, OPEN_CALL, OPEN_REGION, POSIX, STDIO = range(6)
WITHOUT_MPI = 1 << 24
HOSTILE = '</script><b>"\\\n\r\x1b[31m\u2028é'


def node_of(job: Job, rank: int, threads: int = 1, **timelines: int) -> NodeTables:
    node = job.node()
    node.add("ranks", rank=rank, host=f"n{rank}", start=START, run=10**9)
    for thread in range(threads):
        given = {"since": START, "clock_error": 1000} | timelines
        node.add("timelines", rank=rank, thread=thread, **given)
    return node


def add(node: NodeTables, rank: int, begin: int, time: int, kind: int = CALL, **given) -> None:
    given = {"procedure": "MPI_Send", "peer": -1, "offset": -1} | given
    if kind in (REGION, OPEN_REGION):
        given["procedure"] = -1
    node.add("events", rank=rank, kind=kind, begin=START + begin, time=time, **given)


def export(job: Job, folder: Path, name: str = "out.json") -> dict:
    record = job.write(folder)
    timeline.write([read(record)], folder / name)
    data = (folder / name).read_bytes()
    return json.loads(gzip.decompress(data) if name.endswith(".gz") else data)


def check_schema(document: dict) -> None:
    """The trace event format, as far as it is used."""
    assert document["displayTimeUnit"] == "ns"
    for event in document["traceEvents"]:
        assert isinstance(event["name"], str)
        assert event["ph"] in ("X", "B", "M", "i")
        if event["ph"] == "i":
            assert event["s"] in ("t", "p")
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int)
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "process_sort_index", "thread_name")
            assert len(event["args"]) == 1
        else:
            assert isinstance(event["ts"], int | float)
        if event["ph"] == "X":
            assert event["dur"] >= 0


def slices(document: dict) -> list[dict]:
    check_schema(document)
    return [event for event in document["traceEvents"] if event["ph"] in ("X", "B")]


def test_all_that_is_known_of_a_call_is_shown(tmp_path: Path) -> None:
    job = Job(facts={"ranks": "2", "command": "./app"})
    node = node_of(job, 0, threads=2)
    world = node.add("communicators", size=2, on_node=1, name="MPI_COMM_WORLD")
    node.add("regions", rank=0, region=1, id=7, label="solve")
    node.add("regions", rank=0, region=2, id=8, label="")
    add(node, 0, 500, 4000, REGION, region=1)
    add(node, 0, 1001, 1500, region=1, communicator=world, peer=1, sent=8)
    add(node, 0, 3000, 0, procedure="MPI_Recv", peer=-2, received=9, communicator=-1, region=2)
    add(node, 0, 0, 2**40 + 1, thread=1)
    document = export(job, tmp_path)
    region, send, receive, long = slices(document)
    assert region == {
        "name": "solve", "cat": "region", "ph": "X", "ts": 0.5, "dur": 4,
        "pid": 0, "tid": 0, "args": {},
    }  # fmt: skip
    assert send["args"] == {
        "sent": 8, "peer": 1, "communicator": "MPI_COMM_WORLD", "ranks": 2, "region": "solve",
    }  # fmt: skip
    assert (send["ts"], send["dur"]) == (1.001, 1.5)
    assert receive["args"] == {
        "received": 9, "peer": "outside MPI_COMM_WORLD", "region": "region 8",
    }  # fmt: skip
    assert (long["tid"], long["dur"]) == (1, (2**40 + 1) / 1000)
    named = [event for event in document["traceEvents"] if event["ph"] == "M"]
    assert [(one["name"], one["pid"], one["tid"], *one["args"].values()) for one in named] == [
        ("process_name", 0, 0, "rank 0 on n0"),
        ("process_sort_index", 0, 0, 0),
        ("thread_name", 0, 0, "thread 0"),
        ("thread_name", 0, 1, "thread 1"),
    ]
    facts = document["metadata"]
    assert facts["origin_ns"] == START
    assert facts["record"] == {"ranks": "2", "command": "./app"}
    assert facts["clocks"]["nodes"] == [{"node": 0, "host": "n0", "error_ns": 1000}]


def test_nodes_keep_their_clocks_and_what_is_known_of_them(tmp_path: Path) -> None:
    job = Job()
    for rank, error in ((0, 5000), (1, -1)):
        add(node_of(job, rank, clock_error=error), rank, 100 * rank, 50)
    document = export(job, tmp_path, "out.json.gz")
    assert [(event["pid"], event["ts"]) for event in slices(document)] == [(0, 0), (1, 0.1)]
    assert [one["error_ns"] for one in document["metadata"]["clocks"]["nodes"]] == [5000, None]


def test_parts_of_a_job_are_one_timeline(tmp_path: Path) -> None:
    paths = []
    for rank in range(2):
        job = Job(facts={"ranks": "2"})
        add(node_of(job, rank), rank, 10, 5)
        paths.append(job.write(tmp_path, f"part-{rank}.hrc"))
    timeline.write([read(path) for path in paths], tmp_path / "out.json")
    document = json.loads((tmp_path / "out.json").read_text())
    assert [event["pid"] for event in slices(document)] == [0, 1]


def test_what_goes_on_has_no_end(tmp_path: Path) -> None:
    job = Job()
    node = node_of(job, 0)
    node.add("regions", rank=0, region=1, id=1, label="solve")
    add(node, 0, 100, 0, OPEN_REGION, region=1)
    add(node, 0, 200, 50)
    add(node, 0, 300, 0, OPEN_CALL, procedure="MPI_Recv")
    found = slices(export(job, tmp_path))
    assert [(event["name"], event["ph"]) for event in found] == [
        ("solve", "B"),
        ("MPI_Send", "X"),
        ("MPI_Recv", "B"),
    ]
    assert all("dur" not in event for event in found if event["ph"] == "B")


def test_what_ends_after_what_it_is_in_is_shown_as_long_as_it_fits(tmp_path: Path) -> None:
    job = Job()
    node = node_of(job, 0)
    node.add("regions", rank=0, region=1, id=1, label="solve")
    add(node, 0, 0, 7000, REGION, region=1)
    add(node, 0, 5000, 5000)
    add(node, 0, 7000, 1000)
    document = export(job, tmp_path)
    _, cut, free = slices(document)
    assert (cut["dur"], cut["args"]) == (2, {"whole_time_ns": 5000})
    assert (free["dur"], free["args"]) == (1, {})
    assert document["metadata"]["cut_to_fit"] == 1


def test_hostile_names_stay_names(tmp_path: Path) -> None:
    job = Job(facts={"command": HOSTILE})
    node = job.node()
    node.add("ranks", rank=0, host=HOSTILE, start=START)
    node.add("timelines", rank=0, since=START)
    world = node.add("communicators", size=1, name=HOSTILE)
    node.add("regions", rank=0, region=1, id=1, label=HOSTILE)
    add(node, 0, 0, 10, REGION, region=1)
    add(node, 0, 1, 5, procedure=HOSTILE, communicator=world, region=1)
    document = export(job, tmp_path)
    region, call = slices(document)
    assert region["name"] == call["name"] == call["args"]["communicator"] == HOSTILE
    assert document["metadata"]["record"]["command"] == HOSTILE
    text = (tmp_path / "out.json").read_text()
    assert text.isascii()
    assert all(each.isprintable() or each == "\n" for each in text)


def test_what_is_missing_is_told(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    job = Job()
    add(node_of(job, 0, lost=12345, events=1, since=START + 5000), 0, 0, 5000)
    document = export(job, tmp_path)
    (told,) = [event for event in document["traceEvents"] if event["ph"] == "i"]
    assert (told["name"], told["ts"]) == ("12,345 earlier events are not kept", 5)
    assert document["metadata"]["threads"] == [
        {"rank": 0, "thread": 0, "events": 1, "lost": 12345, "since_us": 5}
    ]
    assert "12,345 earlier events" in capsys.readouterr().err


def test_ranks_without_a_timeline_are_named(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    job = Job()
    add(node_of(job, 0), 0, 0, 5)
    job.nodes[0].add("ranks", rank=3, host="n0", start=START)
    document = export(job, tmp_path)
    assert document["metadata"]["ranks_without"] == [3]
    assert "ranks without a timeline" in capsys.readouterr().err


def test_a_timeline_of_no_events_is_one(tmp_path: Path) -> None:
    job = Job()
    node_of(job, 0)
    assert slices(export(job, tmp_path)) == []


def test_a_record_without_a_timeline_is_refused(tmp_path: Path) -> None:
    record = support.small_job().write(tmp_path)
    with pytest.raises(HeadraceError, match="HEADRACE_TIMELINE=1"):
        timeline.write([read(record)], tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_nothing_is_written_over(tmp_path: Path) -> None:
    job = Job()
    add(node_of(job, 0), 0, 0, 5)
    (tmp_path / "out.json").write_text("mine")
    with pytest.raises(HeadraceError, match="is there already"):
        export(job, tmp_path)
    assert (tmp_path / "out.json").read_text() == "mine"


def test_a_record_that_was_cut_off_is_shown_up_to_the_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    job = Job()
    for rank in range(2):
        add(node_of(job, rank), rank, 0, 5)
    data = job.data()
    seen = set()
    for length in range(len(support.front(job.schema)) + 1, len(data)):
        path = tmp_path / f"{length}.hrc"
        path.write_bytes(data[:length])
        out = tmp_path / f"{length}.json"
        try:
            timeline.write([read(path)], out)
        except HeadraceError as error:
            assert "has no timeline" in str(error)
            continue
        document = json.loads(out.read_text())
        assert document["metadata"]["is_whole"] is False
        assert "was cut off" in capsys.readouterr().err
        seen.add(len(slices(document)))
    assert seen == {0, 1, 2}


def changed(job: Job, change) -> bytes:
    """With another body of the section of events; its checksum fits."""
    place = [table["name"] for table in job.schema["tables"]].index("events")
    made = []
    for part in job.sections():
        table, node, rows = (int.from_bytes(part[at : at + 4], "little") for at in (4, 8, 12))
        made.append(section(table, node, *change(rows, part[24:])) if table == place else part)
    end = section(support.JOB, support.JOB, len(made), b"")
    return support.front(job.schema) + b"".join(made) + end


@pytest.mark.parametrize(
    "change",
    [
        lambda rows, body: (rows + 1, body),
        lambda rows, body: (rows - 1, body),
        lambda rows, body: (rows, body[:-1]),
        lambda rows, body: (rows, body + packed(0, signed(1))),
        lambda rows, body: (rows, packed(1, signed(0) * (rows + 1)) + body[6:]),
        lambda rows, body: (rows, packed(9, signed(0)) + body[6:]),
        lambda rows, body: (rows, packed(1, b"\xff" * 20) + body[6:]),
        lambda rows, body: (rows, packed(0, b"\xff" * 9 + b"\x7f") + body[6:]),
        lambda rows, body: (rows, packed(3, b"\0" * rows) + body[6:]),
    ],
)
def test_a_damaged_table_is_refused(tmp_path: Path, change) -> None:
    job = Job()
    node = node_of(job, 0)
    for begin in (0, 10, 20):
        add(node, 0, begin, 5)
    path = tmp_path / "damaged.hrc"
    path.write_bytes(changed(job, change))
    with pytest.raises(HeadraceError, match="damaged"):
        timeline.write([read(path)], tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()


def test_random_damage_is_refused_or_still_a_timeline(tmp_path: Path) -> None:
    job = Job()
    node = node_of(job, 0, threads=2)
    for thread in range(2):
        for i in range(20):
            add(node, 0, 300 * i + i * i, i, thread=thread, sent=i % 3 * 1000, peer=i % 2 - 1)
    ways = set()
    for seed in range(150):
        chance = random.Random(seed)

        def damage(rows: int, body: bytes, chance: random.Random = chance) -> tuple[int, bytes]:
            changed = bytearray(body)
            for _ in range(chance.choice([1, 1, 3])):
                changed[chance.randrange(len(changed))] = chance.choice([0, 1, 127, 128, 255])
            return rows, bytes(changed)

        path = tmp_path / f"{seed}.hrc"
        path.write_bytes(changed(job, damage))
        out = tmp_path / f"{seed}.json"
        try:
            timeline.write([read(path)], out)
        except HeadraceError as error:
            assert "damaged" in str(error)
            assert not out.exists()
            ways.add("refused")
            continue
        check_schema(json.loads(out.read_text()))
        ways.add("shown")
    assert ways == {"refused", "shown"}


@pytest.mark.parametrize(
    "given",
    [
        {"rank": 2**31},
        {"rank": -1},
        {"thread": -3},
        {"kind": 6},
        {"procedure": 99},
        {"communicator": 0},
        {"peer": -3},
        {"peer": 2**31},
        {"sent": -1},
        {"begin": -1},
        {"time": -(2**63)},
        {"region": -1},
        {"file": 99},
        {"offset": -3},
        {"system_thread": -1},
    ],
)
def test_a_number_that_cannot_be_is_refused(tmp_path: Path, given: dict[str, int]) -> None:
    job = Job()
    node = node_of(job, 0)
    add(node, 0, 0, 5)
    node.rows["events"][0] |= given
    path = job.write(tmp_path)
    for attempt in (
        lambda: timeline.write([read(path)], tmp_path / "out.json"),
        lambda: read(path, with_events=True),
    ):
        with pytest.raises(HeadraceError, match="damaged"):
            attempt()
    assert not (tmp_path / "out.json").exists()


def test_events_out_of_order_are_refused(tmp_path: Path) -> None:
    for order in ([(0, 10), (0, 5)], [(0, 0), (1, 0), (0, 10)]):
        job = Job()
        node = node_of(job, 0, threads=2)
        for thread, begin in order:
            add(node, 0, begin, 1, thread=thread)
        with pytest.raises(HeadraceError, match="damaged"):
            export(job, tmp_path)


def test_the_largest_numbers_are_exact(tmp_path: Path) -> None:
    job = Job()
    node = node_of(job, 0)
    node.rows["timelines"][0]["since"] = 0
    node.rows["ranks"][0]["start"] = 0
    add(node, 0, 0, 0)
    most = 2**63 - 1
    node.rows["events"][0] |= {"begin": most, "time": most, "sent": most, "region": most}
    export(job, tmp_path)
    text = (tmp_path / "out.json").read_text()
    assert '"ts":9223372036854775.807' in text
    assert '"dur":9223372036854775.807' in text
    assert f'"sent":{most}' in text


def test_events_are_read_one_by_one_as_all_at_once(tmp_path: Path) -> None:
    job = Job()
    node = node_of(job, 0)
    for i in range(500):
        add(node, 0, 7 * i * i, 1000 - i, sent=3**i % 2**60, received=i % 3)
    path = job.write(tmp_path)
    ((of, found),) = list(events(read(path)))
    whole = read(path, with_events=True).nodes[0]["events"]
    assert [tuple(event) for event in found] == list(whole.rows(*whole.columns))
    assert of.number == 0
    csv_files.write(read(path, with_events=True), tmp_path / "csv")
    assert len((tmp_path / "csv" / "events.csv").read_text().splitlines()) == 501


@pytest.mark.parametrize(
    "values", [[], [5], [5, 5, 5], [-1, 2**63 - 1, -(2**63)], [2**40, 2**40 + 1]]
)
def test_a_column_is_the_same_read_one_by_one(values: list[int]) -> None:
    column = support.pack(values)
    way, data = column[0], memoryview(column[5:])
    assert list(stream(way, data, len(values))) == list(unpack(way, data, len(values)))


def test_a_number_of_more_than_64_bits_is_refused() -> None:
    for data in (b"\xff" * 9 + b"\x02", b"\xff" * 11 + b"\x01", b"\x80"):
        with pytest.raises(Malformed):
            list(stream(1, memoryview(data), 1))
