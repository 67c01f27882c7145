"""What a record says of bytes that were read though nobody asked for them."""

from pathlib import Path

import pytest
from analysed import found
from record_support import MILLISECOND, Job


@pytest.mark.parametrize(
    ("read", "store_read", "unasked"), [(0, 300, 3.0), (0, 0, 0.0), (10, 300, 0.0), (0, -1, None)]
)
def test_reads_that_nobody_asked_for(
    read: int, store_read: int, unasked: float | None, tmp_path: Path
) -> None:
    """A file that the program reads, too, tells nothing of them."""
    job = Job(facts={"ranks": "1"})
    node = job.node()
    node.add("ranks", rank=0, state=1, run=1000 * MILLISECOND, threads=1)
    node.add(
        "files", rank=0, file="/out", opens=1, read=read, written=100, store_read=store_read,
        store_written=100, time=100, exchange=10, wait=60, copy=10, store=20,
    )  # fmt: skip
    metrics = found(job, tmp_path).metrics
    assert metrics["unasked_read_ratio"] == unasked
    assert metrics["io_waiting_share"] == 0.6
