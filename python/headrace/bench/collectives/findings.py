"""What was measured of collective operations: times by job and cell, and their form on disk."""

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from headrace.bench.collectives.least_sent import least_sent
from headrace.bench.collectives.nodes import Nodes
from headrace.errors import HeadraceError
from headrace.statistics import Interval, median_interval, paired_ratio

FORMAT = "headrace bench collectives 1"
GUIDELINES_FORMAT = "headrace bench collectives guidelines 1"
LIBRARY_FORMAT = "headrace tune collectives library 1"
# As tables name them, by the names of --mpi.
LIBRARIES = {"mpich": "mpich", "intel": "intel", "openmpi": "openmpi", "abi": "mpich"}
# The kind of a library that tables have nothing of.
OTHER = "other"
# A loss: Headrace is surely slower than this share of the library's speed.
LEAST_SHARE = 0.97
Found = TypeVar("Found")
# Told without a size: no rank knows those of the others, and so all sizes go one way.
WITHOUT_SIZE = ("barrier", "gatherv", "scatterv", "alltoallv", "alltoallw")


def require_times(operation: str, *ways: list[float]) -> None:
    """Raises ValueError unless all ways have as many times, at least one."""
    times = [one for way in ways for one in way]
    sound = all(isinstance(one, float | int) and 0 < one < math.inf for one in times)
    if not sound or not times or len({len(way) for way in ways}) != 1:
        raise ValueError(f"the times of {operation} are not as many positive numbers of each way")


def require_counts(operation: str, batches: int, *counts: list[float]) -> None:
    """Raises ValueError unless each has a count of each batch, or none has any."""
    sound = all(
        isinstance(one, float | int) and 0 <= one < math.inf for way in counts for one in way
    )
    if not sound or {len(way) for way in counts} not in ({0}, {batches}):
        raise ValueError(f"what {operation} sends is not a count of each batch, plain and not")


def is_by_layer(taken: str) -> bool:
    """taken: as in Cell."""
    return bool(taken) and taken != "the MPI library"


@dataclass(frozen=True)
class Cell:
    """One operation with one size. bytes: of a rank's block (bcast, allreduce: of all the data).
    plain, headrace: seconds of a call, by batches that were made in turns. wrong: elements. taken:
    what carried it out with Headrace, "" if that is not known. plain_sent, plain_packets and the
    like: bytes and packets of all nodes in a call, by batch; empty where they were not counted.
    planned_messages: of all nodes in a call, by Headrace's plan; None where it does not say."""

    operation: str
    bytes: int
    calls: int
    wrong: int
    plain: list[float]
    headrace: list[float]
    taken: str = ""
    plain_sent: list[float] = field(default_factory=list, kw_only=True)
    headrace_sent: list[float] = field(default_factory=list, kw_only=True)
    plain_packets: list[float] = field(default_factory=list, kw_only=True)
    headrace_packets: list[float] = field(default_factory=list, kw_only=True)
    planned_messages: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        require_times(self.operation, self.plain, self.headrace)
        sent = (self.plain_sent, self.headrace_sent, self.plain_packets, self.headrace_packets)
        require_counts(self.operation, len(self.plain), *sent)
        messages = self.planned_messages
        if messages is not None and not (isinstance(messages, int) and messages >= 0):
            raise ValueError(f"'{messages}' is no number of messages")

    @property
    def speedup(self) -> Interval:
        """How many times as fast Headrace is: the paired ratios of batches."""
        return paired_ratio(self.plain, self.headrace)

    @property
    def is_lost(self) -> bool:
        return self.speedup.is_confident and self.speedup.high < LEAST_SHARE

    @property
    def by_layer(self) -> bool:
        return is_by_layer(self.taken)

    def microseconds(self) -> tuple[float, float]:
        """Medians of a call, plain and with Headrace."""
        return median_interval(self.plain).median * 1e6, median_interval(self.headrace).median * 1e6

    @property
    def is_counted(self) -> bool:
        return bool(self.plain_sent)

    @property
    def sent_ratio(self) -> Interval | None:
        """How many times as many bytes nodes send with Headrace: the paired ratios of batches.
        None where it was not counted, or nothing was sent."""
        if not self.is_counted or not all(self.plain_sent):
            return None
        return paired_ratio(self.headrace_sent, self.plain_sent)

    def sent(self) -> tuple[float, float]:
        """Medians of the bytes of a call, plain and with Headrace; it was counted."""
        return median(self.plain_sent), median(self.headrace_sent)

    def packets(self) -> tuple[float, float]:
        """Of its packets."""
        return median(self.plain_packets), median(self.headrace_packets)


@dataclass(frozen=True)
class Setup:
    """What was measured under. settings: those that make the comparison fair, or the line that
    started the ranks, for people. node_ranks: of the node that has most. node_sizes: ranks of each
    node, that of rank 0 first; empty where it is not known. crowded: they outnumber its cores."""

    mpi: str
    kind: str
    ranks: int
    nodes: int
    settings: str
    date: str
    node_ranks: int = field(default=0, kw_only=True)
    node_sizes: list[int] = field(default_factory=list, kw_only=True)
    crowded: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.kind not in (*LIBRARIES, OTHER):
            raise ValueError(f"'{self.kind}' is no kind of MPI")
        if not self.node_ranks:  # written before it was kept
            object.__setattr__(self, "node_ranks", -(-self.ranks // max(1, self.nodes)))
        if not 1 <= self.nodes <= self.ranks or not 1 <= self.node_ranks <= self.ranks:
            raise ValueError(f"{self.ranks} ranks on {self.nodes} nodes of {self.node_ranks}")
        sizes = self.node_sizes
        told = (self.nodes, self.ranks, self.node_ranks)
        if sizes and (len(sizes), sum(sizes), max(sizes)) != told:
            raise ValueError(f"{self.ranks} ranks on {self.nodes} nodes, which have {sizes}")

    @property
    def title(self) -> str:
        return f"{self.mpi}, {self.ranks} ranks" + (
            f" on {self.nodes} nodes" if self.nodes > 1 else ""
        )

    @property
    def has_even_nodes(self) -> bool:
        """Whether each node has as many ranks; of one node always."""
        return self.nodes * self.node_ranks == self.ranks

    @property
    def measured_on(self) -> Nodes:
        return Nodes(self.nodes, self.node_ranks, self.crowded)

    @property
    def line(self) -> str:
        return f"{self.mpi}, {self.ranks} ranks on {self.where}, {self.date}: {self.settings}"

    @property
    def where(self) -> str:
        """On which nodes the ranks were."""
        if self.nodes == 1:
            return "one node"
        at_most = "" if self.has_even_nodes else "at most "
        return f"{self.nodes} nodes of {at_most}{self.node_ranks}"

    def least_sent(self, operation: str, size: int) -> int | None:
        """The least bytes that nodes must send in a call; None where that cannot be told."""
        return least_sent(operation, size, self.node_sizes) if self.node_sizes else None


@dataclass(frozen=True)
class Job(Setup):
    """The cells of one MPI."""

    cells: list[Cell]


def losing_first(jobs: Iterable[Job]) -> list[tuple[Job, Cell]]:
    """All cells, the greatest loss first."""
    cells = [(job, cell) for job in jobs for cell in job.cells]
    return sorted(cells, key=lambda one: one[1].speedup.median)


def to_text(jobs: Iterable[Setup], form: str = FORMAT) -> str:
    return json.dumps({"format": form, "jobs": [asdict(job) for job in jobs]}, indent=1) + "\n"


def read_jobs(path: Path) -> list[Job]:
    """What an earlier run wrote with --json."""
    return read_document(path, FORMAT, _job)


def read_document(path: Path, form: str, job_of: Callable[[dict[str, Any]], Found]) -> list[Found]:
    """The jobs of a file of that format."""
    advice = "give a file that 'headrace bench collectives --json' wrote"
    try:
        document = json.loads(path.read_text())
        if document["format"] != form:
            if document["format"] == GUIDELINES_FORMAT:
                advice = "add --guidelines to 'headrace bench collectives', which shows it"
            elif form == GUIDELINES_FORMAT and document["format"] == FORMAT:
                advice = "leave out --guidelines"
            elif document["format"] == LIBRARY_FORMAT:
                advice = "give it to 'headrace tune collectives --library --from'"
            raise ValueError(f"its format is {document['format']!r}, not {form!r}")
        return [job_of(entry) for entry in document["jobs"]]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise HeadraceError(
            f"'{path}' cannot be read",
            str(error) or type(error).__name__,
            advice,
        ) from error


def _job(entry: dict[str, Any]) -> Job:
    return Job(**{**entry, "cells": [Cell(**cell) for cell in entry["cells"]]})
