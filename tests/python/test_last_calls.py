"""Calls that had not ended: their time counts, and of a dead job nothing unknown is said."""

from pathlib import Path

from analysed import found
from record_support import MILLISECOND, Job, small_job

from headrace.commands._findings import ENDED_EARLY, judged
from headrace.report.last_calls import last_calls_table
from headrace.report.terminal import first_lines
from headrace.symbols.resolver import resolve


def hanging(ranks: int = 4, unheard: int = 0, state: int = 0) -> Job:
    """All ranks but the last one are in MPI_Recv for most of a second."""
    job = Job(facts={"ranks": str(ranks), "complete": "0"})
    node = job.node()
    for rank in range(ranks):
        node.add(
            "ranks", rank=rank, run=1000 * MILLISECOND, threads=1, state=state, unheard=unheard
        )
        is_open = rank < ranks - 1
        node.add(
            "last_calls",
            rank=rank,
            procedure="MPI_Recv" if is_open else "MPI_Send",
            open=int(is_open),
            time=(900 + rank) * MILLISECOND,
            **{"class": 0},
        )
    return job


def test_their_time_counts_but_no_call(tmp_path: Path) -> None:
    own = found(hanging(), tmp_path)
    (procedure,) = own.procedures
    assert (procedure.name, procedure.sums.calls) == ("MPI_Recv", 0)
    assert procedure.sums.time == (900 + 901 + 902) * MILLISECOND
    assert own.in_mpi and own.in_mpi.total == procedure.sums.time
    assert own.efficiency is not None


def test_ranks_at_one_call_are_one_row(tmp_path: Path) -> None:
    own = found(hanging(), tmp_path)
    waiting, outside = own.last_calls
    assert [one.rank for one in waiting.waiters] == [2, 1, 0], "the longest first"
    assert (outside.is_open, outside.procedure) == (False, "MPI_Send")
    rows = last_calls_table(own, resolve([])).rows
    assert [row[:3] for row in rows] == [
        ("MPI_Recv", "0-2 (3)", "0.900 s to 0.902 s"),
        ("(outside MPI), last MPI_Send", "3", "0.903 s"),
    ]


def test_many_ranks_are_cut_in_text_alone(tmp_path: Path) -> None:
    job = hanging(1)
    for rank in range(1, 400, 2):
        job.nodes[0].add("last_calls", rank=rank, procedure="MPI_Recv", open=1, **{"class": 0})
    own = found(job, tmp_path)
    (row,) = (row for row in last_calls_table(own, resolve([])).rows if row[0] == "MPI_Recv")
    assert row[1].endswith(",... (200)") and len(row[1]) < 60
    assert sum(len(one.waiters) for one in own.last_calls) == 201


def test_of_a_dead_job_nothing_is_concluded_that_is_not_known(tmp_path: Path) -> None:
    for unheard in (60 * MILLISECOND, -1):
        own = found(hanging(unheard=unheard, state=2), tmp_path)
        assert own.efficiency is None
        judgement = judged(own)
        assert not judgement.advice and judgement.unjudged
        assert {reason for one in judgement.unjudged for reason in one.reasons} == {ENDED_EARLY}
        (verdict,) = (line for line in first_lines(own, judgement) if "ended early" in line)
        assert "1 s after MPI ran" in verdict
    own = found(hanging(unheard=40 * MILLISECOND, state=2), tmp_path)
    assert own.efficiency is not None, "40 ms of a second do not matter"


def test_a_job_that_ended_has_none(tmp_path: Path) -> None:
    assert not found(small_job(), tmp_path).last_calls
