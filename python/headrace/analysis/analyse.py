"""All that a report shows, from a record."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from headrace.analysis import files as of_files
from headrace.analysis.accesses import Access, Flows, UsedFile, accesses, flows, used_files
from headrace.analysis.calls import BINS, Sums, Totals, add_up
from headrace.analysis.costs import costs
from headrace.analysis.decisions import Decision, decisions, held_twice
from headrace.analysis.eager import NOT_TOLD, Eager, eager, limit_in_force
from headrace.analysis.files import Edge, File
from headrace.analysis.generated.verdict_texts import OUTSIDE_RUN
from headrace.analysis.heat_map import HeatMap, heat_map
from headrace.analysis.last_calls import LastCall, last_calls
from headrace.analysis.metrics import ABSENT, SAMPLED, Metrics, metrics
from headrace.analysis.numbers import Balance, Efficiency, balance, efficiency
from headrace.analysis.paths import Frame
from headrace.analysis.placement import Place, placement
from headrace.analysis.procedures import CLASSES, MATCHED
from headrace.analysis.regions import Region, regions
from headrace.analysis.run import Run, run
from headrace.analysis.settings import Setting, settings, variables
from headrace.analysis.shipped_collectives import uses_for
from headrace.analysis.targets import Target
from headrace.analysis.timeline import Timeline, timeline
from headrace.analysis.waiting import Wait, Waits, waiting
from headrace.record.merge import lost_calls
from headrace.record.tables import Record
from headrace.settings.reading import YES

MOST_SITES = 10
MOST_EDGES = 10
MOST_FRAMES = 64


@dataclass(frozen=True)
class Procedure:
    """Of all ranks. in_run: not those before and behind it. wait: None where ranks do not meet."""

    name: str
    in_run: bool
    sums: Sums
    balance: Balance
    wait: Wait | None


@dataclass(frozen=True)
class Site:
    """A procedure at one call path, its frames innermost first."""

    procedure: str
    frames: tuple[Frame, ...]
    sums: Sums
    balance: Balance


@dataclass(frozen=True)
class Class:
    name: str
    balance: Balance


@dataclass(frozen=True)
class Quality:
    """What is known of how good the numbers are; None: not measured. off: of the rank for which
    recording was off for longest. Of all ranks, mismatched: ends of regions, unsized: receives
    without bytes. held_twice: files whose data is at risk (analysis/decisions.py). python: its
    version, if lines of Python are not known."""

    folded: int | None = None
    checks: int | None = None
    wrong: int | None = None
    recorder: int | None = None
    missing: tuple[str, ...] = ()
    lost_calls: int | None = None
    off: int | None = None
    mismatched: int | None = None
    unsized: int | None = None
    held_twice: tuple[str, ...] = ()
    python: str = ""


@dataclass(frozen=True)
class RankTimes:
    """ns of each rank, from rank 0 on, or as the ranks of `run`. what: as in "time outside MPI"."""

    what: str
    times: tuple[int, ...]

    @property
    def average(self) -> float:
        return sum(self.times) / len(self.times) if self.times else 0.0


@dataclass(frozen=True)
class Source:
    """What the findings were made from. name: as in "the record tells". made_by: as in "MPICH 5".
    unmeasured: lists of the report of which it can tell nothing. absent: metrics that it lacks, and
    why. notes: what else there is to say of its quality. bins: names of the sizes of calls."""

    name: str
    made_by: str = ""
    unmeasured: frozenset[str] = frozenset()
    absent: Mapping[str, str] = field(default_factory=lambda: ABSENT)
    notes: tuple[str, ...] = ()
    bins: tuple[str, ...] = BINS


FILES_SETTING = "HEADRACE_RECORD_FILES"  # whether files without MPI are recorded
_NOT_MPI = "I/O that is not MPI's"


def _unseen(chosen: Iterable[Setting]) -> str:
    """What a record does not tell of I/O."""
    for one in chosen:
        if one.name == FILES_SETTING and one.value in YES:
            return "I/O through mapped files, io_uring and direct system calls"
        if one.name == FILES_SETTING:
            return f"{_NOT_MPI} ({FILES_SETTING}=1 switches that on)"
    return _NOT_MPI


def _of_record(chosen: Iterable[Setting], waits: Waits | None = None) -> Source:
    messages = (
        "point-to-point calls (HEADRACE_RECORD_MESSAGE_WAITS=1 switches that on, within a node), "
        if waits is None or waits.messages is None
        else ""
    )
    return Source(
        "record",
        notes=(
            f"not measured: {_unseen(chosen)}; waiting in {messages}nonblocking collective calls "
            "and calls on files",
        ),
    )


@dataclass(frozen=True)
class Findings:
    """`classes`: time in MPI by class, or in I/O. in_mpi, outside: None if not measured. Procedures
    and sites: costliest first. costs: of which procedures each cost is made. `files` are by MPI-IO,
    or as a Darshan log has them; `accesses` without MPI, `used_files` both. flows: None if not
    measured, as is heat_map. timeline: None if there is none. last_calls: of ranks that had not
    come to the end of their run. spots: where a cost that only
    samples show is spent, as texts."""

    run: Run
    classes: tuple[Class, ...]
    in_mpi: Balance | None
    outside: Balance | None
    rank_times: RankTimes
    efficiency: Efficiency | None
    waits: Waits
    procedures: tuple[Procedure, ...]
    sites: tuple[Site, ...]
    matrix: tuple[Edge, ...]
    heaviest: tuple[Edge, ...]
    regions: tuple[Region, ...]
    files: tuple[File, ...]
    accesses: tuple[Access, ...]
    used_files: tuple[UsedFile, ...]
    flows: Flows | None
    decisions: tuple[Decision, ...]
    placement: tuple[Place, ...]
    settings: tuple[Setting, ...]
    variables: tuple[Setting, ...]
    quality: Quality
    metrics: Metrics
    costs: dict[str, frozenset[str]]
    source: Source = field(default_factory=lambda: _of_record(()))
    targets: tuple[Target, ...] = ()
    heat_map: HeatMap | None = None
    eager: Eager = NOT_TOLD
    timeline: Timeline | None = None
    last_calls: tuple[LastCall, ...] = ()
    spots: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def paths(self) -> list[tuple[Frame, ...]]:
        """Whose frames a report shows."""
        return [one.frames for one in (*self.sites, *self.last_calls)]

    def share(self, time: float) -> float:
        """What part a time of all ranks together is of the ranks' time in the run."""
        whole = self.run.rank_time
        return time / whole if whole else 0.0


def analyse(record: Record, most_sites: int = MOST_SITES) -> Findings:
    """most_sites: how many call paths are kept, the costliest ones."""
    job = run(record)
    totals = add_up(record, MATCHED)
    waits = waiting(record, totals, job)
    in_mpi = [one.mean_of_threads(totals.in_run.get(one.rank, 0)) for one in job.ranks]
    outside = [max(0, one.run - time) for one, time in zip(job.ranks, in_mpi, strict=True)]
    size = len(job.ranks)
    edges = of_files.matrix(record)
    files = tuple(of_files.files(record))
    others = tuple(accesses(record))
    limits = eager(record.facts, job.nodes, totals.procedures)
    limit = limit_in_force(limits, job.nodes)
    chosen = settings(record)
    exchange = of_files.by_rank(record, "exchange")
    by_cost = costs(job, totals, exchange, limit and limit.bytes, uses_for(job, chosen))
    return Findings(
        run=job,
        classes=tuple(
            Class(CLASSES[kind], _balance(job, by_rank))
            for kind, by_rank in sorted(totals.classes.items())
        ),
        in_mpi=balance(in_mpi, size),
        outside=balance(outside, size),
        rank_times=RankTimes("outside MPI", tuple(outside)),
        efficiency=efficiency(outside, job.elapsed) if job.is_end_known else None,
        waits=waits,
        procedures=_procedures(totals, waits, job),
        sites=_sites(totals, job, most_sites),
        matrix=tuple(edges),
        heaviest=of_files.heaviest(edges, MOST_EDGES),
        regions=regions(record, totals, size),
        files=files,
        accesses=others,
        used_files=used_files(files, others, record.facts.get("directory", "")),
        flows=flows(record, files, others),
        decisions=tuple(decisions(record, totals.procedures)),
        placement=placement(job.ranks),
        settings=chosen,
        variables=variables(record),
        quality=Quality(
            sum(one.folded for one in job.ranks),
            sum(one.checks for one in job.ranks),
            sum(one.wrong for one in job.ranks),
            max((one.recorder for one in job.ranks), default=0),
            record.missing,
            lost_calls(record),
            max((one.off for one in job.ranks), default=0),
            sum(one.mismatched for one in job.ranks),
            sum(one.unsized for one in job.ranks),
            held_twice(record),
            record.facts.get("python_without_lines", ""),
        ),
        metrics=metrics(record, job, totals, waits, by_cost, files)
        | {"eager_limit_bytes": limit and limit.bytes},
        costs=dict.fromkeys((*SAMPLED, "uneven", "sends_above_eager"), frozenset())
        | {name: one.procedures for name, one in by_cost.items()},
        source=_of_record(chosen, waits),
        heat_map=heat_map(record, job.count),
        eager=limits,
        timeline=timeline(record),
        last_calls=last_calls(record, totals.paths, MOST_FRAMES),
    )


def _balance(job: Run, by_rank: Mapping[int, int]) -> Balance:
    """Of ranks' times in MPI: of several threads that call it, the mean counts."""
    return balance(job.means(by_rank).values(), len(job.ranks))


def _procedures(totals: Totals, waits: Waits, job: Run) -> tuple[Procedure, ...]:
    made = [
        Procedure(
            name,
            name not in OUTSIDE_RUN,
            sums,
            _balance(job, sums.by_rank),
            waits.procedures.get(name),
        )
        for name, sums in totals.procedures.items()
    ]
    return tuple(sorted(made, key=lambda one: (-one.sums.time, one.name)))


def _sites(totals: Totals, job: Run, most: int) -> tuple[Site, ...]:
    inside = [item for item in totals.sites.items() if item[0][0] not in OUTSIDE_RUN]
    costly = sorted(inside, key=lambda item: (-item[1].time, item[0]))
    return tuple(
        Site(
            name,
            totals.paths.frames(path, MOST_FRAMES),
            sums,
            _balance(job, sums.by_rank),
        )
        for (name, path), sums in costly[:most]
    )
