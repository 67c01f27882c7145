"""The run as a whole: its ranks, where they ran, whether the record is complete."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from headrace.analysis.numbers import cores_of, ranges
from headrace.record.tables import Record

CAME_TO_THE_END = 1
STATES = {
    0: ("was running when the record was made", "were running when the record was made"),
    2: ("ended without MPI_Finalize",) * 2,
    3: ("called MPI_Abort",) * 2,
}
NO = ("0", "no", "false")
MOST_RANKS = 1 << 31
MOST_NAMED = 1000  # missing ranks
MOST_UNHEARD = 0.05  # of the run: what ranks did for longer than that must be known


@dataclass(frozen=True)
class Rank:
    """Times in ns, memory in bytes. run: without `off`, for which recording was off. unheard: after
    that nobody knows for so long what became of it; -1: nor for how long."""

    rank: int
    node: int
    host: str
    cores: str
    program: str
    state: int
    run: int
    init: int
    cpu_user: int
    cpu_system: int
    peak_memory: int
    recorder: int
    threads: int
    folded: int
    checks: int
    wrong: int
    off: int = 0
    mismatched: int = 0
    unsized: int = 0
    unheard: int = 0

    def mean_of_threads(self, time: int) -> int:
        """Of a time in MPI that the rank's threads took together: what can be compared with the
        run."""
        return time // max(1, self.threads)

    def surely_recorded(self, cpu_time: int) -> int:
        """How much of the process's CPU time went by while recording was on, at least: all of its
        threads may have worked while it was off, but on no more cores than the rank had."""
        if self.off == 0:
            return cpu_time
        cores = cores_of(self.cores)
        return max(0, cpu_time - self.off * len(cores)) if cores else 0


_NUMBERS = (
    *("rank", "state", "run", "init", "cpu_user", "cpu_system", "peak_memory", "recorder"),
    *("threads", "folded", "checks", "wrong", "off", "mismatched", "unsized"),
    "unheard",
)
_TEXTS = ("host", "cores", "program")


@dataclass(frozen=True)
class Run:
    """`count`: how many ranks the job had. nodes: None if unknown. `lacks`: why the record is not
    complete. elapsed: ns for which recording was on. ranks: none if the source tells nothing of
    single ones."""

    count: int
    nodes: int | None
    mpi: str
    command: str
    elapsed: int
    ranks: tuple[Rank, ...]
    lacks: tuple[str, ...]

    @cached_property
    def _of_rank(self) -> dict[int, Rank]:
        return {one.rank: one for one in self.ranks}

    def means(self, by_rank: Mapping[int, int]) -> dict[int, int]:
        """Rank.mean_of_threads of each rank's time. Nothing is known of the threads of a rank that
        is not in `ranks`: its time stays."""
        return {
            rank: self._of_rank[rank].mean_of_threads(time) if rank in self._of_rank else time
            for rank, time in by_rank.items()
        }

    @property
    def lasted(self) -> int:
        """ns from the end of MPI_Init to the begin of MPI_Finalize of the rank that took longest,
        whether recording was on or off."""
        return max((one.run + one.off for one in self.ranks), default=self.elapsed)

    @property
    def rank_time(self) -> int:
        """ns that all ranks together ran."""
        return sum(one.run for one in self.ranks) if self.ranks else self.count * self.elapsed

    @property
    def is_end_known(self) -> bool:
        """Whether it is known what the ranks did until the job ended, but for a little."""
        return all(0 <= one.unheard <= MOST_UNHEARD * one.run for one in self.ranks)

    @property
    def is_complete(self) -> bool:
        return not self.lacks


def run(record: Record) -> Run:
    ranks = _ranks(record)
    facts = record.facts
    count = _count(facts.get("ranks", ""), len(ranks))
    nodes = _count(facts.get("nodes", ""), len(record.nodes))
    return Run(
        count,
        nodes,
        facts.get("mpi", ""),
        facts.get("command", ""),
        max((one.run for one in ranks), default=0),
        ranks,
        tuple(_lacks(record, ranks, count)),
    )


def _ranks(record: Record) -> tuple[Rank, ...]:
    found = []
    for node in record.nodes:
        texts = zip(*(node.texts_of("ranks", name) for name in _TEXTS), strict=True)
        for words, numbers in zip(texts, node["ranks"].rows(*_NUMBERS), strict=True):
            values = dict(zip((*_TEXTS, *_NUMBERS), (*words, *numbers), strict=True))
            values["run"] = max(0, values["run"] - values["off"])
            found.append(Rank(node=node.number, **values))
    return tuple(sorted(found, key=lambda one: one.rank))


def _count(text: str, least: int) -> int:
    """A number that the record tells, if it can be true."""
    told = int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else 0
    return told if least <= told < MOST_RANKS else least


def _lacks(record: Record, ranks: tuple[Rank, ...], count: int) -> list[str]:
    lacks = []
    if not record.is_whole:
        lacks.append("the file is cut off")
    if len(ranks) < count:
        here = {one.rank for one in ranks}
        first = ranges(islice((rank for rank in range(count) if rank not in here), MOST_NAMED))
        more = ", ..." if count - len(ranks) > MOST_NAMED else ""
        gone = count - len(ranks)
        lacks.append(
            f"{gone:,} of {count:,} ranks {'is' if gone == 1 else 'are'} missing: {first}{more}"
        )
    if left_out := record.facts.get("left_out"):
        lacks.append(f"left out were {left_out}")
    states = Counter(one.state for one in ranks)
    for state, (of_one, of_many) in STATES.items():
        if states[state]:
            number = states[state]
            lacks.append(f"1 rank {of_one}" if number == 1 else f"{number:,} ranks {of_many}")
    if not lacks and record.facts.get("complete", "1").lower() in NO:
        lacks.append("it was made while parts were missing")
    return lacks
