"""The jobs that are compared, and how each way of doing them is told to its program."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from headrace.bench.flags import in_whole_pieces, own_sizes
from headrace.errors import HeadraceError

PLAIN = "plain"
HEADRACE = "headrace"
POSIX = "posix"
LIMIT = "limit"
SEED_SEGMENTS = 3220
SIGNATURE = 1234567
RUN_SECONDS = 300

# Accesses that are counted by the second, not by their bytes: files opened and closed again, which
# are made by it or are there. They are what these accesses of a program tell.
OPENINGS = {"create": "write", "open": "read"}


@dataclass(frozen=True)
class Way:
    """One way to do a job. label: for people; flags: the program's; preload: with Headrace;
    variables: of the ranks' environment; kinds: the MPIs it is for, empty: any."""

    key: str
    label: str
    flags: tuple[str, ...] = ()
    preload: bool = False
    variables: tuple[tuple[str, str], ...] = ()
    kinds: tuple[str, ...] = ()

    @property
    def is_limit(self) -> bool:
        """Whether it is what the machine can do, and not another way to do the job."""
        return self.key == LIMIT


@dataclass(frozen=True)
class Job:
    """A job: its program, ranks, flags and ways. `line` shows it to people.

    largest_file: bytes of the file it makes, 0 where the flags given make it unknown before the
    first run.
    file_for_each_rank: IOR's -F; largest_file is that of all together.
    seconds: after which a run of it counts as hanging.
    is_steady: each rank has a core of its own, where there are enough, and of the repetitions in a
    run the fastest counts, not their mean: other work on the machine only adds time.
    """

    key: str
    title: str
    line: str
    program: str
    ranks: int
    flags: tuple[str, ...]
    ways: tuple[Way, ...]
    accesses: tuple[str, ...]
    largest_file: int = 0
    file_for_each_rank: bool = False
    is_steady: bool = False
    seconds: int = RUN_SECONDS

    def files(self, file: Path) -> list[Path]:
        """What it makes where `file` is the name given."""
        if not self.file_for_each_rank:
            return [file]
        return [file.with_name(f"{file.name}.{rank:08}") for rank in range(self.ranks)]

    def under(self, kind: str) -> "Job":
        """The same with the ways that the MPI `kind` has."""
        ways = tuple(way for way in self.ways if not way.kinds or kind in way.kinds)
        return replace(self, ways=ways)

    def with_ways(self, *more: Way) -> "Job":
        """The same with more ways, before Headrace's."""
        return replace(self, ways=(*self.ways[:-1], *more, self.ways[-1]))

    def with_requests(self, requests: Mapping[str, int]) -> "Job":
        """The same with the limit's requests set, in bytes by access."""
        names = {"write": "--request", "read": "--readRequest"}
        flags = [word for key, size in requests.items() for word in (names[key], str(size))]
        ways = (
            replace(way, flags=(*way.flags, *flags)) if way.is_limit else way for way in self.ways
        )
        return replace(self, ways=tuple(ways))

    def with_computing(self, seconds: Mapping[str, float]) -> "Job":
        """The same with what is computed beside a transfer, by access: as much in all ways."""
        names = {"write": "--compute", "read": "--readCompute"}
        flags = tuple(word for key, one in seconds.items() for word in (names[key], f"{one:.4g}"))
        return replace(self, flags=(*self.flags, *flags), line=" ".join((self.line, *flags)))

    def steady(self, count: int) -> "Job":
        """The same so many times in each run, for machines that do other work, too."""
        return replace(self, flags=(*self.flags, "-i", str(count)), is_steady=True)

    def arguments(self, way: Way, file: Path, summary: Path, keep: bool) -> list[str]:
        """The program's arguments to do it once."""
        report = (
            ["-O", "summaryFormat=JSON", "-O", f"summaryFile={summary}"]
            if self.program == "ior"
            else ["--json", str(summary)]
        )
        return [*self.told(way), "-o", str(file), *report, *(["-k"] if keep else [])]

    def told(self, way: Way) -> tuple[str, ...]:
        """The flags of one way. Its own come last, as the last one counts: it stays what it is."""
        return (*self.flags, *way.flags)


@dataclass
class Measurement:
    """What one run of a program found: by access ("write", "read") MiB/s and the file's hints; of
    OPENINGS, how many in a second.

    calls: by access, seconds of the first of several calls and of the median later one.
    requests: by access, bytes of the limit's requests that were fastest.
    computing: by access, seconds of what was computed beside the transfer, their median.
    wrong: bytes that were not as written; overwritten: bytes of others that changed; is_checked:
    whether the program compared them, which a flag may switch off.
    """

    bandwidth: dict[str, float] = field(default_factory=dict)
    hints: dict[str, dict[str, str]] = field(default_factory=dict)
    calls: dict[str, tuple[float, float]] = field(default_factory=dict)
    requests: dict[str, int] = field(default_factory=dict)
    computing: dict[str, float] = field(default_factory=dict)
    wrong: int = 0
    overwritten: int = 0
    is_checked: bool = True

    @property
    def is_right(self) -> bool:
        return self.wrong == 0 and self.overwritten == 0


# An array is given by its extents, or by pieces of which each rank has so many bytes.
_BY_EXTENTS = ("--dims", "--grid", "--element")
_ARRAY_EXCLUDES = {"--piece": _BY_EXTENTS, "--size": _BY_EXTENTS}


def _kernel_ways(*between: Way) -> tuple[Way, ...]:
    """Plain MPI, then `between`, then Headrace."""
    collective = ("--way", "mpiio")
    return (
        Way(PLAIN, "plain MPI", collective),
        *between,
        Way(HEADRACE, "Headrace", collective, preload=True),
    )


BY_POSIX = Way(POSIX, "POSIX", ("--way", "posix"))
_BY_RANK0 = Way("rank0", "through rank 0", ("--way", "rank0"))
# The same ranks move as many bytes contiguously: what a way of doing the job is a share of.
THE_LIMIT = Way(LIMIT, "limit", ("--way", "contiguous"))


def ior_ways(*mpi: str) -> tuple[Way, ...]:
    """MPI-IO with the flags `mpi`, and POSIX without -e, as MPI-IO does not sync either."""
    flags = ("-a", "MPIIO", *mpi)
    return (
        Way(PLAIN, "plain MPI", flags),
        Way(POSIX, "POSIX", ("-a", "POSIX")),
        Way(HEADRACE, "Headrace", flags, preload=True),
    )


def ior_job(
    ranks: int, extra: Sequence[str] = (), segments: int = SEED_SEGMENTS, block: int = 100_000
) -> Job:
    """The seeds' IOR job: one collective call for each 10,000 bytes. Each file is read back by
    the neighbour and every byte checked."""
    sizes = {"-s": str(segments), "-b": str(block), "-t": "10000"}
    size = own_sizes(sizes, extra)
    common = ("-w", "-r", "-R", "-C", "-g", "-G", str(SIGNATURE), *size, *extra)
    return Job(
        "ior",
        "IOR, many small collective calls",
        " ".join(["ior -a MPIIO -w -r -c -C -g", *size, *extra]),
        "ior",
        ranks,
        common,
        ior_ways("-c"),
        ("write", "read"),
        0 if extra else segments * block * ranks,
    )


def lattice_job(
    ranks: int, extra: Sequence[str] = (), dims: tuple[int, int, int, int] = (32, 16, 16, 32)
) -> Job:
    """A lattice-QCD field, one collective call through a hindexed view, beside rank 0 alone."""
    size = own_sizes({"--dims": ",".join(map(str, dims))}, extra)
    volume = dims[0] * dims[1] * dims[2] * dims[3]
    return Job(
        "lattice",
        "4-D lattice field, one hindexed view",
        " ".join(["lattice", *size, "-w", "-r", *extra]),
        "lattice",
        ranks,
        ("-w", "-r", *size, *extra),
        _kernel_ways(_BY_RANK0),
        ("write", "read"),
        0 if extra else volume * 576,
    )


def strided_job(ranks: int, extra: Sequence[str] = ()) -> Job:
    """512-byte blocks, one in 4096 bytes, into a 128 MiB file that holds others' data."""
    size = own_sizes({"-b": "512", "--stride": "4096", "--size": "128m"}, extra)
    return Job(
        "strided",
        "strided collective write into a filled file",
        " ".join(["strided", *size, *extra]),
        "strided",
        ranks,
        ("-w", *size, *extra),
        _kernel_ways(BY_POSIX),
        ("write",),
        0 if extra else 128 << 20,
    )


def overlap_job(ranks: int, extra: Sequence[str] = ()) -> Job:
    """Nonblocking transfers of 64 MiB a rank beside computing, which takes all ways as long as
    plain MPI's transfer took in the first round; bandwidths are those of both together."""
    size = own_sizes({"--size": "64m"}, extra)
    return Job(
        "overlap",
        "nonblocking transfers while the program computes",
        " ".join(["overlap -w -r", *size, *extra]),
        "overlap",
        ranks,
        ("-w", "-r", *size, "-i", "3", *extra),
        (
            Way(PLAIN, "plain MPI"),
            Way(HEADRACE, "Headrace", preload=True),
        ),
        ("write", "read"),
        0 if extra else ranks * (64 << 20),
    )


def kernel_job(
    key: str,
    title: str,
    ranks: int,
    extra: Sequence[str],
    sizes: dict[str, str],
    largest_file: int,
    *between: Way,
) -> Job:
    """A kernel that is written and read; `extra` replaces those of `sizes` that it names, and the
    array where it gives another one."""
    size = own_sizes(in_whole_pieces(sizes, extra), extra, _ARRAY_EXCLUDES)
    return Job(
        key,
        title,
        " ".join([key, *size, "-w", "-r", *extra]),
        key,
        ranks,
        ("-w", "-r", *size, *extra),
        _kernel_ways(*between),
        ("write", "read"),
        0 if extra else largest_file,
    )


def tile_job(ranks: int, extra: Sequence[str] = ()) -> Job:
    """Pieces of 1,000 bytes, ranks in turn, 32 MB a rank, in one collective call."""
    sizes = {"--piece": "1000", "--size": "32000000"}
    title = "subarrays, one collective call"
    ways = (BY_POSIX, THE_LIMIT)
    return kernel_job("tile", title, ranks, extra, sizes, ranks * 32_000_000, *ways)


def irregular_job(ranks: int, extra: Sequence[str] = ()) -> Job:
    """200,000 pieces a rank of 50 to 150 bytes at random places, in one collective call."""
    sizes = {"--pieces": "200000", "--mean": "100"}
    title = "random disjoint pieces, one hindexed view"
    ways = (BY_POSIX, THE_LIMIT)
    return kernel_job("irregular", title, ranks, extra, sizes, ranks * 30_000_000, *ways)


def checkpoint_job(ranks: int, extra: Sequence[str] = ()) -> Job:
    """A loop of 1,000 collective calls of one shape, each of pieces of 1,000 bytes."""
    sizes = {"--piece": "1000", "--size": "50000", "--steps": "250", "--variables": "4"}
    title = "time-step loop of 4 variables"
    ways = (BY_POSIX, THE_LIMIT)
    return kernel_job("checkpoint", title, ranks, extra, sizes, ranks * 50_000_000, *ways)


def _lattice_with_limit(ranks: int, extra: Sequence[str] = ()) -> Job:
    return lattice_job(ranks, extra).with_ways(THE_LIMIT)


JOBS = {
    "checkpoint": checkpoint_job,
    "ior": ior_job,
    "irregular": irregular_job,
    "lattice": _lattice_with_limit,
    "overlap": overlap_job,
    "strided": strided_job,
    "tile": tile_job,
}


def read_measurement(job: Job, summary: Path) -> Measurement:
    """Reads what the program wrote; bandwidths of repetitions are averaged over their times, unless
    the job is steady."""
    try:
        document = json.loads(summary.read_text())
    except (OSError, ValueError) as error:
        raise HeadraceError(
            f"the results of {job.program} in '{summary}' cannot be read",
            str(error),
            "run it by hand with 'headrace bench'",
        ) from error
    test = document["tests"][0] if job.program == "ior" else document
    result = Measurement(
        wrong=test.get("wrongBytes", 0),
        overwritten=test.get("overwrittenBytes", 0),
        is_checked=_is_checked(test),
    )
    rows = test.get("Results", test.get("results", []))
    for access in job.accesses:
        matching = [row for row in rows if row["access"] == OPENINGS.get(access, access)]
        if not matching:
            continue
        rates = [_rate(access, [row]) for row in matching]
        result.bandwidth[access] = max(rates) if job.is_steady else _rate(access, matching)
        result.hints[access] = matching[-1]["hintsBeforeClose"]
        if "firstCall" in matching[-1]:
            result.calls[access] = (matching[-1]["firstCall"], matching[-1]["medianLaterCall"])
        if "request" in matching[-1]:
            result.requests[access] = max(matching, key=lambda row: row["bwMiB"])["request"]
        samples = [one for one in test.get("samples", []) if one["access"] == access]
        if samples:
            result.computing[access] = median(one["computing"] for one in samples)
    return result


def _is_checked(test: Mapping[str, Any]) -> bool:
    """As a kernel says, or by IOR's parameters, of which either check reads all data."""
    parameters = test.get("Parameters", {})
    checks = [parameters[name] for name in ("checkWrite", "checkRead") if name in parameters]
    return test.get("checked", any(checks) or not checks)


def _rate(access: str, rows: Sequence[Mapping[str, float]]) -> float:
    if access in OPENINGS:
        return len(rows) / sum(row["openTime"] + row["closeTime"] for row in rows)
    return sum(row["bytes"] for row in rows) / sum(row["totalTime"] for row in rows) / 2**20
