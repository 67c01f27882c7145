"""Ranks of which several threads call MPI: what they spend counts as the mean of their threads,
against numbers worked out by hand."""

from pathlib import Path

import pytest
from analysed import found
from record_support import MILLISECOND, Job, NodeTables

from headrace.analysis.waiting import Awaited, Messages, Wait

MS = MILLISECOND
S = 1000 * MS


def two_ranks(*threads: int) -> tuple[Job, NodeTables]:
    """Each runs for 10 s."""
    job = Job(facts={"ranks": "2", "nodes": "1"})
    node = job.node()
    for rank, count in enumerate(threads):
        node.add("ranks", rank=rank, host="n0", state=1, run=10 * S, threads=count)
    return job, node


def busy_threads() -> Job:
    """Each of four threads of a rank sends for 3 s. In barriers it is for 2 s on rank 0, for 0.8 s
    on rank 1, and the fastest call took 0.1 s."""
    job, node = two_ranks(4, 4)
    world = node.add("communicators", size=2, on_node=2)
    for rank in range(2):
        for thread in range(4):
            node.call(
                rank, "MPI_Send", 0, thread=thread, communicator=world, calls=10, sent=80,
                bin0=10, time=3 * S, least=MS, greatest=S,
            )  # fmt: skip
            node.call(
                rank, "MPI_Barrier", 1, thread=thread, communicator=world, calls=5,
                time=(2000, 800)[rank] * MS, least=100 * MS, greatest=S,
            )  # fmt: skip
    node.add("files", rank=0, file="/out", opens=1, time=16 * S, exchange=4 * S, store_read=-1)
    node.add("files", rank=1, file="/out", opens=1, time=16 * S, wait=8 * S, store_read=-1)
    return job


@pytest.mark.parametrize(
    ("cost", "average", "greatest", "lower", "upper"),
    [
        # What rank 1 waits elsewhere: for nobody surely, in barriers 0.8 s - 5 x 0.05 s at most.
        ("blocking_messages", 3, 3, 3, 3.55),
        ("small_messages", 3, 3, 3, 3.55),
        # Rank 1, too: it may have waited in all of its sends.
        ("barrier", 1.4, 2, 0.8, 0.8 + 3),
        ("small_collectives", 0, 0, 0, 0.55 + 3),
        # Rank 1 exchanges nothing.
        ("io_exchange", 0.5, 1, 0, 0.55 + 3),
    ],
)
def test_costs(
    tmp_path: Path, cost: str, average: float, greatest: float, lower: float, upper: float
) -> None:
    metrics = found(busy_threads(), tmp_path).metrics
    assert metrics[f"{cost}_seconds"] == pytest.approx(average)
    assert metrics[f"{cost}_greatest_seconds"] == pytest.approx(greatest)
    assert metrics[f"{cost}_share"] == pytest.approx(average / 10)
    assert metrics[f"{cost}_bound_lower_seconds"] == pytest.approx(lower)
    assert metrics[f"{cost}_bound_upper_seconds"] == pytest.approx(upper)


def test_waiting_in_collective_calls(tmp_path: Path) -> None:
    what = found(busy_threads(), tmp_path)
    # Rank 0 is in barriers for 0.4 s more than twice what rank 1 is; at most both wait for all that
    # is above 5 x 0.1 s / 2.
    assert what.waits.total == Wait(400 * MS, 1750 * MS + 550 * MS)
    (collective,) = (one for one in what.classes if one.name == "collective")
    assert collective.balance.total == 2800 * MS
    assert what.metrics["collective_wait_lower_share"] == pytest.approx(1 / 7)
    assert what.metrics["collective_wait_lower_seconds"] == pytest.approx(0.2)
    # Work divided anew: the mean of the ranks' waiting.
    assert what.metrics["balance_bound_lower_seconds"] == pytest.approx(0.2)
    assert what.metrics["balance_bound_upper_seconds"] == pytest.approx((4.75 + 3.55) / 2)
    assert what.metrics["io_waiting_seconds"] == pytest.approx(8 / 4 / 2)


def test_waiting_that_was_recorded(tmp_path: Path) -> None:
    """Of ranks of four threads and of one."""
    job, node = two_ranks(4, 1)
    for rank in range(2):
        node.call(rank, "MPI_Recv", 0, calls=10, time=8 * S, least=MS)
        node.add(
            "waits", rank=rank, procedure="MPI_Recv", calls=5, time=4 * S, least=2 * S, most=3 * S
        )
        node.call(rank, "MPI_Bcast", 1, calls=1, time=S, least=S)
        node.add(
            "waits", rank=rank, procedure="MPI_Bcast", calls=1, time=S, least=400 * MS,
            most=800 * MS,
        )  # fmt: skip
        node.add("awaited", rank=rank, peer=1 - rank, kind=1, calls=5, time=2 * S)
    waits = found(job, tmp_path).waits
    # Of the 4 s of which nothing is known all may be waiting.
    assert waits.messages == Messages(Wait(500 * MS + 2 * S, 7 * S // 4 + 7 * S), 0, 0)
    assert waits.total == Wait(100 * MS + 400 * MS, 200 * MS + 800 * MS)
    assert waits.awaited == (Awaited(0, "send", 5, 2 * S), Awaited(1, "send", 5, 500 * MS))
