"""Table `accesses`: files that the program used without MPI; and what came of all I/O."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from headrace.analysis.files import File, absolute
from headrace.record.tables import Record

LAYERS = ("posix", "stdio")
# Darshan's, each with its upper end: less than 101 bytes, and so on.
BINS = (
    "100 B",
    "1 KiB",
    "10 KiB",
    "100 KiB",
    "1 MiB",
    "4 MiB",
    "10 MiB",
    "100 MiB",
    "1 GiB",
    "more",
)

_SUMS = ("opens", "reads", "writes", "seeks", "syncs", "maps", "read", "written", "mapped")
_SUMS += ("read_time", "write_time", "other_time", "sequential_reads", "consecutive_reads")
_SUMS += ("sequential_writes", "consecutive_writes", "unaligned")
_GREATEST = ("block", "furthest_read", "furthest_written")
_READ_BINS = tuple(f"read_bin{i}" for i in range(len(BINS)))
_WRITE_BINS = tuple(f"write_bin{i}" for i in range(len(BINS)))


@dataclass
class Access:
    """One file at one layer, over all ranks. Times in ns, of all ranks together. What says where
    accesses lie (sequential_*, consecutive_*, unaligned, furthest_*) is of layer posix only. None:
    not measured, of a Darshan log. only_rank: see File."""

    name: str
    layer: str
    ranks: int = 0
    opens: int = 0
    reads: int = 0
    writes: int = 0
    seeks: int | None = 0
    syncs: int | None = 0
    maps: int | None = 0
    read: int = 0
    written: int = 0
    mapped: int | None = 0
    read_time: int | None = 0
    write_time: int | None = 0
    other_time: int | None = 0
    sequential_reads: int | None = 0
    consecutive_reads: int | None = 0
    sequential_writes: int | None = 0
    consecutive_writes: int | None = 0
    unaligned: int | None = 0
    block: int | None = 0
    furthest_read: int | None = 0
    furthest_written: int | None = 0
    read_bins: list[int] | None = field(default_factory=lambda: [0] * len(BINS))
    write_bins: list[int] | None = field(default_factory=lambda: [0] * len(BINS))
    only_rank: int | None = None

    @property
    def time(self) -> int | None:
        return known_sum((self.read_time, self.write_time, self.other_time))

    @property
    def calls(self) -> int:
        return self.reads + self.writes

    @property
    def sequential_share(self) -> float | None:
        """Of reads and writes, those that began where the last one ended or behind it."""
        if self.layer != "posix" or not self.calls:
            return None
        if self.sequential_reads is None or self.sequential_writes is None:
            return None
        return (self.sequential_reads + self.sequential_writes) / self.calls

    @property
    def aligned_share(self) -> float | None:
        if self.layer != "posix" or not self.calls or self.unaligned is None:
            return None
        return 1 - self.unaligned / self.calls


def known_sum(values: Iterable[int | None]) -> int | None:
    """Of those that are known; None if none is."""
    known = [one for one in values if one is not None]
    return sum(known) if known else None


def accesses(record: Record) -> list[Access]:
    """Those that took most time first."""
    found: dict[tuple[str, str], Access] = {}
    seen: set[tuple[str, str, int]] = set()
    columns = ("rank", "layer", *_SUMS, *_GREATEST, *_READ_BINS, *_WRITE_BINS)
    for node in record.nodes:
        names = node.texts_of("accesses", "file")
        for name, row in zip(names, node["accesses"].rows(*columns), strict=True):
            values = dict(zip(columns, row, strict=True))
            layer = LAYERS[values["layer"]]
            one = found.setdefault((name, layer), Access(name, layer))
            one.ranks += (name, layer, values["rank"]) not in seen
            seen.add((name, layer, values["rank"]))
            one.only_rank = values["rank"] if one.ranks == 1 else None
            _add(one, values)
    return sorted(found.values(), key=lambda one: (-one.time, one.name, one.layer))


def _add(one: Access, values: dict[str, int]) -> None:
    for column in _SUMS:
        setattr(one, column, getattr(one, column) + values[column])
    for column in _GREATEST:
        setattr(one, column, max(getattr(one, column), values[column]))
    for bins, names in ((one.read_bins, _READ_BINS), (one.write_bins, _WRITE_BINS)):
        for place, column in enumerate(names):
            bins[place] += values[column]


@dataclass
class UsedFile:
    """One file at all layers at which the program used it."""

    name: str
    mpi: File | None = None
    posix: Access | None = None
    stdio: Access | None = None

    @property
    def parts(self) -> list[File | Access]:
        """The outermost layer first."""
        return [one for one in (self.mpi, self.posix, self.stdio) if one is not None]

    @property
    def time(self) -> int | None:
        return known_sum(one.time for one in self.parts)

    @property
    def interface(self) -> str:
        """The outermost one by which the program used it."""
        return "MPI-IO" if self.mpi else "POSIX" if self.posix else "STDIO"


def used_files(
    files: Iterable[File], others: Iterable[Access], directory: str
) -> tuple[UsedFile, ...]:
    """Those that took most time first. `files` are different ones, whatever they are called.
    directory: in which the program was started."""
    found: dict[str, UsedFile] = {}
    for one in files:
        found.setdefault(absolute(one.name, directory), UsedFile(one.name)).mpi = one
    for other in others:
        used = found.setdefault(other.name, UsedFile(other.name))
        setattr(used, other.layer, other)
    return tuple(sorted(found.values(), key=lambda one: (-(one.time or 0), one.name)))


@dataclass(frozen=True)
class Flow:
    """Bytes of one direction, of all ranks together, from what the program asked for to what
    reached storage. None: not known."""

    mpi: int
    posix: int
    stdio: int
    store: int | None  # that Headrace moved for MPI-IO
    other: int  # on pipes, sockets and terminals
    system: int | None  # by system calls of the processes, whoever made them
    device: int | None

    @property
    def asked(self) -> int:
        return self.mpi + self.posix + self.stdio

    @property
    def seen(self) -> int:
        return (self.store or 0) + self.posix + self.stdio + self.other

    @property
    def seen_share(self) -> float | None:
        """What part of the system calls' bytes the record accounts for."""
        return min(1.0, self.seen / self.system) if self.system else None


@dataclass(frozen=True)
class Flows:
    """rings: of io_uring. mapped: bytes of files. What goes through either is not seen."""

    read: Flow
    written: Flow
    rings: int
    mapped: int


def flows(record: Record, files: Iterable[File], others: Iterable[Access]) -> Flows:
    files, others = list(files), list(others)
    sums = _of_ranks(record)

    def flow(what: str) -> Flow:
        stores = [getattr(one, f"store_{what}") for one in files]
        return Flow(
            mpi=sum(getattr(one, what) for one in files),
            posix=sum(getattr(one, what) for one in others if one.layer == "posix"),
            stdio=sum(getattr(one, what) for one in others if one.layer == "stdio"),
            store=None if None in stores else sum(stores),
            other=sums[f"other_{what}"] or 0,
            system=sums[f"system_{what}"],
            device=sums[f"device_{what}"],
        )

    mapped = sum(one.mapped for one in others)
    return Flows(flow("read"), flow("written"), sums["rings"] or 0, mapped)


_OF_RANKS = ("system_read", "system_written", "device_read", "device_written")
_OF_RANKS += ("other_read", "other_written", "rings")


def _of_ranks(record: Record) -> dict[str, int | None]:
    """None if it is not known of some rank. A version that did not measure it has zeros alone."""
    sums: dict[str, int | None] = dict.fromkeys(_OF_RANKS, 0)
    for node in record.nodes:
        for row in node["ranks"].rows(*_OF_RANKS):
            for name, value in zip(_OF_RANKS, row, strict=True):
                before = sums[name]
                sums[name] = None if value < 0 or before is None else before + value
    if not sums["system_read"] and not sums["system_written"]:
        for name in _OF_RANKS[:4]:
            sums[name] = None
    return sums
