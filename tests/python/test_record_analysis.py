"""What is worked out from a record, against numbers worked out by hand and against the truth of
made-up runs."""

import random
from pathlib import Path
from time import process_time

import pytest
from analysed import found
from record_support import MILLISECOND, Job, NodeTables, small_job

from headrace.analysis.analyse import MOST_FRAMES, analyse
from headrace.analysis.numbers import balance, efficiency, ranges
from headrace.analysis.procedures import MATCHED, SYNCHRONISING, bytes_of
from headrace.analysis.verdict import verdict
from headrace.analysis.waiting import Awaited, Messages, Wait
from headrace.record.reader import read

MS = MILLISECOND
SECONDS = 20  # one on an idle machine


def test_the_small_job(tmp_path: Path) -> None:
    """Rank 0 is 100 + 50 + 50 ms in MPI, rank 1 300 + 100 + 50 ms, of 1,000 ms."""
    what = found(small_job(), tmp_path)
    assert (what.outside.total, what.outside.greatest) == (1350 * MS, 800 * MS)
    assert (what.in_mpi.total, what.in_mpi.greatest) == (650 * MS, 450 * MS)
    assert what.efficiency is not None
    assert what.efficiency.load_balance == pytest.approx(675 / 800)
    assert what.efficiency.communication == pytest.approx(0.8)
    assert what.efficiency.parallel == pytest.approx(0.675)
    assert [(one.name, one.balance.total // MS) for one in what.classes] == [
        ("point-to-point", 150),
        ("collective", 400),
        ("I/O", 100),
    ]
    assert what.run.is_complete and what.run.elapsed == 1000 * MS
    assert "68%" in verdict(what) and "communication efficiency 80%" in verdict(what)


def test_times_of_threads_count_as_their_mean(tmp_path: Path) -> None:
    """Four threads of the one rank are in MPI for 800 ms each, of a run of 1,000 ms."""
    job = Job(facts={"ranks": "1", "nodes": "1"})
    node = job.node()
    node.add("ranks", rank=0, host="n0", state=1, run=1000 * MS, threads=4)
    for thread in range(4):
        node.call(0, "MPI_Recv", 0, thread=thread, calls=2, time=800 * MS, greatest=500 * MS)
    what = found(job, tmp_path)
    (receive,) = what.procedures
    for one in (what.classes[0].balance, receive.balance, what.sites[0].balance, what.in_mpi):
        assert one is not None and one.total == 800 * MS
    assert receive.sums.time == 3200 * MS, "of all calls, for the mean of a call"
    assert what.metrics["in_mpi_share"] == pytest.approx(0.8)
    assert what.outside is not None and what.outside.total == 200 * MS


def test_procedures_of_the_small_job(tmp_path: Path) -> None:
    what = found(small_job(), tmp_path)
    sums = {one.name: one for one in what.procedures}
    assert {name: (one.sums.calls, one.sums.bytes) for name, one in sums.items()} == {
        "MPI_Init": (2, 0),
        "MPI_Allreduce": (20, 160),
        "MPI_Send": (3, 3000),
        "MPI_Recv": (3, 3000),
        "MPI_File_write_all": (2, 8192),
    }
    allreduce = sums["MPI_Allreduce"]
    assert allreduce.sums.bins == [20, 0, 0, 0, 0, 0, 0]
    assert allreduce.balance.imbalance == 100 * MS
    assert allreduce.balance.imbalance_percent == pytest.approx(100 / 300 * 2 * 100)
    assert allreduce.wait is not None
    # 300 - 2 x 100 at least; 100 + 300 - 20 x 5 / 2 at most
    assert (allreduce.wait.least, allreduce.wait.most) == (100 * MS, 350 * MS)
    assert what.waits.total == allreduce.wait
    assert sums["MPI_Send"].wait is None and not sums["MPI_Init"].in_run


def test_paths_are_one_over_nodes(tmp_path: Path) -> None:
    sites = found(small_job(), tmp_path).sites
    assert [(one.procedure, one.sums.calls) for one in sites] == [
        ("MPI_Allreduce", 20),
        ("MPI_File_write_all", 2),
        ("MPI_Recv", 3),
        ("MPI_Send", 3),
    ]
    assert [frame.offset for frame in sites[0].frames] == [0x200, 0x100]
    assert [frame.offset for frame in sites[3].frames] == [0x100]


def test_files_matrix_and_decisions(tmp_path: Path) -> None:
    what = found(small_job(), tmp_path)
    (file,) = what.files
    assert (file.ranks, file.opens, file.read, file.written) == (2, 2, 0, 8192)
    assert (file.store_read, file.store_written) == (None, 8192)
    assert (file.time, file.exchange, file.store) == (120 * MS, 20 * MS, 60 * MS)
    assert [vars(one) for one in what.matrix] == [
        {"sender": 0, "receiver": 1, "messages": 3, "bytes": 3000}
    ]
    (decision,) = what.decisions
    assert (decision.choice, decision.times, decision.cost) == ("staged", 1, None)
    assert [(one.name, one.nodes) for one in what.settings] == [
        ("HEADRACE_QUIET", 2),
        ("HEADRACE_VERIFY", 2),
    ]


def test_files_that_nodes_hold_bytes_of(tmp_path: Path) -> None:
    """Only names that stand on several nodes, and that say which file it is."""
    job = small_job()
    reach = "HEADRACE_IOBUF names it, and other nodes may reach it"
    for number, node in enumerate(job.nodes):
        for name, reason in (
            ("/both", reach),
            (f"/own-{number}", reach),
            ("(files)", reach),
            ("/local", "HEADRACE_IOBUF names it"),
        ):
            node.add(
                "decisions", rank=number, subject=f"buffers of '{name}'", choice="1",
                reason=reason, alternatives="", cost=-1,
            )  # fmt: skip
    assert found(job, tmp_path).quality.held_twice == ("/both",)


def rank_row(node: NodeTables, rank: int, **more: int | str) -> None:
    node.add("ranks", **{"rank": rank, "state": 1, "run": 1000 * MS, "threads": 1, **more})


def test_threads_share_their_time_in_mpi(tmp_path: Path) -> None:
    job = Job(facts={"ranks": "1"})
    node = job.node()
    rank_row(node, 0, threads=2)
    for thread in range(2):
        node.call(0, "MPI_Recv", 0, thread=thread, calls=1, time=800 * MS, least=800 * MS)
    assert found(job, tmp_path).in_mpi.total == 800 * MS


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda job: job.facts.update(ranks="3"), "1 of 3 ranks is missing"),
        (lambda job: job.facts.update(complete="no"), "parts were missing"),
        (lambda job: job.nodes[1].rows["ranks"][0].update(state=0), "1 rank was running"),
        (lambda job: job.nodes[1].rows["ranks"][0].update(state=2), "without MPI_Finalize"),
        (lambda job: job.nodes[0].rows["ranks"][0].update(state=3), "called MPI_Abort"),
    ],
)
def test_what_a_record_lacks_is_said(tmp_path: Path, change, why: str) -> None:
    job = small_job()
    change(job)
    run = found(job, tmp_path).run
    assert not run.is_complete and any(why in one for one in run.lacks)


@pytest.mark.parametrize("ranks", ["", "x", "-3", "1", "9" * 30, "\u0663"])
def test_a_wrong_number_of_ranks_is_not_believed(tmp_path: Path, ranks: str) -> None:
    job = small_job()
    job.facts["ranks"] = ranks
    assert found(job, tmp_path).run.count == 2


def test_every_cut_can_be_analysed(tmp_path: Path) -> None:
    whole = small_job().data()
    path = tmp_path / "x.hrc"
    for length in range(len(whole) - len(b"".join(small_job().sections())), len(whole), 41):
        path.write_bytes(whole[:length])
        what = analyse(read(path))
        assert verdict(what) and not what.run.is_complete


def test_nothing_to_compare() -> None:
    assert efficiency([], 0) is None and efficiency([0, 0], 5) is None
    assert balance([], 0).average == 0 and balance([], 0).imbalance_percent is None
    assert balance([5], 1).imbalance_percent is None
    alone = balance([12], 4)  # one rank of four does it all
    assert alone.imbalance_percent == pytest.approx(100)
    assert balance([3, 3, 3], 3).imbalance_percent == 0


def test_many_paths_and_communicators(tmp_path: Path) -> None:
    job = Job(facts={"ranks": "1"})
    node = job.node()
    rank_row(node, 0)
    for number in range(100_000):
        node.add("communicators", size=number, name=f"c{number}")
    for number in range(10_000):
        path = node.add("paths", caller=number - 1, offset=number)
        shape = number * 10
        node.call(0, "MPI_Barrier", 1, path=path, communicator=shape, calls=1, time=2, least=2)
    begin = process_time()
    what = found(job, tmp_path)
    assert process_time() - begin < SECONDS
    assert what.procedures[0].sums.calls == 10_000
    assert all(len(one.frames) <= MOST_FRAMES for one in what.sites)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("Recv Irecv Get Rget File_read_at_all Waitall", 20),
        ("Send Sendrecv Put Get_accumulate File_write Allreduce Get_count", 3),
        ("Start Startall", 23),
    ],
)
def test_bytes_are_what_is_sent_or_else_arrives(names: str, expected: int) -> None:
    found = {name: bytes_of(f"MPI_{name}", sent=3, received=20) for name in names.split()}
    assert found == dict.fromkeys(names.split(), expected)


def test_ranges() -> None:
    assert ranges([0, 1, 2, 5, 7, 8]) == "0-2,5,7-8"
    assert ranges([]) == ""


ROOTED, UNEVEN = ("MPI_Bcast", "MPI_Scatter"), ("MPI_Allgatherv", "MPI_Alltoallv", "MPI_Alltoallw")


class MadeRun:
    """A program with matched collective calls. When each rank enters one is known, and how long it
    then transfers, which is another time on each rank: the truth is made of when they enter."""

    def __init__(self, seed: int):
        self.chance = random.Random(seed)
        self.ranks = self.chance.choice([2, 4, 8])
        self.truth = 0
        self.rows: dict[tuple, list[int]] = {}
        self.habit = self.chance.random()
        # Some programs transfer for long, some hardly, and in some one rank is late as a rule.
        self.transfer = self.chance.choice([20, 200, 2000])
        self.sluggard = self.chance.randrange(self.ranks) if self.chance.random() < 0.7 else -1

    def play(self, calls: int) -> "MadeRun":
        for _ in range(calls):
            synchronising = ("MPI_Allreduce", "MPI_Barrier", "MPI_Alltoall") * 2
            name = self.chance.choice([*synchronising, *ROOTED, *UNEVEN])
            size = self.chance.choice([self.ranks, self.ranks, self.ranks // 2])
            place = self.chance.randrange(2)
            groups = range(0, self.ranks, size)
            for first in groups:
                self._call(name, size, place, list(range(first, first + size)))
        return self

    def _call(self, name: str, size: int, place: int, members: list[int]) -> None:
        late = self.chance.randrange(0, 3000)
        entries = [self.chance.choice([0, 0, late // 4]) for _ in members]
        if self.sluggard in members:
            entries[members.index(self.sluggard)] += late
        waits = [max(0, self._awaited(name, entries) - one) for one in entries]
        self.truth += sum(waits)
        times = [one + own for one, own in zip(waits, self._transfers(name, size), strict=True)]
        for rank, time in zip(members, times, strict=True):
            # Some programs call from another place on their first rank, always.
            at = 2 + place if self.habit < 0.3 and rank == 0 else place
            self.rows.setdefault((rank, name, size, at), []).append(time)

    def _awaited(self, name: str, entries: list[int]) -> int:
        """For what a rank that enters early waits: the root, nobody since its counts are 0, all."""
        return entries[0] if name in ROOTED else 0 if name in UNEVEN else max(entries)

    def _transfers(self, name: str, size: int) -> list[int]:
        """One may take up to twice as long as another; with counts, as long as it likes."""
        least = self.chance.randrange(1, self.transfer)
        longest = 50 * least if name in UNEVEN else 2 * least
        return [self.chance.randint(least, longest) for _ in range(size)]

    def job(self) -> Job:
        job = Job(facts={"ranks": str(self.ranks)})
        node = job.node()
        paths = [node.add("paths", offset=16 * place) for place in range(4)]
        shapes = {size: node.add("communicators", size=size) for size in range(self.ranks + 1)}
        for rank in range(self.ranks):
            rank_row(node, rank)
        for (rank, name, size, at), times in self.rows.items():
            node.call(
                rank, name, 1, path=paths[at], communicator=shapes[size], calls=len(times),
                time=sum(times), least=min(times), greatest=max(times),
            )  # fmt: skip
        return job


def test_the_interval_holds_the_true_wait(tmp_path: Path) -> None:
    told = 0
    for seed in range(200):
        run = MadeRun(seed).play(calls=1 + seed % 60)
        total = found(run.job(), tmp_path).waits.total
        assert total.least <= run.truth <= total.most, seed
        told += total.least > 0
    assert told > 100


def test_a_known_wait_needs_no_interval(tmp_path: Path) -> None:
    """Of all calls on rank 0, and of 60 of 100 on rank 1; and of messages."""
    job = Job(facts={"ranks": "2"})
    node = job.node()
    world = node.add("communicators", size=2)
    for rank, time, known in ((0, 3000, 100), (1, 5000, 60)):
        rank_row(node, rank, matched=10, early=4)
        node.call(rank, "MPI_Bcast", 1, communicator=world, calls=100, time=time, least=10)
        node.add(
            "waits", rank=rank, procedure="MPI_Bcast", path=-1, communicator=world, calls=known,
            time=time * known // 100, least=700, most=900,
        )  # fmt: skip
        node.call(rank, "MPI_Recv", 0, communicator=world, calls=10, time=500, least=10)
        node.add(
            "waits", rank=rank, procedure="MPI_Recv", path=-1, communicator=world, calls=8,
            time=400, least=300, most=300,
        )  # fmt: skip
        node.add("awaited", rank=rank, peer=1 - rank, kind=2 * rank, calls=3, time=600 + rank)
    waits = found(job, tmp_path).waits
    # The other 40 calls of rank 1 took 2000, of which 40 x 10 / 2 were surely no wait.
    assert waits.total == Wait(1400, 1800 + 2000 - 200)
    assert waits.known == 6000 / 8000
    assert waits.messages == Messages(Wait(600, 800), 20, 8)
    assert waits.procedures["MPI_Recv"] == Wait(600, 800)
    assert waits.awaited == (
        Awaited(0, "receive", 3, 601),
        Awaited(1, "collective call", 3, 600),
    )


def test_the_bounds_by_hand(tmp_path: Path) -> None:
    """Rank 0's transfer may be twice as long as rank 1's, or half as long; so may the other's."""
    job = Job(facts={"ranks": "2"})
    node = job.node()
    world = node.add("communicators", size=2)
    for rank, time in ((0, 30), (1, 10)):
        rank_row(node, rank)
        node.call(
            rank, "MPI_Barrier", 1, communicator=world, calls=100, time=100 * time, least=time
        )
    total = found(job, tmp_path).waits.total
    assert (total.least, total.most) == (3000 - 2 * 1000, (3000 - 500) + (1000 - 500))


@pytest.mark.parametrize(
    ("name", "size", "calls", "least"),
    [
        ("MPI_Barrier", 2, (10, 10), 500 - 2 * 100),
        ("MPI_Barrier", 2, (10, 11), 0),  # one rank is a call ahead, as when a job is killed
        ("MPI_Barrier", 2, (10, 0), 0),  # one rank's are not known
        ("MPI_Barrier", 3, (10, 10), 0),  # not all ranks of the communicator are here
        ("MPI_Bcast", 2, (10, 10), 0),  # its root need not wait, however long others take
        ("MPI_Scan", 2, (10, 10), 0),
        ("MPI_Alltoallv", 2, (10, 10), 0),  # what one rank has to send may be its transfer
    ],
)
def test_what_is_not_surely_matched_may_be_no_wait(
    tmp_path: Path, name: str, size: int, calls: tuple[int, int], least: int
) -> None:
    job = Job(facts={"ranks": "2"})
    node = job.node()
    world = node.add("communicators", size=size)
    for rank, (count, spent) in enumerate(zip(calls, (100, 500), strict=True)):
        rank_row(node, rank)
        if count:
            node.call(rank, name, 1, communicator=world, calls=count, time=spent, least=10)
    total = found(job, tmp_path).waits.total
    assert total.least == least
    assert total.most == sum(
        spent - 5 * count for count, spent in zip(calls, (100, 500), strict=True) if count
    )


def test_calls_of_which_a_rank_is_missing_are_not_matched(tmp_path: Path) -> None:
    job = Job(facts={"ranks": "3"})
    node = job.node()
    world = node.add("communicators", size=3)
    for rank, spent in enumerate((100, 500)):
        rank_row(node, rank)
        node.call(rank, "MPI_Barrier", 1, communicator=world, calls=10, time=spent, least=10)
    assert found(job, tmp_path).waits.total.least == 0


def test_one_that_has_no_communicator_is_bounded_by_its_time(tmp_path: Path) -> None:
    job = Job(facts={"ranks": "2"})
    node = job.node()
    for rank in range(2):
        rank_row(node, rank)
        node.call(rank, "MPI_Barrier", 1, calls=2, time=50 + rank, least=20)
    total = found(job, tmp_path).waits.total
    assert (total.least, total.most) == (0, 101)


def test_matched_are_blocking() -> None:
    assert SYNCHRONISING < MATCHED
    assert not any(name.startswith("MPI_I") for name in MATCHED)
