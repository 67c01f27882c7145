"""A writer of records for tests. It shares no code with the reader: it was made from
docs/record-format.md and spec/record alone."""

import json
import tomllib
import zlib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

SPEC = Path(__file__).resolve().parents[2] / "spec" / "record"
TABLES = [
    table
    for path in sorted(SPEC.glob("*.toml"))
    for table in tomllib.loads(path.read_text())["tables"]
]
UNITS = {table["name"]: {one["name"]: one["unit"] for one in table["columns"]} for table in TABLES}
NUMBERS = ("number", "bytes", "ns", "calls", "ranks")
JOB = 0xFFFFFFFF
MAGIC = bytes.fromhex("8948 5243 0d0a 1a0a")
MILLISECOND = 1_000_000


def varint(value: int) -> bytes:
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    made.append(value)
    return bytes(made)


def signed(value: int) -> bytes:
    return varint((value << 1 ^ value >> 63) & (1 << 64) - 1)


def wrapped(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def pack(values: list) -> bytes:
    """A column, in the shortest of its ways."""
    if values and isinstance(values[0], str):
        made = [one.encode("utf-8", "surrogateescape") for one in values]
        return packed(3, b"".join(varint(len(one)) + one for one in made))
    if len(set(values)) < 2:
        return packed(0, b"".join(map(signed, values[:1])))
    plain = b"".join(map(signed, values))
    steps = [wrapped(b - a) for a, b in zip([0, *values], values, strict=False)]
    differences = b"".join(map(signed, steps))
    return packed(1, plain) if len(plain) <= len(differences) else packed(2, differences)


def packed(way: int, data: bytes) -> bytes:
    return bytes([way]) + len(data).to_bytes(4, "little") + data


def section(table: int, node: int, rows: int, body: bytes) -> bytes:
    numbers = (table, node, rows, len(body), zlib.crc32(body))
    return b"HRS1" + b"".join(one.to_bytes(4, "little") for one in numbers) + body


def front(schema: object, number: int = 1) -> bytes:
    text = schema if isinstance(schema, bytes) else json.dumps(schema).encode()
    numbers = (number, len(text), zlib.crc32(text))
    return MAGIC + b"".join(one.to_bytes(4, "little") for one in numbers) + text


def usual_schema() -> dict:
    tables = [
        {
            "name": table["name"],
            "of": table["of"],
            "columns": [{"name": one["name"], "unit": one["unit"]} for one in table["columns"]],
        }
        for table in TABLES
    ]
    return {"format": 1, "tables": tables}


@dataclass
class NodeTables:
    """Rows by table; texts are given as such. What is not given is 0, or -1 for places."""

    number: int
    rows: dict[str, list[dict[str, int]]] = field(default_factory=dict)
    texts: dict[str, int] = field(default_factory=dict)

    def text(self, text: str) -> int:
        return self.texts.setdefault(text, len(self.texts))

    def add(self, table: str, **given: int | str) -> int:
        """Adds a row; its place is returned."""
        row = {
            name: given.pop(name, 0 if unit in NUMBERS else -1)
            for name, unit in UNITS[table].items()
        }
        assert not given, given
        for name, value in row.items():
            if isinstance(value, str):
                row[name] = self.text(value)
        rows = self.rows.setdefault(table, [])
        rows.append(row)
        return len(rows) - 1

    def call(self, rank: int, procedure: str, kind: int, **given: int | str) -> int:
        return self.add("calls", rank=rank, procedure=procedure, **{"class": kind}, **given)

    def sections(self, schema: dict) -> list[bytes]:
        made = []
        for place, table in enumerate(schema["tables"]):
            name = table["name"]
            rows: list = self.rows.get(name, [])
            if name == "texts":
                rows = [{"text": one} for one in self.texts]
            if rows:
                columns = [[row.get(one["name"], 7) for row in rows] for one in table["columns"]]
                made.append(section(place, self.number, len(rows), b"".join(map(pack, columns))))
        return made


@dataclass
class Job:
    """A record to be."""

    nodes: list[NodeTables] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    schema: dict = field(default_factory=usual_schema)

    def node(self) -> NodeTables:
        self.nodes.append(NodeTables(len(self.nodes)))
        return self.nodes[-1]

    def sections(self) -> list[bytes]:
        job = NodeTables(JOB)
        for name, value in self.facts.items():
            job.add("job", name=name, value=value)
        return [made for one in (job, *self.nodes) for made in one.sections(self.schema)]

    def data(self) -> bytes:
        sections = self.sections()
        end = section(JOB, JOB, len(sections), b"")
        return front(self.schema) + b"".join(sections) + end

    def write(self, folder: Path, name: str = "app.1.2p1n.hrc") -> Path:
        path = folder / name
        path.write_bytes(self.data())
        return path


def small_job() -> Job:
    """Two ranks on two nodes, everything in it once. tests/python/test_record_analysis.py has by
    hand what follows from it."""
    job = Job(facts={"ranks": "2", "nodes": "2", "mpi": "MPICH 5.0.2", "command": "./app -x"})
    for rank in range(2):
        _fill(job.node(), rank)
    return job


def _fill(node: NodeTables, rank: int) -> None:
    ms = MILLISECOND
    module = node.add("modules", file="/opt/app/bin/app", build_id="ab12")
    if rank:  # the same path stands at another place
        node.add("paths", module=module, offset=0x999)
    outer = node.add("paths", module=module, offset=0x100)
    inner = node.add("paths", caller=outer, module=module, offset=0x200)
    world = node.add("communicators", size=2, on_node=1, name="MPI_COMM_WORLD")
    node.add(
        "ranks", rank=rank, host=f"n{rank}", process=100 + rank, cores="0-3", program="app",
        state=1, run=1000 * ms, cpu_user=900 * ms, peak_memory=1 << 20, recorder=ms, threads=1,
        init=200 * ms,
    )  # fmt: skip
    node.call(
        rank, "MPI_Init", 4, calls=1, time=200 * ms, least=200 * ms, greatest=200 * ms, bin0=1
    )
    node.call(
        rank, "MPI_Allreduce", 1, path=inner, communicator=world, calls=10, sent=80, bin0=10,
        received=80, time=(100, 300)[rank] * ms, least=(5, 8)[rank] * ms, greatest=90 * ms,
    )  # fmt: skip
    if rank == 0:
        node.call(
            0, "MPI_Send", 0, path=outer, communicator=world, calls=3, sent=3000, bin2=3,
            time=50 * ms, least=10 * ms, greatest=20 * ms,
        )  # fmt: skip
        node.add("matrix", rank=0, peer=1, messages=3, sent=3000)
    else:
        node.call(
            1, "MPI_Recv", 0, path=outer, communicator=world, calls=3, received=3000, bin2=3,
            time=100 * ms, least=10 * ms, greatest=50 * ms,
        )  # fmt: skip
    node.call(
        rank, "MPI_File_write_all", 3, path=inner, communicator=world, calls=1, sent=4096, bin3=1,
        time=50 * ms, least=50 * ms, greatest=50 * ms,
    )  # fmt: skip
    node.add(
        "files", rank=rank, file="/scratch/out.dat", opens=1, written=4096, store_read=-1,
        store_written=8192 * rank, time=60 * ms, exchange=10 * ms, wait=5 * ms, copy=3 * ms,
        store=30 * ms,
    )  # fmt: skip
    if rank == 0:
        node.add(
            "decisions", rank=0, time=5 * ms, subject="/scratch/out.dat write", choice="staged",
            reason="small pieces", alternatives="direct 9 ms, staged 2 ms", cost=-1,
        )  # fmt: skip
    node.add("settings", name="HEADRACE_VERIFY", value="0", origin="default")
    node.add("settings", name="HEADRACE_QUIET", value="1", origin="environment")
    node.add("variables", name="OMP_NUM_THREADS", value="4")


@cache
def large_data() -> bytes:
    """4,096 ranks on 64 nodes."""
    return large_job(4096, 64, 60).data()


def large_job(ranks: int, on_node: int, sites: int) -> Job:
    """Many ranks, each with as many rows, whose numbers vary as those of a real run do."""
    job = Job(facts={"ranks": str(ranks), "nodes": str(ranks // on_node), "mpi": "MPICH 5.0.2"})
    for _ in range(ranks // on_node):
        node = job.node()
        first = node.number * on_node
        module = node.add("modules", file="/opt/app/bin/app", build_id="ab12")
        root = node.add("paths", module=module, offset=0x1000)
        paths = [
            node.add("paths", caller=root, module=module, offset=0x2000 + 16 * one)
            for one in range(sites)
        ]
        world = node.add("communicators", size=ranks, on_node=on_node, name="MPI_COMM_WORLD")
        for rank in range(first, first + on_node):
            node.add("ranks", rank=rank, host=f"n{node.number}", state=1, run=10**11, threads=1)
            for site in range(sites):
                noise = (rank * 7919 + site * 104729) % 1_000_003
                name, kind = (("MPI_Allreduce", 1), ("MPI_Send", 0), ("MPI_Recv", 0))[site % 3]
                node.call(
                    rank, name, kind, path=paths[site], communicator=world, calls=1000,
                    sent=8000 if site % 3 < 2 else 0, received=8000, bin0=1000,
                    time=10**8 + noise * 97, least=1000 + noise % 97, greatest=10**6 + noise,
                )  # fmt: skip
            for step in range(1, 27):
                node.add("matrix", rank=rank, peer=(rank + step) % ranks, messages=100, sent=800)
    return job
