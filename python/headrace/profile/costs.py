"""Costs that only samples show, for rules: what each rank spent in one matter, and what the run
would gain at most without it. docs/advice.md#rules-on-the-profile has what each number means.

A rank's time in a matter is that of its thread with most of it, since threads work side by side.
The run gains no more than analysis/costs.py says, nor than the rank with most spends in it. Samples
count CPU time. Where a rank had no core for a part of its time, since others worked there or it
slept, the matter takes longer than that: the upper ends of bounds give it as much of this part as
it has of the CPU time, the lower ends nothing."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from headrace.analysis.calls import Totals, add_up
from headrace.analysis.costs import Costing
from headrace.analysis.metrics import NS, PROFILE_COSTS, Metrics
from headrace.analysis.numbers import cores_of
from headrace.analysis.procedures import MATCHED
from headrace.analysis.run import Rank, Run
from headrace.profile import categories
from headrace.profile.loopmark import ListedLine, Listing
from headrace.profile.profile import Profile
from headrace.profile.samples import Samples
from headrace.profile.stacks import Place
from headrace.record.tables import Record

MOST_SPOTS = 3
PERF = 0  # Thread.source
_BY_CATEGORY = {
    categories.ALLOCATION: "allocation",
    categories.LOCKS: "locks",
    categories.LIBM: "libm",
    categories.REFERENCE_BLAS: "reference_blas",
    categories.PYTHON: "python",
}


@dataclass(frozen=True)
class ProfileCosts:
    """metrics: by name, None what is not known. spots: by cost, where it is, most time first."""

    metrics: Metrics
    spots: Mapping[str, tuple[str, ...]]


@dataclass
class _Matter:
    """by_thread: ns by rank and thread. by_spot: ns by what is shown of the place."""

    by_thread: dict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    by_spot: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, rank: int, thread: int, time: int, spot: str) -> None:
        self.by_thread[rank, thread] += time
        self.by_spot[spot] += time

    def by_rank(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for (rank, _), time in self.by_thread.items():
            found[rank] = max(found.get(rank, 0), time)
        return found


def costs(
    record: Record,
    run: Run,
    samples: Samples,
    sampled: Profile,
    stacks: Mapping[int, tuple[Place, ...]],
    optimised: Mapping[int, bool],
    listing: Listing | None,
) -> ProfileCosts:
    """optimised: of paths whose innermost code's debugging information tells. listing: None without
    remarks of compilers."""
    totals = add_up(record, MATCHED)
    costing = Costing(run, totals)
    listed = listing.by_place() if listing is not None else {}
    told = {path: _told(stack, listed) for path, stack in stacks.items()}
    matters = _matters(samples, stacks, optimised, told)
    uneven = _uneven(samples, told, run)
    found: dict[str, dict[int, int] | None] = {
        name: matter.by_rank() for name, matter in matters.items()
    }
    spots = {name: _spots(matter.by_spot, sampled) for name, matter in matters.items()}
    if not optimised:
        found["unoptimised"] = None
    if not any(one.remarks for one in listed.values()):
        found["unvectorised"] = None
    found["kernel"] = _kernel(run, totals, sampled, matters["mpi"].by_rank())
    work = matters["elsewhere"].by_rank()
    stretch = _stretch(run, totals, sampled, work, found["kernel"])
    busy, cores = _threads(run, sampled)
    found["one_thread"] = _one_thread(work, cores)
    spots["one_thread"], spots["kernel"] = (), ()
    spots["uneven"] = uneven.spots
    metrics: Metrics = dict.fromkeys(PROFILE_COSTS)
    for name in ("unoptimised", "unvectorised", *_BY_CATEGORY.values(), "kernel", "one_thread"):
        by_rank = found[name]
        if by_rank is not None:
            metrics |= _metrics(name, run, by_rank, costing, stretch)
    metrics |= _metrics_of_waiting(run, totals, matters["mpi"].by_rank(), costing)
    metrics |= uneven.metrics
    metrics["uneven_bound_upper_seconds"] = uneven.stretched(stretch) / NS
    metrics["busy_threads_ratio"] = busy
    metrics["cores_per_rank_ratio"] = min(cores.values(), default=None) if cores else None
    spots["mpi_cpu"] = spots.pop("mpi")
    spots.pop("elsewhere")
    return ProfileCosts(metrics, spots)


def _matters(
    samples: Samples,
    stacks: Mapping[int, tuple[Place, ...]],
    optimised: Mapping[int, bool],
    told: Mapping[int, "_Told"],
) -> dict[str, _Matter]:
    """With all that is not in the MPI library as "elsewhere"."""
    names = ("unoptimised", "unvectorised", *_BY_CATEGORY.values(), "mpi", "elsewhere")
    found = {name: _Matter() for name in names}
    for row in samples.rows:
        one, stack = told[row.path], stacks[row.path]
        spots: dict[str, str] = {}
        if one.kind == categories.MPI:
            spots = {"mpi": one.function} if categories.is_waiting(stack) else {}
        else:
            spots["elsewhere"] = one.function
            if one.kind in _BY_CATEGORY:
                spots[_BY_CATEGORY[one.kind]] = one.function
            if optimised.get(row.path) is False:
                spots["unoptimised"] = stack[0].function
            if one.no_vector:
                spots["unvectorised"] = one.no_vector
        for name, spot in spots.items():
            found[name].add(row.rank, row.thread, row.time, spot)
    return found


class _Told(NamedTuple):
    """Of a path: its category, the function that has it, and where and why its loop was not
    vectorised."""

    kind: str
    function: str
    no_vector: str


def _told(stack: tuple[Place, ...], lines: Mapping[tuple[str, int], ListedLine]) -> _Told:
    kind = categories.category(stack)
    if kind == categories.MPI:
        outer = [one for one in stack if categories.is_mpi(one)][-1]
        return _Told(kind, outer.function, "")
    inner = stack[0]
    listed = lines.get((inner.file, inner.line))
    if listed is None or listed.is_vectorised is not False:
        return _Told(kind, categories.caller(stack).function, "")
    name = inner.file.rpartition("/")[2]
    why = f": {listed.no_vector}" if listed.no_vector else ""
    return _Told(kind, inner.function, f"{inner.function} ({name}:{inner.line}){why}")


def _spots(by_spot: Mapping[str, int], sampled: Profile) -> tuple[str, ...]:
    costliest = sorted(by_spot.items(), key=lambda item: (-item[1], item[0]))[:MOST_SPOTS]
    return tuple(f"{spot}, {sampled.share(time):.1%} of the samples" for spot, time in costliest)


def _stretch(
    run: Run,
    totals: Totals,
    sampled: Profile,
    elsewhere: Mapping[int, int],
    kernel: Mapping[int, int],
) -> dict[int, float]:
    """Of each rank: how much longer it was outside MPI than its busiest thread worked there, as far
    as it surely had no core meanwhile."""
    threads: dict[int, list[int]] = defaultdict(list)
    for one in sampled.threads:
        threads[one.rank].append(one.cpu)
    found = {}
    for one in run.ranks:
        own = threads[one.rank]
        whole = one.cpu_user + one.cpu_system - one.init
        # Threads' own clocks stand still while recording is off.
        worked = max(own, default=0) if len(own) > 1 or one.off else whole
        outside = one.run - one.mean_of_threads(totals.in_run.get(one.rank, 0))
        there = elsewhere.get(one.rank, 0) + kernel.get(one.rank, 0)
        off = max(0, min(one.run - worked, outside - there))
        found[one.rank] = 1 + off / there if there else 1.0
    return found


def _metrics(
    name: str,
    run: Run,
    by_rank: Mapping[int, int],
    costing: Costing,
    stretch: Mapping[int, float],
) -> Metrics:
    lower = costing.bound(by_rank, {}).lower
    longest = {rank: int(time * stretch.get(rank, 1.0)) for rank, time in by_rank.items()}
    upper = min(costing.bound(longest, {}).upper, max(longest.values(), default=0))
    return _spent(name, run, by_rank) | _bound(name, by_rank, lower, upper)


def _metrics_of_waiting(
    run: Run, totals: Totals, by_rank: Mapping[int, int], costing: Costing
) -> Metrics:
    """Of CPU time in calls in which ranks wait: it is not counted twice."""
    bound = costing.bound({}, {})
    in_mpi = max(
        (one.mean_of_threads(totals.in_run.get(one.rank, 0)) for one in run.ranks), default=0
    )
    upper = min(bound.upper, max(in_mpi, max(by_rank.values(), default=0)))
    return _spent("mpi_cpu", run, by_rank) | _bound("mpi_cpu", by_rank, bound.lower, upper)


def _spent(name: str, run: Run, by_rank: Mapping[int, int]) -> Metrics:
    total = sum(by_rank.values())
    return {
        f"{name}_seconds": total / NS / max(1, len(run.ranks)),
        f"{name}_greatest_seconds": max(by_rank.values(), default=0) / NS,
        f"{name}_share": total / run.rank_time if run.rank_time else None,
    }


def _bound(name: str, by_rank: Mapping[int, int], lower: int, upper: int) -> Metrics:
    greatest = max(by_rank.values(), default=0)
    return {
        f"{name}_bound_lower_seconds": min(lower, greatest, upper) / NS,
        f"{name}_bound_upper_seconds": upper / NS,
    }


@dataclass(frozen=True)
class _Uneven:
    """ranks: ns of each that has the function. excess: ns of the one with most, above the mean."""

    metrics: Metrics
    spots: tuple[str, ...]
    ranks: Mapping[int, int]
    excess: float

    def stretched(self, stretch: Mapping[int, float]) -> float:
        """What the excess may take where ranks had no core for a part of their time."""
        longest = max(self.ranks, key=lambda rank: self.ranks[rank], default=0)
        return self.excess * stretch.get(longest, 1.0)


def _uneven(samples: Samples, told: Mapping[int, _Told], run: Run) -> _Uneven:
    """The function whose greatest rank lies furthest above the average."""
    count = max(1, len(run.ranks))
    matters: dict[str, _Matter] = defaultdict(_Matter)
    for row in samples.rows:
        one = told[row.path]
        if one.kind not in (categories.MPI, categories.LAYER):
            matters[one.function].add(row.rank, row.thread, row.time, "")
    best, function, ranks = 0.0, "", {}
    for name, matter in matters.items():
        by_rank = matter.by_rank()
        excess = max(by_rank.values()) - sum(by_rank.values()) / count
        if excess > best:
            best, function, ranks = excess, name, by_rank
    greatest = max(ranks.values(), default=0)
    metrics: Metrics = {
        "uneven_seconds": best / NS,
        "uneven_average_seconds": (greatest - best) / NS,
        "uneven_greatest_seconds": greatest / NS,
        "uneven_share": best / greatest if greatest else 0.0,
    }
    longest = sorted(ranks, key=lambda rank: (-ranks[rank], rank))[:MOST_SPOTS]
    text = ", ".join(f"rank {rank} {ranks[rank] / NS:,.2f} s" for rank in longest)
    return _Uneven(metrics, (f"{function}: {text}",) if function else (), ranks, best)


def _kernel(
    run: Run, totals: Totals, sampled: Profile, in_mpi: Mapping[int, int]
) -> dict[int, int]:
    """Time in the system that surely is neither MPI's nor that of the start, nor went by while
    recording was off. Of it, perf_event sees nothing, so it is what the threads worked beyond their
    samples; timers see it, so it lies in their samples outside MPI."""
    seen: dict[int, int] = defaultdict(int)
    for one in sampled.threads:
        seen[one.rank] += max(0, one.cpu - one.time) if one.source == PERF else one.time
    by_timer = {one.rank for one in sampled.threads if one.source != PERF}
    found = {}
    for one in run.ranks:
        calls = one.mean_of_threads(totals.in_run.get(one.rank, 0))
        own = one.surely_recorded(one.cpu_system) - calls - one.init
        most = seen[one.rank] - (in_mpi.get(one.rank, 0) if one.rank in by_timer else 0)
        found[one.rank] = max(0, min(own, most))
    return found


def _threads(run: Run, sampled: Profile) -> tuple[float | None, dict[int, float]]:
    """How many threads of a rank are busy, on average; and the cores that each rank may use."""
    by_rank: dict[int, list[int]] = defaultdict(list)
    for one in sampled.threads:
        by_rank[one.rank].append(one.cpu)
    busy = [sum(cpu) / max(cpu) for cpu in by_rank.values() if max(cpu) > 0]
    average = sum(busy) / len(busy) if busy else None
    return average, _cores(run.ranks)


def _cores(ranks: Iterable[Rank]) -> dict[int, float]:
    """Of each rank: those to which it is bound, or its part of the node's. Empty if unknown."""
    by_node: dict[int, dict[int, set[int]]] = defaultdict(dict)
    for one in ranks:
        mask = cores_of(one.cores)
        if mask is None:
            return {}
        by_node[one.node][one.rank] = mask
    found = {}
    for masks in by_node.values():
        part = len(set().union(*masks.values())) / len(masks)
        found.update({rank: min(float(len(mask)), part) for rank, mask in masks.items()})
    return found


def _one_thread(work: Mapping[int, int], cores: Mapping[int, float]) -> dict[int, int] | None:
    """What a rank would gain if its work were shared among its cores."""
    if not cores:
        return None
    return {
        rank: int(time * (1 - 1 / max(1.0, cores.get(rank, 1.0)))) for rank, time in work.items()
    }
