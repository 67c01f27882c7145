"""What Headrace chose, as a record has it, added up over ranks."""

from pathlib import Path

from analysed import found
from record_support import small_job


def test_calls_that_headrace_never_sees_are_counted_by_the_recorder(tmp_path: Path) -> None:
    job = small_job()
    for subject, reason in (
        ("allreduce", "why"),
        ("barrier", "why"),
        ("bcast on 2 ranks", "other"),
    ):
        job.nodes[0].add(
            "decisions", rank=0, subject=subject, choice="the MPI library", reason=reason,
            alternatives="", cost=-1,
        )  # fmt: skip
    what = found(job, tmp_path)
    calls = {one.name: one.sums.calls for one in what.procedures}
    assert calls["MPI_Allreduce"] > 2 and "MPI_Barrier" not in calls
    left = {one.subject: one.times for one in what.decisions if one.choice == "the MPI library"}
    assert left == {"allreduce": calls["MPI_Allreduce"], "bcast on 2 ranks": 1}


def test_decisions_on_many_files_are_one(tmp_path: Path) -> None:
    job = small_job()
    for number, node in enumerate(job.nodes):
        for i in range(5):
            for choice in ("1", "none")[: 2 if i < 4 else 1]:
                node.add(
                    "decisions", rank=number, subject=f"buffers of '/scratch/out.{number}.{i}'",
                    choice=choice, reason="it is named", alternatives="", cost=-1,
                )  # fmt: skip
    decisions = found(job, tmp_path).decisions
    many = [one for one in decisions if "files" in one.subject]
    assert [(one.subject, one.choice, one.times) for one in many] == [
        ("buffers of 10 files, such as '/scratch/out.0.0'", "1", 10)
    ]
    assert len(decisions) == 1 + 1 + 8
