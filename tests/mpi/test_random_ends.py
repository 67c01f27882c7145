"""A job that ends at any moment leaves a record of all its calls but those in flight."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import struct
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hanging import PATIENCE
from hosts import Host
from running import compile_c, launch, work_directory

from headrace.launch.gather import gather, goes_on
from headrace.record.reader import read

PROCEDURES = (
    "MPI_Comm_rank",
    "MPI_Sendrecv",
    "MPI_Isend",
    "MPI_Irecv",
    "MPI_Waitall",
    "MPI_Allreduce",
    "MPI_Gather",
    "MPI_Bcast",
    "MPI_Comm_dup",
    "MPI_Comm_free",
    "MPI_Abort",
    "MPI_File_open",
    "MPI_File_write_at",
    "MPI_File_read_at",
    "MPI_File_close",
    "MPI_Finalize",
)
RECEIVING = ("MPI_Irecv", "MPI_File_read_at")
IN_FINALIZE = "kill in finalize"
WAYS = ("kill all", "kill one", "terminate all", "terminate launcher", "abort", IN_FINALIZE)
LONGEST_SECONDS = 0.2
"""A job begins new call paths, and rows for them, all this time."""
FINALIZE_SECONDS = 0.02
MOST_ROUNDS = 1000


@dataclass(frozen=True)
class Log:
    """What a rank itself logged. Of each key calls or messages begun and done, bytes begun and
    done; the keys are procedures, and ranks to which messages went."""

    process: int
    counts: dict[str | int, tuple[int, int, int, int]]


def read_log(path: Path) -> Log:
    content = path.read_bytes()
    process, kinds, ranks = struct.unpack_from("=3q", content)
    assert kinds == len(PROCEDURES)
    keys = [*PROCEDURES, *range(ranks)]
    numbers = struct.iter_unpack("=4q", content[24:])
    return Log(process, dict(zip(keys, numbers, strict=True)))


def recorded(record: Path) -> dict[int, dict[str | int, tuple[int, int]]]:
    """By rank and key: calls or messages, and bytes."""
    calls: dict[tuple[int, str | int], Counter[str]] = {}
    (node,) = read(record).nodes
    rows = node["calls"].rows("rank", "procedure", "calls", "sent", "received")
    for rank, procedure, count, sent, received in rows:
        name = node.text(procedure)
        own = calls.setdefault((rank, name), Counter())
        own.update(calls=count, bytes=received if name in RECEIVING else sent)
    for rank, peer, messages, sent in node["matrix"].rows("rank", "peer", "messages", "sent"):
        calls.setdefault((rank, peer), Counter()).update(calls=messages, bytes=sent)
    found: dict[int, dict[str | int, tuple[int, int]]] = {}
    for (rank, key), own in calls.items():
        found.setdefault(rank, {})[key] = own["calls"], own["bytes"]
    return found


def differences(logs: list[Log], record: Path) -> Iterator[str]:
    """Where a record lacks more than the call in flight, or has more."""
    found = recorded(record)
    for rank, log in enumerate(logs):
        own = dict(found.get(rank, {}))
        # It comes before there is a log.
        calls, sent = own.pop("MPI_Comm_size", (0, 0))
        if (calls, sent) != (1, 0):
            yield f"rank {rank}: MPI_Comm_size {calls}, {sent}"
        for key, (begun, done, bytes_begun, bytes_done) in log.counts.items():
            calls, sent = own.pop(key, (0, 0))
            if not (done <= calls <= begun and bytes_done <= sent <= bytes_begun):
                yield (
                    f"rank {rank}, {key}: {calls} calls of {done} to {begun}, "
                    f"{sent} bytes of {bytes_done} to {bytes_begun}"
                )
        if own:
            yield f"rank {rank}: {own}"


class Ending:
    """Ends a job in one way, at a random moment after all its ranks have begun."""

    def __init__(self, way: str, directory: Path, ranks: int, chance: random.Random):
        self.way = way
        self.ranks = ranks
        self.directory = directory
        self.victim = chance.randrange(ranks)
        self.ends_one = way == "kill one" or (way == IN_FINALIZE and chance.random() < 0.5)
        self.after = chance.uniform(0, FINALIZE_SECONDS if way == IN_FINALIZE else LONGEST_SECONDS)

    def processes(self) -> list[int]:
        """Of the ranks; empty until all have begun, or the first one ends."""
        logs = [self.directory / f"log.{rank}" for rank in range(self.ranks)]
        if not all(path.exists() and path.stat().st_size for path in logs):
            return []
        found = [struct.unpack_from("=q", path.read_bytes())[0] for path in logs]
        if not all(found):
            return []  # the process is written last
        is_due = self.way != IN_FINALIZE or read_log(logs[0]).counts["MPI_Finalize"][0] > 0
        return found if is_due else []

    def end(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while not (processes := self.processes()):
            if time.monotonic() > deadline:
                return
            time.sleep(0.001)
        time.sleep(self.after)
        number = signal.SIGKILL if self.way.startswith("kill") else signal.SIGTERM
        chosen = processes
        if self.ends_one:
            chosen = [processes[self.victim]]
        if self.way == "terminate launcher":
            chosen = [int((self.directory / "launcher").read_text())]
        for process in chosen:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)


def gathered(images: Path, records: Path) -> Path:
    """What `headrace record gather` makes of the only job that left something. A record that is
    there was made before."""
    for record in records.glob("*.hrc"):
        return record
    (job,) = (images / f"headrace-record-{os.geteuid()}").iterdir()
    # Launchers may return before the ranks that they kill have ended.
    deadline = time.monotonic() + PATIENCE
    while goes_on(job) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not goes_on(job)
    record = gather(job, records, os.environ, remove=True)
    assert not job.exists()
    return record


# 360 with all MPIs. Each takes about a second.
@pytest.mark.parametrize(
    "seed",
    [seed if seed == 1 else pytest.param(seed, marks=pytest.mark.deep) for seed in range(1, 11)],
)
@pytest.mark.parametrize("way", WAYS)
def test_a_record_lacks_at_most_the_call_in_flight(
    host: Host, way: str, seed: int, library: Path
) -> None:
    chance = random.Random(f"{host.name} {way} {seed}")
    ranks = chance.choice([1, 2, 2, 3])
    program = compile_c(host, ["recorded_killed.c"], "recorded-killed")
    directory = work_directory(f"random-ends-{host.name}-{way.replace(' ', '-')}")
    images = directory / "images"
    images.mkdir()
    settings = {
        "HEADRACE_RECORD": "1",
        "HEADRACE_LOGPATH": str(directory),
        "HEADRACE_RECORD_DIRECTORY": str(images),
    }
    ending = Ending(way, directory, ranks, chance)
    line = [program, directory, chance.randrange(1 << 30)]
    if way == "abort":
        line += ["abort", int(1e6 * ending.after)]
    if way == IN_FINALIZE:
        line += ["finalize", chance.randrange(MOST_ROUNDS)]
    helper = threading.Thread(target=ending.end)
    if way != "abort":
        helper.start()
    remembering = ["sh", "-c", 'echo $$ > "$0"; exec "$@"', directory / "launcher"]
    result = launch(host, ranks, line, True, settings, before=remembering)
    if way != "abort":
        helper.join()
    if way != IN_FINALIZE:
        assert not list(directory.glob("*.hrc")), result.explain()

    record = gathered(images, directory)
    # Only now have all ranks ended: while one aborts, its second thread may go on.
    logs = [read_log(directory / f"log.{rank}") for rank in range(ranks)]
    assert list(differences(logs, record)) == []
    facts = read(record).facts
    assert facts["ranks"] == str(ranks)
    assert way == IN_FINALIZE or facts["complete"] == "0"
