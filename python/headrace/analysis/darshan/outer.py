"""What the program itself did with its files: by MPI-IO where a file was opened by it, else by
POSIX, and by STDIO. Time below MPI-IO is a part of MPI-IO's, and is not counted again."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from headrace.darshan.counters import EVERYBODY
from headrace.darshan.log import Extreme, Log, Use

READ, WRITE, META = "read", "write", "meta"
KINDS = (READ, WRITE, META)
_TIME = {READ: "F_READ_TIME", WRITE: "F_WRITE_TIME", META: "F_META_TIME"}
_SPANS = {READ: ("READ",), WRITE: ("WRITE",), META: ("OPEN", "CLOSE")}
_BYTES = {READ: "BYTES_READ", WRITE: "BYTES_WRITTEN"}
_CALLS = {
    READ: ("READS", "INDEP_READS", "COLL_READS", "SPLIT_READS", "NB_READS"),
    WRITE: ("WRITES", "INDEP_WRITES", "COLL_WRITES", "SPLIT_WRITES", "NB_WRITES"),
    META: ("OPENS", "FDOPENS", "INDEP_OPENS", "COLL_OPENS"),
}
_TOGETHER = {READ: ("COLL_READS", "SPLIT_READS"), WRITE: ("COLL_WRITES", "SPLIT_WRITES"), META: ()}


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of work of a use. time: ns; None if not known. calls, together: None likewise;
    together: collective ones. span: the time in which all of it lies."""

    time: int | None
    calls: int | None
    together: int | None
    bytes: int
    span: tuple[int, int] | None


def part(use: Use, kind: str) -> Part:
    spans = [span for name in _SPANS[kind] if (span := use.span(name))]
    complete = len(spans) == len(_SPANS[kind])
    return Part(
        use.times.get(_TIME[kind]),
        use.count(*_CALLS[kind]),
        use.count(*_TOGETHER[kind]),
        use.counters.get(_BYTES.get(kind, ""), 0),
        (min(one[0] for one in spans), max(one[1] for one in spans)) if complete else None,
    )


def time(use: Use) -> int | None:
    """All that is known of it; None if nothing is."""
    known = [one for name in _TIME.values() if (one := use.times.get(name)) is not None]
    return sum(known) if known else None


def extremes(use: Use) -> list[Extreme]:
    """The fastest and the slowest rank of a shared file, if the log tells of two that differ."""
    if use.rank != EVERYBODY:
        return []
    fast, slow = use.extreme("FASTEST"), use.extreme("SLOWEST")
    if fast is None or slow is None or fast.rank == slow.rank or fast.time > slow.time:
        return []
    return [fast, slow]


@dataclass(frozen=True)
class OneFile:
    """uses: of the program itself. below: by POSIX for MPI-IO; None if that is not known in full,
    or if the file was not opened by MPI-IO."""

    name: str
    uses: tuple[Use, ...]
    below: tuple[Use, ...] | None


def by_file(log: Log) -> list[OneFile]:
    """STDIO's part of a file is one of its own, since libc's calls are not seen as POSIX."""
    found: dict[str, dict[str, list[Use]]] = defaultdict(lambda: defaultdict(list))
    for use in log.uses:
        found[use.file][use.interface].append(use)
    whole = not {"MPI-IO", "POSIX"} & log.in_part
    made = []
    for name, parts in found.items():
        collective, plain = parts.get("MPI-IO"), parts.get("POSIX")
        if collective:
            made.append(OneFile(name, tuple(collective), tuple(plain) if plain and whole else None))
        elif plain:
            made.append(OneFile(name, tuple(plain), None))
        if "STDIO" in parts:
            made.append(OneFile(name, tuple(parts["STDIO"]), None))
    return made


def union(spans: Iterable[tuple[int, int]]) -> int:
    """ns that lie in one of them at least."""
    covered, end = 0, 0
    for start, stop in sorted(spans):
        covered += max(0, stop - max(start, end))
        end = max(end, stop)
    return covered


def is_stream(name: str) -> bool:
    """<STDIN>, <STDOUT>, <STDERR>, as Darshan calls them."""
    return name.startswith("<STD") and name.endswith(">")


def ranks_of(log: Log, uses: Iterable[Use]) -> int:
    """How many ranks they are of."""
    ranks = {use.rank for use in uses}
    return log.ranks if EVERYBODY in ranks else len(ranks)


def only_rank(uses: Iterable[Use]) -> int | None:
    """The one that used the file; None if several did."""
    ranks = {use.rank for use in uses}
    only = ranks.pop() if len(ranks) == 1 else EVERYBODY
    return None if only == EVERYBODY else only
