"""A library's algorithms as tables, on the terminal and as Markdown."""

from collections.abc import Sequence

from rich.console import Console

from headrace.bench.collectives.findings import Cell
from headrace.bench.collectives.library_choice import algorithm_at, is_won, taken
from headrace.bench.collectives.library_times import AlgorithmCell, LibraryJob, losing_first
from headrace.bench.collectives.output import page_of, show_lines
from headrace.bench.collectives.sizes import size_text
from headrace.bench.peers.tables import Table, ratio_text
from headrace.statistics import Interval

METHOD = (
    "us: of a call, by the library's own choice / by the algorithm, medians of launches that "
    "alternate, of each the third shortest of 12 batches; times as fast: paired ratios of "
    "launches, [95 % interval of the median]; Headrace: its speed over that of the library with "
    "what was taken, in turns within one job, where it can carry it out"
)
HEADERS = ("MPI", "operation", "size", "algorithm", "us", "times as fast", "taken", "Headrace")


def algorithm_table(jobs: Sequence[LibraryJob]) -> Table:
    """Losing cells first."""
    rows = [_row(job, cell) for job, cell in losing_first(jobs)]
    return Table("Algorithms of the library against its own choice", HEADERS, rows, METHOD)


def _row(job: LibraryJob, cell: AlgorithmCell) -> tuple[str, ...]:
    own, chosen = cell.microseconds()
    is_taken = bool(algorithm_at(taken(job), cell.operation, cell.bytes))
    marks = [ratio_text(cell.gain), *(["LOST"] if cell.is_lost else [])]
    ours = headrace_ratio(job, cell)
    return (
        job.title,
        cell.operation,
        "" if cell.operation == "barrier" else size_text(cell.bytes),
        cell.algorithm,
        f"{own:.2f} / {chosen:.2f}",
        " ".join(marks),
        "yes" if is_taken else "",
        ratio_text(ours) if ours is not None else "",
    )


def headrace_ratio(job: LibraryJob, cell: AlgorithmCell) -> Interval | None:
    """How many times as fast Headrace is as the library with what was taken."""
    found = _headrace_cell(job, cell)
    return found.speedup if found is not None and found.by_layer else None


def _headrace_cell(job: LibraryJob, cell: AlgorithmCell) -> Cell | None:
    key = cell.operation, cell.bytes
    return next((one for one in job.headrace if (one.operation, one.bytes) == key), None)


def summary(jobs: Sequence[LibraryJob]) -> list[str]:
    lines = []
    for job in jobs:
        chosen = [cell for cell in job.confirmed if cell.algorithm]
        left = [cell for cell in job.confirmed if not cell.algorithm]
        found = taken(job)
        won = [
            cell
            for cell in chosen
            if is_won(cell) and algorithm_at(found, cell.operation, cell.bytes)
        ]
        ours = [headrace_ratio(job, cell) for cell in won]
        better = sum(one is not None and one.is_confident and one.low > 1 for one in ours)
        lines.append(
            f"{job.line}, {_pairs(job)} pairs of launches. Of {len(chosen)} cells with a "
            f"candidate, {len(won)} certainly gain more than 3 %. In {better} of these, Headrace "
            f"(HEADRACE_COLLECTIVES=1) is certainly faster still."
        )
        chance = sum(_differs(cell) for cell in left)
        lines.append(
            f"Of {len(left)} cells without a candidate, whose two runs are alike, {chance} appear "
            "to differ by more than 3 %, by chance."
        )
    return lines


def _pairs(job: LibraryJob) -> int:
    return max((len(cell.own) for cell in job.confirmed), default=0)


def _differs(cell: AlgorithmCell) -> bool:
    gain = cell.gain
    return gain.is_confident and (gain.low > 1.03 or cell.is_lost)


def wrong_lines(jobs: Sequence[LibraryJob]) -> list[str]:
    return [
        f"WRONG: {job.title}, {cell.operation} by {cell.algorithm or 'its own choice'}, "
        f"{size_text(cell.bytes)}: {cell.wrong} elements"
        for job in jobs
        for cell in (*job.screened, *job.confirmed)
        if cell.wrong
    ]


def show(console: Console, jobs: Sequence[LibraryJob]) -> None:
    show_lines(console, [*wrong_lines(jobs), *summary(jobs)], algorithm_table(jobs))


def page(jobs: Sequence[LibraryJob]) -> str:
    """As Markdown."""
    return page_of([*wrong_lines(jobs), *summary(jobs)], algorithm_table(jobs))
