"""Programs that switch recording off for a part of their run: numbers worked out by hand."""

from pathlib import Path

import pytest
from analysed import found
from record_support import MILLISECOND as MS
from record_support import Job
from test_profile_advice import LIBC, MAIN, WORK, Made

from headrace.advice.judging import judge
from headrace.advice.rules import collect

RULES = collect(())


@pytest.mark.parametrize(
    ("user", "system", "of_system", "without_core"),
    [  # Of 10 s, and the upper ends of their bounds.
        (95, 5, (0, 5), (0, 0)),
        (5, 95, (5, 10), (0, 0)),
        (20, 0, (0, 0), (0, 10)),
        (1, 2, (0, 2), (7, 10)),
    ],
)
def test_what_went_by_while_recording_was_off(
    user: int, system: int, of_system: tuple[int, int], without_core: tuple[int, int],
    tmp_path: Path,
) -> None:  # fmt: skip
    """It was on for 10 s of 100 s, and CPU times are of all of them."""
    job = Job(facts={"ranks": "2", "nodes": "1"})
    second = 1000 * MS
    node = job.node()
    for rank in range(2):
        node.add(
            "ranks", rank=rank, host="n0", cores=f"{rank}", state=1, run=100 * second, threads=1,
            off=90 * second, cpu_user=user * second, cpu_system=system * second,
        )  # fmt: skip
        node.add(
            "files", rank=rank, file="/file", opens=1, written=1, collective_writes=1,
            exchange=(92 + 4 * rank) * second, time=98 * second,
        )  # fmt: skip
    metrics = found(job, tmp_path).metrics
    for cost, (least, upper) in (("system", of_system), ("off_cpu", without_core)):
        assert metrics[f"{cost}_seconds"] == pytest.approx(least)
        assert metrics[f"{cost}_share"] == pytest.approx(least / 10)
        assert metrics[f"{cost}_bound_lower_seconds"] == pytest.approx(least)
        assert metrics[f"{cost}_bound_upper_seconds"] == pytest.approx(upper)
    said = {one.rule.id for one in judge(RULES, metrics).advice}
    assert ("system-time" in said) == (of_system[0] > 1)
    assert metrics["io_exchange_share"] == pytest.approx((2 + 6) / 2 / 10)
    assert metrics["io_exchange_bound_lower_seconds"] == pytest.approx(2)


@pytest.mark.parametrize(
    ("cores", "system", "surely"),
    [  # Of 10 s.
        ("0-7", 80, 0),  # of eight threads, which worked while it was off
        ("0-7", 83, 3),
        ("0-7", 95, 10),  # no more than there was
        ("0,2", 23, 3),
        ("", 80, 0),  # on nobody knows how many cores
    ],
)
def test_threads_work_side_by_side_while_recording_is_off(
    cores: str, system: int, surely: int, tmp_path: Path
) -> None:
    job = Job(facts={"ranks": "1", "nodes": "1"})
    second = 1000 * MS
    job.node().add(
        "ranks", rank=0, host="n0", cores=cores, state=1, run=20 * second, threads=1,
        off=10 * second, cpu_user=second, cpu_system=system * second,
    )  # fmt: skip
    metrics = found(job, tmp_path).metrics
    assert metrics["system_seconds"] == pytest.approx(surely)
    assert metrics["system_share"] == pytest.approx(surely / 10)
    assert metrics["system_bound_lower_seconds"] == pytest.approx(surely)
    assert metrics["system_bound_upper_seconds"] == pytest.approx(10)


def test_cpu_time_while_recording_was_off_is_none_of_the_run(tmp_path: Path) -> None:
    """Recording was off for 9 s, in which the process worked in the system. Of the other second
    0.4 s were without a core: of 0.6 s of work half was malloc, so 0.5 s may end with it."""
    made = Made(1, run=10_000 * MS, off=9000 * MS, cpu_user=600 * MS, cpu_system=9000 * MS)
    made.spend((300,), MAIN, WORK).spend((300,), MAIN, WORK, ("malloc", LIBC))
    metrics = made.read(tmp_path).findings.metrics
    assert metrics["allocation_bound_upper_seconds"] == pytest.approx(0.5)
    assert metrics["kernel_seconds"] == 0
    made = Made(1, run=10_000 * MS, off=9000 * MS, cpu_user=600 * MS, cpu_system=9250 * MS)
    made.spend((600,), MAIN, WORK, cpu=400, source=0)
    assert made.read(tmp_path).findings.metrics["kernel_seconds"] == pytest.approx(0.25)
    made = Made(1, "0-1", run=10_000 * MS, off=9000 * MS, cpu_user=600 * MS, cpu_system=9250 * MS)
    made.spend((600,), MAIN, WORK, cpu=400, source=0)
    assert made.read(tmp_path).findings.metrics["kernel_seconds"] == 0, "two threads on two cores"


@pytest.mark.parametrize(
    ("off", "threads", "open_calls", "in_mpi"),
    [
        (8500, 1, (8100,), 500),  # it hangs since recording is off
        (8500, 1, (9200,), 500 + 700),  # and 0.7 s longer
        (8500, 1, (900,), 500 + 900),  # recording was off before
        (8500, 2, (8100, 9000), (500 + 500) // 2),  # two threads hang
        (8500, 2, (900, 1000), (500 + 1900) // 2),
        (8500, 2, (1600,), 500 // 2),  # there is room for it in both threads' time, not in its own
        (8500, 2, (500, 1400), (500 + 500 + 1400) // 2),
        (5000, 1, (4900,), 500),
        (5000, 1, (4400,), 500 + 4400),  # it may have begun behind the part that was off
        (0, 1, (9500,), 10_000),
    ],
)
def test_calls_that_had_not_ended(
    off: int, threads: int, open_calls: tuple[int, ...], in_mpi: int, tmp_path: Path
) -> None:
    """Of 10 s, of which a rank was in MPI_Send for 0.5 s."""
    job = Job(facts={"ranks": "1", "nodes": "1", "complete": "0"})
    node = job.node()
    node.add("ranks", rank=0, run=10_000 * MS, off=off * MS, threads=threads, state=0)
    node.call(0, "MPI_Send", 0, thread=0, calls=5, time=500 * MS, least=MS, greatest=200 * MS)
    for thread, time in enumerate(open_calls):
        node.add(
            "last_calls", rank=0, thread=thread, procedure="MPI_Recv", open=1, time=time * MS,
            **{"class": 0},
        )  # fmt: skip
    node.add("last_calls", rank=0, procedure="MPI_Send", open=0, time=9000 * MS, **{"class": 0})
    what = found(job, tmp_path)
    assert what.in_mpi is not None and what.in_mpi.total == in_mpi * MS
    assert what.metrics["in_mpi_share"] == pytest.approx(in_mpi / (10_000 - off))
    assert what.metrics["blocking_messages_share"] <= 1
    assert what.classes[0].balance.total == in_mpi * MS
    assert max(one.sums.greatest for one in what.procedures) <= (10_000 - off) * MS
    assert what.last_calls[0].longest == max(open_calls) * MS, "the table has all of it"
