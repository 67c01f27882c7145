"""Times of a library's algorithms -> which are taken: pure.

A few launches of each algorithm tell what may win. That choice is then compared with the library's
own in launches of its own: of many algorithms that are equally fast some look faster by chance, and
do not do so again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace

from headrace.algorithms.knob import ALL_SIZES, MOST_BYTES, Choice, Knob
from headrace.algorithms.table import Section, covers, lines_of, names_of
from headrace.algorithms.variables import knob_of
from headrace.bench.collectives.findings import LEAST_SHARE, Job, Setup
from headrace.bench.collectives.library_times import AlgorithmCell, LibraryJob
from headrace.bench.collectives.table import LEAST_GAIN
from headrace.errors import HeadraceError
from headrace.statistics import geometric_mean

# What a few launches saw slower than this is not tried again; those that confirm say if it loses.
LEAST_SCREENED = 0.8
Medians = dict[str, dict[int, float]]  # algorithm -> bytes -> times as fast


def candidates(
    library: str, screened: Mapping[int, Sequence[AlgorithmCell]], ranks: int
) -> list[Choice]:
    """What may win on `ranks` ranks. screened: cells by numbers of ranks."""
    found: list[Choice] = []
    for operation in dict.fromkeys(cell.operation for cell in screened[ranks]):
        knob = knob_of(library, operation)
        if knob is None or not (knob.communicators or _is_for_all(screened, ranks)):
            continue
        medians = _medians(screened[ranks], operation)
        below = () if knob.communicators else [one for one in screened if one < ranks]
        smaller = [_medians(screened[number], operation) for number in below]
        if knob.covers:
            found += _covering(operation, medians, smaller)
        elif knob.sizes:
            found += _by_size(operation, medians)
        else:
            found += _for_all_sizes(operation, medians, smaller)
    return found


def _is_for_all(screened: Mapping[int, Sequence[AlgorithmCell]], ranks: int) -> bool:
    """Whether communicators of all sizes that such a job can have were measured: a choice that is
    not for one size counts for all."""
    return set(range(2, ranks + 1)) <= set(screened)


def _medians(cells: Iterable[AlgorithmCell], operation: str) -> Medians:
    found: Medians = {}
    for cell in cells:
        if cell.operation == operation and cell.algorithm:
            gain = 0.0 if cell.wrong else cell.gain.median
            found.setdefault(cell.algorithm, {})[cell.bytes] = gain
    return found


def _by_size(operation: str, medians: Medians) -> list[Choice]:
    """The best of each size; neighbouring sizes with the same best one are a range."""
    best: dict[int, tuple[float, str]] = {}
    for algorithm, gains in medians.items():
        for size, gain in gains.items():
            best[size] = max(best.get(size, (0.0, "")), (gain, algorithm))
    return joined(
        operation,
        {size: (name, gain) for size, (gain, name) in best.items() if gain >= LEAST_GAIN},
        best,
    )


def joined(
    operation: str, taken: Mapping[int, tuple[str, float]], measured: Iterable[int]
) -> list[Choice]:
    """Ranges of neighbouring sizes, of all that were measured, that take the same algorithm, with
    the least gain. Nothing is taken beyond a size that was measured, but below the smallest."""
    found: list[Choice] = []
    is_open = False
    for number, size in enumerate(sorted(measured)):
        if size not in taken:
            is_open = False
            continue
        algorithm, gain = taken[size]
        if is_open and found[-1].algorithm == algorithm:
            before = found.pop()
            least, gain = before.least, min(before.gain, gain)
        else:
            least = min(1, size) if number == 0 else size
        found.append(Choice(operation, algorithm, least, size, gain))
        is_open = True
    return found


def _covering(operation: str, medians: Medians, smaller: Sequence[Medians]) -> list[Choice]:
    """An algorithm for each size, all sizes covered, of which one at least may win and none loses;
    each goes on to the next size that was measured."""
    best = {
        size: max((gains[size], name) for name, gains in medians.items() if size in gains)
        for size in sorted({size for gains in medians.values() for size in gains})
    }
    kept = [one.get(name, {}).get(size, 0.0) for size, (_, name) in best.items() for one in smaller]
    gains = [gain for gain, _ in best.values()]
    if not gains or not _may_win(gains, kept):
        return []
    return _whole(operation, {size: (name, gain) for size, (gain, name) in best.items()})


def _whole(operation: str, at: Mapping[int, tuple[str, float]]) -> list[Choice]:
    """Ranges that cover all sizes, by algorithm and gain at those that were measured, with the
    least gain of each."""
    found: list[Choice] = []
    for size, (name, gain) in sorted(at.items()):
        if found and found[-1].algorithm == name:
            found[-1] = replace(found[-1], gain=min(found[-1].gain, gain))
            continue
        if found:
            found[-1] = replace(found[-1], most=size - 1)
        found.append(Choice(operation, name, size if found else 0, MOST_BYTES, gain))
    return found


def _may_win(gains: Iterable[float], on_fewer: Iterable[float]) -> bool:
    """on_fewer: gains on fewer ranks, which no further launches confirm."""
    gains = list(gains)
    may_win = max(gains) >= LEAST_GAIN and min(gains) >= LEAST_SCREENED
    return may_win and min(on_fewer, default=1.0) >= LEAST_SHARE


def _for_all_sizes(operation: str, medians: Medians, smaller: Sequence[Medians]) -> list[Choice]:
    """The algorithm that wins somewhere and loses nowhere, and the most on the whole."""
    best: tuple[float, str, float] = (0.0, "", 0.0)
    for algorithm, gains in medians.items():
        on_fewer = [gain for one in smaller for gain in one.get(algorithm, {0: 0.0}).values()]
        if _may_win(gains.values(), on_fewer):
            mean = geometric_mean(list(gains.values()))
            best = max(best, (mean, algorithm, max(gains.values())))
    return [Choice(operation, best[1], *ALL_SIZES, best[2])] if best[1] else []


def confirmed(library: str, cells: Sequence[AlgorithmCell]) -> list[Choice]:
    """What of the candidates surely wins: at each size where the library has a choice for it, else
    somewhere, and surely loses nowhere. The gain is the lower end of the interval, the least of a
    range; of a choice for all sizes the greatest."""
    found: list[Choice] = []
    for operation in dict.fromkeys(cell.operation for cell in cells if cell.algorithm):
        knob = knob_of(library, operation)
        if knob is not None:
            found += _confirmed(knob, [cell for cell in cells if cell.operation == operation])
    return found


def _confirmed(knob: Knob, cells: Sequence[AlgorithmCell]) -> list[Choice]:
    wins = {cell.bytes: (cell.algorithm, sure_gain(cell)) for cell in cells if is_won(cell)}
    if knob.sizes and not knob.covers:
        return joined(knob.operation, wins, [cell.bytes for cell in cells])
    if not wins or any(cell.wrong or cell.is_lost for cell in cells):
        return []
    if knob.covers:
        at = {cell.bytes: (cell.algorithm, sure_gain(cell)) for cell in cells}
        return _whole(knob.operation, at)
    algorithm, gain = max(wins.values(), key=lambda one: one[1])
    return [Choice(knob.operation, algorithm, *ALL_SIZES, gain)]


def worth_another_try(library: str, cells: Sequence[AlgorithmCell]) -> set[str]:
    """Operations of which a candidate surely wins somewhere, but loses elsewhere."""
    kept = {one.operation for one in confirmed(library, cells)}
    return {cell.operation for cell in cells if is_won(cell)} - kept


def without_losers(
    library: str, screened: Sequence[AlgorithmCell], cells: Sequence[AlgorithmCell]
) -> list[AlgorithmCell]:
    """What was screened, without what was tried and lost: at that size where each size has an
    algorithm of its own, else at all."""
    lost = [cell for cell in cells if cell.algorithm and (cell.wrong or cell.is_lost)]
    at_size = {(cell.operation, cell.algorithm, cell.bytes) for cell in lost}
    at_all = {
        (cell.operation, cell.algorithm)
        for cell in lost
        if not (knob := knob_of(library, cell.operation)) or not knob.sizes
    }
    return [
        cell
        for cell in screened
        if (cell.operation, cell.algorithm) not in at_all
        and (cell.operation, cell.algorithm, cell.bytes) not in at_size
    ]


def is_won(cell: AlgorithmCell) -> bool:
    return bool(cell.algorithm) and not cell.wrong and sure_gain(cell) > LEAST_GAIN


def sure_gain(cell: AlgorithmCell) -> float:
    """How many times as fast it surely is; 0 if there were too few launches."""
    return cell.gain.low if cell.gain.is_confident else 0.0


def taken(job: LibraryJob) -> list[Choice]:
    """What is taken of a job's candidates."""
    return confirmed(job.library, job.confirmed)


def algorithm_at(choices: Iterable[Choice], operation: str, size: int) -> str:
    """By what an operation goes at a size; "" where it is the library's own choice."""
    for one in choices:
        if one.operation == operation and (one.is_for_all_sizes or one.least <= size <= one.most):
            return one.algorithm
    return ""


def taken_in_all(jobs: Sequence[LibraryJob]) -> list[Choice]:
    """What is taken in each of some jobs of a library with as many ranks, the least gain of it."""
    found = taken(jobs[0])
    for job in jobs[1:]:
        found = [both for one in found for other in taken(job) if (both := _common(one, other))]
    kinds = {one: knob_of(jobs[0].library, one) for one in names_of(found)}
    whole = {one for one, knob in kinds.items() if knob is not None and knob.covers}
    torn = whole - {one for one in whole if covers([c for c in found if c.operation == one])}
    return [one for one in found if one.operation not in torn]


def _common(one: Choice, other: Choice) -> Choice | None:
    """The sizes at which both take an algorithm, if it is the same one."""
    least, most = max(one.least, other.least), min(one.most, other.most)
    is_same = (one.operation, one.algorithm) == (other.operation, other.algorithm)
    if not is_same or least > most or one.is_for_all_sizes != other.is_for_all_sizes:
        return None
    return replace(one, least=least, most=most, gain=min(one.gain, other.gain))


def _by_section(jobs: Iterable[LibraryJob]) -> Mapping[tuple[str, int], list[LibraryJob]]:
    """Jobs by library and number of ranks. Errors: HeadraceError if such are of two versions."""
    found: dict[tuple[str, int], list[LibraryJob]] = {}
    for job in jobs:
        found.setdefault((job.library, job.ranks), []).append(job)
    for of in found.values():
        versions = list(dict.fromkeys(one.version for one in of))
        if len(versions) > 1:
            raise HeadraceError(
                f"no table has algorithms of both {of[0].library} {' and '.join(versions)}",
                "a table is of one version of a library",
                "make one of each",
            )
    return found


def table_lines(jobs: Iterable[LibraryJob]) -> list[str]:
    """The sections of a table: by library and number of ranks, what is taken in all such jobs.
    Errors: HeadraceError if these are of several versions."""
    lines: list[str] = []
    for (library, ranks), of in _by_section(jobs).items():
        section = lines_of(library, ranks, Section(of[0].version, tuple(taken_in_all(of))))
        if section and not lines:
            lines += [
                "",
                "# The library's own algorithms, by numbers of ranks: `headrace run` sets them.",
            ]
        lines += ["", *section] if section else []
    return lines


def headrace_jobs(jobs: Iterable[LibraryJob]) -> list[Job]:
    """Headrace against the library with what was taken, as jobs of their own: Headrace is to carry
    out only what it does faster with and without."""
    names = [field.name for field in fields(Setup)]
    return [Job(**{name: getattr(job, name) for name in names}, cells=job.headrace) for job in jobs]
